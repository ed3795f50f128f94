"""The chains' time: the machine's, unless an embedded devnet's clock was moved.

All embedded chains are moved together and only forward, because a block cannot be older than the previous one. While
the demo's year is created they are behind the machine. The offset is stored with the chains, so that it survives a
restart. Decisions that a contract makes by block time use this
clock in Python too; sessions, tokens and everything else without a chain use the machine's clock.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backend.chain.rpc.json_rpc import Rpc
from backend.core.runtime import runtime
from backend.core.settings import settings


@dataclass
class Clock:
    """The clock that this process has read."""

    offset: int | None = None
    """Seconds ahead of the machine, negative behind it; None before the first use."""


def offset() -> int:
    """Return by how many seconds the embedded chains are ahead of the machine; 0 on public chains."""
    if not settings().embedded_chains:
        return 0
    clock = runtime.part(Clock)
    if clock.offset is None:
        try:
            clock.offset = int(_file().read_text())
        except (OSError, ValueError):
            clock.offset = 0
    return clock.offset


def moment() -> int:
    """Return the chains' time, Unix seconds."""
    return int(time.time()) + offset()


def chain_now() -> datetime:
    """Return the chains' time in UTC, to the microsecond of the machine's."""
    return datetime.now(UTC) + timedelta(seconds=offset())


def advance(seconds: int) -> None:
    """Move the clock forward; `set_time` sets each chain."""
    set_offset(offset() + seconds)


def set_offset(seconds: int) -> None:
    """Set by how many seconds the chains are ahead; the caller sees to it that no block becomes older than another."""
    part = _file().with_suffix(".part")
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(str(seconds))
    part.replace(_file())
    runtime.part(Clock).offset = seconds


async def set_time(rpc: Rpc) -> None:
    """Set an embedded chain to the clock's time, from its next block."""
    await rpc.request("evm_setTime", hex(moment()))


def _file() -> Path:
    return settings().home / "chains" / "clock"
