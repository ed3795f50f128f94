"""Fair sharing of a queue's slots: which partitions start runs in a poll, and how many each.

A partition is named by its shares, outermost first, and its receiver. A share is what a limit counts together, such as
a root organization, or the person who made a receiver. What starts is decided before a slot is held: a run that
finds no slot stays in the queue and costs nothing.
"""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from backend.core.runtime import runtime

EACH = 5
"""Concurrent runs of one partition in a process."""
EACH_SLOW = 1
"""The same for a receiver whose last run was slow."""
SHARES = 4
"""A share holds at most one slot of this many, rounded down."""
SLOW_KEPT = 10_000
"""Slow receivers that a process remembers. It then forgets all, and they have to be slow again."""
Shares = tuple[str, ...]


@dataclass
class SlowReceivers:
    """Receivers whose last run in this process was slow."""

    names: set[str] = field(default_factory=set)

    def note(self, receiver: object, is_slow: bool) -> None:
        """Remember whether a receiver's last run was slow."""
        if not is_slow:
            self.names.discard(str(receiver))
            return
        if len(self.names) >= SLOW_KEPT:
            self.names.clear()
        self.names.add(str(receiver))


def name_of(receiver: object, *shares: object) -> str:
    """Return the name of a receiver's partition; shares that are None do not count."""
    return "/".join([*(str(share) for share in shares if share), str(receiver)])


def choose(waiting: Sequence[str], running: Mapping[str, int], slots: int) -> dict[str, int]:
    """Return the partitions that start runs, with the most that each may start.

    `waiting` are the partitions with work, `running` the runs of each partition in this process. A free slot goes to
    the shares that hold the fewest, and there to the receiver with the fewest.
    """
    choice = _Choice(running, slots)
    groups = _groups(waiting, running)
    while choice.free > 0 and groups:
        shares = min(groups, key=choice.level)
        if not choice.has_room(shares):
            break
        choice.take(shares, groups[shares])
        if not groups[shares]:
            del groups[shares]
    return choice.chosen


def _split(name: str) -> tuple[Shares, str]:
    *shares, receiver = name.split("/")
    return tuple(shares), receiver


def _limit(name: str, slow: Collection[str]) -> int:
    return EACH_SLOW if _split(name)[1] in slow else EACH


def _groups(waiting: Sequence[str], running: Mapping[str, int]) -> dict[Shares, list[tuple[int, str]]]:
    """Return heaps of partitions below their limit by their shares, the fewest runs first, equals in random order."""
    slow, groups = runtime.part(SlowReceivers).names, dict[Shares, list[tuple[int, str]]]()
    for name in random.sample(waiting, len(waiting)):
        held = running.get(name, 0)
        if held < _limit(name, slow):
            groups.setdefault(_split(name)[0], []).append((held, name))
    for heap in groups.values():
        heapify(heap)
    return groups


class _Choice:
    """The chosen partitions so far."""

    def __init__(self, running: Mapping[str, int], slots: int) -> None:
        self.chosen: dict[str, int] = {}
        self.free = slots - sum(running.values())
        self._most = max(1, slots // SHARES)
        self._held = Counter[str]()
        for name, count in running.items():
            self._count(_split(name)[0], count)

    def level(self, shares: Shares) -> list[int]:
        """Return what a group's shares hold, the largest first."""
        return sorted((self._held[share] for share in shares), reverse=True)

    def has_room(self, shares: Shares) -> bool:
        """Return whether each share may hold one more."""
        return all(self._held[share] < self._most for share in shares)

    def take(self, shares: Shares, heap: list[tuple[int, str]]) -> None:
        """Give a slot to the partition of a group that has the fewest runs."""
        held, name = heappop(heap)
        self.chosen[name] = self.chosen.get(name, 0) + 1
        self.free -= 1
        self._count(shares, 1)
        if held + 1 < _limit(name, runtime.part(SlowReceivers).names):
            heappush(heap, (held + 1, name))

    def _count(self, shares: Shares, count: int) -> None:
        for share in shares:
            self._held[share] += count
