"""Threads for slow work.

Each kind of work has its own, so that the default threads of an event loop stay free for short work.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from backend.core.fair_places import Places, held
from backend.core.runtime import runtime

T = TypeVar("T")


class Work(StrEnum):
    """Kinds of slow work."""

    WALLET_KEYS = "wallet-keys"
    """Creation of wallet keys, and import of files: each file takes a processor for 2 seconds, and 256 MiB."""
    WALLET_KEY_READS = "wallet-key-reads"
    """First uses of wallet keys in a process: each is a query."""
    KEY_SERVICE = "key-service"
    """Calls of AWS KMS: each waits for at most 15 seconds."""
    LISTS = "lists"
    """Lists of recipients and their trees: each takes up to a minute."""
    AUDIT = "audit"
    """Hashing of audit logs, in parts."""
    FILES = "files"
    """Files of large request bodies."""
    REPORTS = "reports"
    """Drawing of PDF reports: a page takes some milliseconds."""


COUNT = {
    Work.WALLET_KEYS: 2,
    Work.WALLET_KEY_READS: 4,
    Work.KEY_SERVICE: 8,
    Work.LISTS: 2,
    Work.AUDIT: 2,
    Work.FILES: 4,
    Work.REPORTS: 2,
}
"""Threads of each kind of work in a process."""
WAIT = 60.0
"""Seconds to wait for a turn. The request then gets a 503."""


@dataclass
class Executors:
    """The threads of this process."""

    by_work: dict[Work, ThreadPoolExecutor] = field(default_factory=dict)


@dataclass
class Turns:
    """Places of kinds of work, per event loop."""

    by_work: dict[Work, Places] = field(default_factory=dict)


def executor(work: Work) -> ThreadPoolExecutor:
    """Return the threads of a kind of work."""
    executors = runtime.part(Executors).by_work
    if work not in executors:
        executors.setdefault(work, ThreadPoolExecutor(COUNT[work], work))
    return executors[work]


async def run(work: Work, function: Callable[..., T], *args: Any) -> T:
    """Return the result of a function that runs in one of the work's threads, in the context of the caller."""
    call = partial(copy_context().run, function, *args)
    return await asyncio.get_running_loop().run_in_executor(executor(work), call)


@asynccontextmanager
async def turn(work: Work) -> AsyncIterator[None]:
    """Hold one of as many places as the work has threads.

    Callers take turns (see `backend.core.fair_places`), and one holds at most half of the places. Hold no database
    connection while you wait.
    """
    async with held(runtime.loop_part(Turns).by_work.setdefault(work, Places(COUNT[work], WAIT))):
        yield
