"""The demo's past: it begins before the chains' first block, and ends when the clocks are the machine's again.

While it is created, the chains and the times of records are behind the machine by the same span, and the installation
is closed to everyone else. The span is stored with the chains: a start after a kill continues where the records are.
"""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

from backend.chain.coordination import scheduler
from backend.chain.devnet import clock
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect
from backend.core import recorded_time
from backend.core.settings import Settings

LENGTH = timedelta(days=345)
"""How long ago the first record of the demo is."""


def prepare(settings: Settings) -> None:
    """Decide before the chains start whether the demo begins in the past: with new chains, or where an earlier start
    has begun it."""
    if settings.can_have_history and settings.demo_history and _is_new(settings.home):
        clock.set_offset(-int(LENGTH.total_seconds()))
    elif clock.offset() < 0 and not settings.can_have_history:
        clock.set_offset(0)
    _follow_clock()


def _is_new(home: Path) -> bool:
    """Return whether the data folder has no chains yet."""
    return not (home / "demo.json").exists() and not any((home / "chains").glob("*.json"))


def _follow_clock() -> None:
    recorded_time.stand_behind(timedelta(seconds=max(0, -clock.offset())))


async def go_to(moment: datetime) -> None:
    """Move chains and records forward to a moment; nothing where it has passed, or the past has ended.

    Nothing may be running: what runs would wait for a year.
    """
    if clock.offset() >= 0 or (seconds := int((moment - clock.chain_now()).total_seconds())) <= 0:
        return
    clock.set_offset(min(0, clock.offset() + seconds))
    _follow_clock()
    await asyncio.gather(*(_set_time(eid) for eid in node_urls.EMBEDDED))


async def end() -> None:
    """Let the clocks be the machine's again, each chain with a block of the present."""
    if clock.offset() >= 0:
        return
    clock.set_offset(0)
    _follow_clock()
    await asyncio.gather(*(_set_time(eid) for eid in node_urls.EMBEDDED))
    await asyncio.gather(*(_mine(eid) for eid in node_urls.EMBEDDED))


async def _set_time(eid: int) -> None:
    await clock.set_time(await connect(eid))


async def _mine(eid: int) -> None:
    await (await connect(eid)).request("evm_mine")
    scheduler.wake(eid)
