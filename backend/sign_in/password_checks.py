"""Password checks: few at a time, in separate threads.

Each check takes 64 MiB of memory and a processor for about a tenth of a second, and unauthenticated callers can request
them.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from backend.auth.secrets import hash_password, verify_password
from backend.core.errors import TooManyRequests
from backend.core.runtime import runtime
from backend.limits import rate_limits
from backend.limits.client_address import group, network
from backend.limits.concurrency import Quota

CONCURRENT = 2
OF_NETWORK = 12
"""Checks, running and waiting, for unauthenticated callers of one IPv6 network (/48)."""
RETRY_SECONDS = 2


class Room(StrEnum):
    """Classes of callers. No class can use up the capacity of another."""

    STRANGERS = "strangers"
    DEVICES = "devices"
    """Browsers that have signed in to the account before."""
    PEOPLE = "people"
    """Signed-in people. They hold a database connection during the check, so few run at a time."""


EACH = {Room.STRANGERS: 4, Room.DEVICES: 4, Room.PEOPLE: 1}
"""Checks, running and waiting, for one name in each class: an address, a device, an account or a person."""
IN_ALL = {Room.STRANGERS: 40, Room.DEVICES: 40, Room.PEOPLE: 8}
"""Checks, running and waiting, in each class. With 40, the last one waits for about two seconds."""


@dataclass
class Checks:
    """The threads of this process's checks, and the checks running and waiting."""

    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(CONCURRENT, "passwords"))
    rooms: dict[Room, Quota] = field(default_factory=lambda: {room: Quota(EACH[room], IN_ALL[room]) for room in Room})
    networks: Quota = field(default_factory=lambda: Quota(OF_NETWORK, IN_ALL[Room.STRANGERS]))


async def check_of_stranger(password: str, stored: str | None, address: str) -> bool:
    """Return whether a password matches; without a stored hash it does not, after the same time.

    Raises TooManyRequests where too many checks are pending: of the address, of its IPv6 network, or of all
    unauthenticated callers.
    """
    wide, checks = network(address), runtime.part(Checks)
    async with (
        _counted(checks.rooms[Room.STRANGERS], group(address)),
        _counted(checks.networks, *([wide] if wide else [])),
    ):
        return await _fits(password, stored)


async def check_of_device(password: str, stored: str | None, device: str, account: str) -> bool:
    """Return the same for a browser that has signed in to the account before.

    It counts for the browser and the account.
    """
    async with _counted(runtime.part(Checks).rooms[Room.DEVICES], device, account):
        return await _fits(password, stored)


async def check_of_person(password: str, stored: str | None, person: str) -> bool:
    """Return whether this is the password of a signed-in person, as `check_of_stranger` does.

    Raises TooManyRequests also after too many passwords of the person within an hour. That limit counts only checks
    that are admitted: when other people fill the class, the person's share is not used up.
    """
    async with _counted(runtime.part(Checks).rooms[Room.PEOPLE], person):
        await rate_limits.hit(rate_limits.PASSWORDS_PER_PERSON, "passwords", person)
        return await _fits(password, stored)


async def hashed(password: str, person: str) -> str:
    """Return the hash of a person's new password. Raises TooManyRequests where too many checks are pending."""
    async with _counted(runtime.part(Checks).rooms[Room.PEOPLE], person):
        return await asyncio.get_running_loop().run_in_executor(runtime.part(Checks).threads, hash_password, password)


async def _fits(password: str, stored: str | None) -> bool:
    threads = runtime.part(Checks).threads
    return await asyncio.get_running_loop().run_in_executor(threads, verify_password, password, stored)


@asynccontextmanager
async def _counted(quota: Quota, *names: str) -> AsyncIterator[None]:
    if not quota.take(*names):
        raise TooManyRequests(RETRY_SECONDS)
    try:
        yield
    finally:
        quota.give_back(*names)
