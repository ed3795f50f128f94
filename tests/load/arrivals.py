"""Calls that arrive at a given rate, whether earlier ones were answered or not, and what their clients saw."""

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import httpx


@dataclass(frozen=True)
class Sample:
    """One call: its kind, the second of its arrival by `time.monotonic`, and the seconds until its response."""

    kind: str
    at: float
    seconds: float
    status: str
    """The status code, or the name of the fault of the connection."""
    has_retry_after: bool
    late: float = 0.0
    """Seconds after its time that its client sent it: more than a few tenths mean that the clients cannot keep up."""

    @property
    def succeeded(self) -> bool:
        """Whether the response is a success."""
        return self.status.startswith("2")


Call = Callable[[Random], Awaitable[tuple[str, httpx.Response]]]
"""Makes one call of the mix; returns its kind and response."""


async def sampled(call: Call, dice: Random, due: float | None = None) -> Sample:
    """Make a call, due now or at a moment of `time.monotonic`, and note what its client saw."""
    began = time.monotonic()
    late = 0.0 if due is None else began - due
    try:
        kind, response = await call(dice)
    except httpx.TransportError as error:
        kind, status, has_retry_after = "connection", type(error).__name__, False
    else:
        status, has_retry_after = str(response.status_code), "retry-after" in response.headers
    return Sample(kind, began, time.monotonic() - began, status, has_retry_after, late)


async def back_to_back(call: Call, clients: int, seconds: float, seed: int) -> list[Sample]:
    """Let some clients make one call after another for a time."""
    ends = time.monotonic() + seconds

    async def client(number: int) -> list[Sample]:
        dice, seen = Random(f"{seed}:{number}"), []
        while time.monotonic() < ends:
            seen.append(await sampled(call, dice))
        return seen

    return [one for many in await asyncio.gather(*map(client, range(clients))) for one in many]


async def at_rate(call: Call, rate: float, seconds: float, seed: int) -> list[Sample]:
    """Let calls arrive at random moments, on average so many a second, and wait for all responses."""
    dice, began, at, tasks = Random(seed), time.monotonic(), 0.0, []
    while (at := at + dice.expovariate(rate)) < seconds:
        await asyncio.sleep(max(0.0, began + at - time.monotonic()))
        tasks.append(asyncio.create_task(sampled(call, dice, began + at)))
    return list(await asyncio.gather(*tasks))


def statuses(samples: Iterable[Sample]) -> str:
    """Return how many calls had each status."""
    seen = Counter(one.status for one in samples)
    return ", ".join(f"{number} {status}" for status, number in sorted(seen.items()))


def latencies(samples: Sequence[Sample]) -> str:
    """Return the median and the 99th percentile of the successful calls."""
    took = [one.seconds * 1000 for one in samples if one.succeeded]
    if len(took) < 2:
        return "too few successful calls"
    return f"median {statistics.median(took):.0f} ms, p99 {percentile(took, 99):.0f} ms, longest {max(took):.0f} ms"


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile of at least two values."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def medians(samples: Iterable[Sample], end: float, seconds: float, count: int) -> list[int]:
    """Return the median time of the calls of each of some periods after a moment, in milliseconds."""
    found: list[list[float]] = [[] for _ in range(count)]
    for one in samples:
        if 0 <= (place := int((one.at - end) // seconds)) < count:
            found[place].append(one.seconds * 1000)
    return [round(statistics.median(took)) if took else 0 for took in found]


def usual(samples: Sequence[Sample]) -> dict[str, float]:
    """Return the 99th percentile of each kind of call in seconds."""
    found: dict[str, list[float]] = {}
    for one in samples:
        found.setdefault(one.kind, []).append(one.seconds)
    return {kind: percentile(took, 99) if len(took) > 1 else took[0] for kind, took in found.items()}


def recovered_after(samples: Iterable[Sample], end: float, longest: Mapping[str, float]) -> float | None:
    """Return the seconds from the end of an overload to the first moment from which every call succeeds and 99 of 100
    calls within the longest time of their kind; None without such a moment."""
    late = sorted((one for one in samples if one.at >= end), key=lambda one: one.at)
    failed = [place for place, one in enumerate(late) if not one.succeeded]
    slow = [place for place, one in enumerate(late) if one.seconds > longest.get(one.kind, 0.0)]
    for place in (-1, *sorted({*failed, *slow})):
        after = len(late) - place - 1
        is_good = not any(one > place for one in failed) and sum(one > place for one in slow) * 100 <= after
        if after and is_good:
            return 0.0 if place < 0 else late[place].at - end
    return None
