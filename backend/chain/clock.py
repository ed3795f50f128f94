"""What time it is on the chains: ours, unless an embedded devnet's was moved.

All embedded chains are moved together and only forward, because a block cannot be older than the one before. How far is
kept beside the chains, so that a restart finds it. Decisions that a contract makes by its block's time are made by this
clock in Python too; sessions, tokens and everything else that no chain knows of go by the machine's.
"""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backend.chain.rpc import Rpc
from backend.settings import settings


class _Moved:
    seconds: int | None = None


def offset() -> int:
    """Seconds by which the embedded chains are ahead of the machine; 0 on public chains."""
    if not settings().embedded_chains:
        return 0
    if _Moved.seconds is None:
        try:
            _Moved.seconds = int(_file().read_text())
        except (OSError, ValueError):
            _Moved.seconds = 0
    return _Moved.seconds


def moment() -> int:
    """The chains' time, Unix seconds."""
    return int(time.time()) + offset()


def chain_now() -> datetime:
    """The chains' time in UTC, to the microsecond of the machine's."""
    return datetime.now(UTC) + timedelta(seconds=offset())


def advance(seconds: int) -> None:
    """Move the clock forward; `set_time` tells each chain."""
    moved = offset() + seconds
    _file().parent.mkdir(parents=True, exist_ok=True)
    _file().write_text(str(moved))
    _Moved.seconds = moved


async def set_time(rpc: Rpc) -> None:
    """Let an embedded chain go on at the clock's time, from its next block."""
    await rpc.request("evm_setTime", hex(moment()))


def _file() -> Path:
    return settings().home / "chains" / "clock"
