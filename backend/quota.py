"""Quotas: how much of something each name may hold at once, and all names together."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Quota:
    """Counts what is held. A unit may count under several names (a principal and an address), and once in all."""

    each: int
    in_all: int
    held: int = 0
    names: Counter[str] = field(default_factory=Counter)

    def is_full(self, count: int = 1) -> bool:
        """Whether `count` more exceed what all names may hold together."""
        return self.held + count > self.in_all

    def take(self, *names: str, count: int = 1) -> bool:
        """Count `count` more under every name. Return False, and count nothing, where a limit would be exceeded."""
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
