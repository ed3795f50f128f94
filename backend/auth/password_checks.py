"""Checking passwords: few at a time, in threads of their own. Each check takes 64 MiB of memory and a processor for
about a tenth of a second, and strangers can ask for them."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from enum import StrEnum

from backend.auth.secrets import hash_password, verify_password
from backend.errors import TooManyRequests
from backend.quota import Quota

AT_ONCE = 2
EACH = 4
"""Checks under way and waiting for one name: an address, a device, an account or a person."""
RETRY_SECONDS = 2


class Room(StrEnum):
    """Who asks. Nobody can use up the room of the others."""

    STRANGERS = "strangers"
    DEVICES = "devices"
    """Browsers that have signed in to the account before."""
    PEOPLE = "people"
    """People who are signed in. They hold a connection to the database meanwhile, so there are few at once."""


IN_ALL = {Room.STRANGERS: 40, Room.DEVICES: 40, Room.PEOPLE: 8}
"""Checks under way and waiting in each room. With 40, the last one waits for about two seconds."""

_threads = ThreadPoolExecutor(AT_ONCE, "passwords")
_rooms = {room: Quota(EACH, count) for room, count in IN_ALL.items()}


async def check(password: str, stored: str | None, room: Room, *names: str) -> bool:
    """Return whether a password fits; without a stored hash it does not, after the same time. The check counts for each
    of the names. Raises TooManyRequests where too many are under way."""
    async with _counted(room, *names):
        return await asyncio.get_running_loop().run_in_executor(_threads, verify_password, password, stored)


async def hashed(password: str, person: str) -> str:
    """Return the hash of a person's new password. Raises TooManyRequests where too many are under way."""
    async with _counted(Room.PEOPLE, person):
        return await asyncio.get_running_loop().run_in_executor(_threads, hash_password, password)


@asynccontextmanager
async def _counted(room: Room, *names: str) -> AsyncIterator[None]:
    if not _rooms[room].take(*names):
        raise TooManyRequests(RETRY_SECONDS)
    try:
        yield
    finally:
        _rooms[room].give_back(*names)
