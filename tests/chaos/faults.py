"""Faults of an installation's parts, chosen by a seed."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import psutil

from tests.chaos.installation import Installation

WINDOW = 8.0
"""Seconds in which the faults of a run begin."""
SHORT_WINDOW = 3.0
FAULTS = (1, 4)
"""The least and the most faults of a run."""
SLICE = (0.02, 0.08)
"""Seconds for which a slowed part runs, and then waits."""


@dataclass(frozen=True)
class Fault:
    """A fault of a part, from a moment on, for some seconds."""

    at: float
    kind: str
    part: str
    seconds: float

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.at:.1f} s: {self.kind} {self.part}{lasting}"


def chosen(seed: int, parts: Sequence[str], *, fills: bool, is_short: bool = False) -> list[Fault]:
    """Return the faults of a run, in order. The same seed and parts give the same faults. Those of a short run begin
    early, and no stop lasts longer than five seconds."""
    dice, found = Random(f"{seed}:faults"), []
    for _ in range(dice.randint(*FAULTS)):
        kind = dice.choice(
            ["kill", "kill", "kill", "stop", "slow", "fill"] if fills else ["kill", "kill", "stop", "slow"]
        )
        part = "disk" if kind == "fill" else dice.choice(list(parts))
        seconds = {
            "kill": 0.0,
            "stop": dice.choice([1.0, 5.0] if is_short else [1.0, 5.0, 28.0]),
            "slow": 6.0,
            "fill": 3.0,
        }[kind]
        found.append(Fault(dice.uniform(0.2, SHORT_WINDOW if is_short else WINDOW), kind, part, seconds))
    return sorted(found, key=lambda fault: fault.at)


async def happen(installation: Installation, faults: Sequence[Fault]) -> None:
    """Let the faults happen, and end."""
    await asyncio.gather(*(_happen(installation, fault) for fault in faults))


async def _happen(installation: Installation, fault: Fault) -> None:
    await asyncio.sleep(fault.at)
    await _KINDS[fault.kind](installation, fault)


async def _kill(installation: Installation, fault: Fault) -> None:
    for process in installation.processes_of(fault.part)[:1]:
        _signal(process, signal.SIGKILL)


async def _stop(installation: Installation, fault: Fault) -> None:
    processes = installation.processes_of(fault.part)
    for process in processes:
        _signal(process, signal.SIGSTOP)
    await asyncio.sleep(fault.seconds)
    for process in reversed(processes):
        _signal(process, signal.SIGCONT)


async def _slow(installation: Installation, fault: Fault) -> None:
    ends = asyncio.get_running_loop().time() + fault.seconds
    processes = installation.processes_of(fault.part)
    while asyncio.get_running_loop().time() < ends:
        for process in processes:
            _signal(process, signal.SIGSTOP)
        await asyncio.sleep(SLICE[1])
        for process in processes:
            _signal(process, signal.SIGCONT)
        await asyncio.sleep(SLICE[0])


async def _fill(installation: Installation, fault: Fault) -> None:
    path = installation.home / "filler"
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 2**20)
    await asyncio.sleep(fault.seconds)
    path.unlink(missing_ok=True)


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with suppress(psutil.Error, ProcessLookupError):
        if process.is_running():
            os.kill(process.pid, number)


_KINDS: dict[str, Callable[[Installation, Fault], Awaitable[None]]] = {
    "kill": _kill,
    "stop": _stop,
    "slow": _slow,
    "fill": _fill,
}
