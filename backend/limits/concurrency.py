"""Quotas: how much each name may hold at a time, and all names together; and shares of people, roots and addresses."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Quota:
    """Counts held units. A unit may count under several names (a principal and an address), and once in the total."""

    each: int
    in_all: int
    held: int = 0
    names: Counter[str] = field(default_factory=Counter)

    def is_full(self, count: int = 1) -> bool:
        """Return whether `count` more would exceed the total of all names."""
        return self.held + count > self.in_all

    def take(self, *names: str, count: int = 1) -> bool:
        """Count `count` more under every name. Returns False, and counts nothing, where a limit would be exceeded."""
        if self.is_full(count) or any(self.names[name] + count > self.each for name in names):
            self._forget(*names)
            return False
        self.held += count
        for name in names:
            self.names[name] += count
        return True

    def give_back(self, *names: str, count: int = 1) -> None:
        """Count `count` less under every name."""
        self.held -= count
        for name in names:
            self.names[name] -= count
        self._forget(*names)

    def _forget(self, *names: str) -> None:
        for name in names:
            if self.names[name] <= 0:
                del self.names[name]


@dataclass(frozen=True)
class Holder:
    """Names of a caller: its own, and those of its root organizations."""

    names: tuple[str, ...]
    roots: tuple[str, ...] = ()


class Shares:
    """Shares of one resource: by each name of a caller, by each of its roots, and in total.

    The last `kept` of the total are only for callers whose roots hold at most `few` each, with what they take.
    """

    def __init__(self, each: int, each_root: int, in_all: int, kept: int = 0, few: int = 0) -> None:
        self.narrow, self.wide = Quota(each, in_all), Quota(each_root, in_all)
        self.kept, self.few = kept, few

    def take(self, holder: Holder, count: int = 1) -> bool:
        """Count `count` more. Return False, and count nothing, where a limit would be exceeded."""
        if self.is_full(holder, count) or not self.narrow.take(*holder.names, count=count):
            return False
        if not self.wide.take(*holder.roots, count=count):
            self.narrow.give_back(*holder.names, count=count)
            return False
        return True

    def is_full(self, holder: Holder, count: int = 1) -> bool:
        """Return whether `count` more for a caller would exceed the total, without what is kept from it."""
        if self.narrow.is_full(count):
            return True
        most = max((self.wide.names[name] for name in holder.roots), default=self.few)
        return self.kept > 0 and most + count > self.few and self.narrow.is_full(count + self.kept)

    def has_room(self, holder: Holder, count: int) -> bool:
        """Return whether `take` would count `count` more now."""
        has_room = self.take(holder, count)
        if has_room:
            self.give_back(holder, count)
        return has_room

    def give_back(self, holder: Holder, count: int = 1) -> None:
        """Count `count` less."""
        self.narrow.give_back(*holder.names, count=count)
        self.wide.give_back(*holder.roots, count=count)
