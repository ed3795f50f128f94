"""Checking passwords: few at a time, in threads of their own. Each check takes 64 MiB of memory and a processor for
about a tenth of a second, and strangers can ask for them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from backend.auth.secrets import hash_password, verify_password
from backend.errors import TooManyRequests
from backend.quota import Quota

AT_ONCE = 2
EACH = 4
"""Checks under way and waiting for one name: an address, a device, or a person."""
IN_ALL = 40
"""The same for all names: the last one waits for about two seconds."""
RETRY_SECONDS = 2

_threads = ThreadPoolExecutor(AT_ONCE, "passwords")
_strangers, _known = Quota(EACH, IN_ALL), Quota(EACH, IN_ALL)
"""What is under way. Strangers cannot use up the room of known devices and of people who are signed in."""


async def check(password: str, stored: str | None, name: str, *, is_known: bool) -> bool:
    """Return whether a password fits; without a stored hash it does not, after the same time. `name` is whom the check
    counts for. Raises TooManyRequests where too many are under way."""
    quota = _known if is_known else _strangers
    if not quota.take(name):
        raise TooManyRequests(RETRY_SECONDS)
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, verify_password, password, stored)
    finally:
        quota.give_back(name)


async def hashed(password: str) -> str:
    """Return the hash of a new password."""
    return await asyncio.get_running_loop().run_in_executor(_threads, hash_password, password)
