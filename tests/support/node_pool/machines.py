"""One machine of a node pool: its height, and its branch."""

from random import Random

from tests.support.node_pool.anvil import Anvil
from tests.support.node_pool.branches import Branch
from tests.support.node_pool.options import PoolOptions
from tests.support.node_pool.views import View

REDRAWN = 4
"""How often a machine's distance from the chain changes: with one request in this many."""


class Machine:
    """Advances with each request, up to the chain's head. `height` is its newest block; `old` is the branch that it
    still follows after a reorg."""

    def __init__(self, number: int, options: PoolOptions, node: Anvil, stuck_at: int | None = None) -> None:
        self.number = number
        self.height = 0
        self.old: Branch | None = None
        self._options, self._node, self._stuck_at = options, node, stuck_at
        self._dice = Random(f"{options.seed}:{number}")
        self._lag = options.lags[number] if options.lags is not None and stuck_at is None else self._draw()
        self._switches_in = 0

    def _draw(self) -> int:
        return self._dice.randint(0, self._options.most_behind)

    def advance(self, head: int) -> View:
        """Advance with one request; the chain is at `head`. Return the machine's view then."""
        if self._switches_in <= 0:
            self.old = None
        self._switches_in -= 1
        self.height = self._reach(head)
        is_syncing = self._stuck_at is not None
        return View(self.height, self.old, is_syncing, self._options, self._node, self._dice)

    def _reach(self, head: int) -> int:
        if self._stuck_at is not None:
            return min(self._stuck_at, head)
        reach = head if self.old is None else self.old.tip
        if self._options.lags is not None:
            return max(0, reach - self._lag)
        if self._dice.randrange(REDRAWN) == 0:
            self._lag = self._draw()
        return min(reach, max(self.height, reach - self._lag))

    def reorganized(self, branch: Branch) -> None:
        """A branch was replaced: this machine notices after a number of requests."""
        self.old = self.old or branch
        self._switches_in = self._dice.randint(0, self._options.switches_within)
