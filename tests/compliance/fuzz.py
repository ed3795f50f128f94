"""`make fuzz`: compare Python's decisions with those of the deployed contracts, on 100,000 cases by default.

A scene is one state of the chain: rules, attestations, balances, frozen amounts, escrow, time. Hypothesis draws the
scene and its questions (`fuzz_strategies.py`): every sender with every receiver, and every trader at every market, each
with every amount. `backend.compliance.rules` decides them on the facts that the API reads, and the contracts decide
them with `checkTransfer` and `checkOrder`. Every code must be the same. A difference is reduced to its smallest scene.
"""

import argparse
import asyncio
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase

from backend.assets import transfer_check
from backend.chain.abi.codec import contract as artifact
from backend.chain.abi.restrictions import RESTRICTIONS
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import market as contract
from backend.chain.bindings import token
from backend.chain.rpc.json_rpc import Rpc, close
from backend.compliance.rules import Account, TokenState, evaluate, evaluate_order, failures
from tests.compliance.fuzz_chain import Ground, anvil, open_markets, prepare
from tests.compliance.fuzz_strategies import PLANS, Amount, Plan

ZERO = "0x" + "0" * 40
BATCH = 250
EXAMPLES = 200
"""Scenes of one search of Hypothesis; another search follows until there are enough cases."""
CHECK_TRANSFER = artifact("RWAToken").data("checkTransfer", ZERO, ZERO, 0)[:10]
CHECK_ORDER = artifact("Market").data("checkOrder", ZERO, False, 0)[:10]


@dataclass(frozen=True)
class Case:
    """A question: a transfer, or an order if there is a market. `codes` is Python's decision."""

    to: str
    data: str
    codes: list[int]
    words: str


@dataclass
class Tally:
    """The cases so far."""

    cases: int = 0
    scenes: int = 0
    allowed: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    has_differed: bool = False
    """From then on scenes only serve to shrink the difference, and are not counted."""

    def count(self, codes: Sequence[int]) -> None:
        """One more case, as the contracts decide it."""
        if not self.has_differed:
            self.cases += 1
            self.allowed += not codes
            self.codes.update(codes)


@dataclass(frozen=True)
class Scene:
    """One state of the chain, as the API reads it."""

    rules: TokenRules
    accounts: dict[str, Account]
    state: TokenState
    halted: dict[str, bool]
    now: int


async def look(ground: Ground) -> Scene:
    """Read what the API reads before it decides."""
    facts = await transfer_check.facts_of(ground.place, *ground.addresses)
    infos = await asyncio.gather(*(contract.info(ground.rpc.eid, m) for m in ground.markets))
    halted = {at: info.halted for at, info in zip(ground.markets, infos, strict=True)}
    return Scene(facts.rules, {a.address: a for a in facts.accounts}, facts.state, halted, await ground.now())


def questions(ground: Ground, scene: Scene, plan: Plan) -> Iterator[Case]:
    """Return every transfer and every order of a plan, with Python's decision."""
    for giver, taker in product(_named(ground, plan.givers), _named(ground, plan.takers)):
        for amount in plan.amounts:
            yield _transfer(ground, scene, giver, taker, amount)
    if ground.markets:
        venues = dict.fromkeys(ground.venue(number) for number in plan.venues)
        for trader, venue in product(_named(ground, plan.traders), venues):
            for is_buy, amount in product((False, True), plan.amounts):
                yield _order(ground, scene, scene.accounts[trader], venue, is_buy, amount)


def _named(ground: Ground, numbers: list[int]) -> list[str]:
    return list(dict.fromkeys(ground.account(number) for number in numbers))


def _transfer(ground: Ground, scene: Scene, giver: str, taker: str, edge: Amount) -> Case:
    """A transfer, or a mint from the zero address."""
    receiver, sender = scene.accounts[taker], None if giver == ZERO else scene.accounts[giver]
    amount = edge.of(sender, receiver, scene.rules.max_tokens_per_holder)
    verdicts = evaluate(scene.rules, sender, receiver, amount, scene.now, scene.state)
    data = f"{CHECK_TRANSFER}{_word(giver)}{_word(taker)}{amount:064x}"
    words = f"{giver} sends {amount} ({edge.edge}, {edge.beside:+}) to {taker}; {sender}; {receiver}"
    return Case(ground.place.token, data, [v.code for v in failures(verdicts)], words)


def _order(ground: Ground, scene: Scene, trader: Account, venue: str, is_buy: bool, edge: Amount) -> Case:
    market = ground.markets[venue]
    most = market.max_tokens_per_holder or scene.rules.max_tokens_per_holder
    amount = edge.of(trader, trader, most)
    verdicts = evaluate_order(scene.rules, market, trader, is_buy, amount, scene.now, scene.state, scene.halted[venue])
    data = f"{CHECK_ORDER}{_word(trader.address)}{is_buy:064x}{amount:064x}"
    words = f"{trader.address} {'buys' if is_buy else 'sells'} {amount} ({edge.edge}) at {venue}; {trader}; {market}"
    return Case(venue, data, [v.code for v in failures(verdicts)], words)


def _word(account: str) -> str:
    return account[2:].lower().rjust(64, "0")


async def ask(ground: Ground, scene: Scene, cases: list[Case], tally: Tally) -> None:
    """Let the contracts decide the cases, and count. Raise AssertionError with the first difference."""
    for first in range(0, len(cases), BATCH):
        part = cases[first : first + BATCH]
        response = await ground.rpc.batch([("eth_call", [{"to": c.to, "data": c.data}, "latest"]) for c in part])
        for case, answer in zip(part, response, strict=True):
            codes = _codes(answer)
            tally.count(codes)
            assert codes == case.codes, (
                f"chain {codes}, we {case.codes}: {case.words}; at {scene.now}, {scene.rules}, {scene.state}"
            )


def _codes(answer: str) -> list[int]:
    """Decode a `uint8[]`: offset, length, words."""
    words = [int(answer[n : n + 64], 16) for n in range(2, len(answer), 64)]
    return words[2 : 2 + words[1]]


class Run:
    """A separate node with the ground on it, which every scene finds in its initial state."""

    def __init__(self, rpc: Rpc, runner: asyncio.Runner) -> None:
        self._rpc, self._runner, self.tally = rpc, runner, Tally()
        self._ground: Ground
        self._before: str

    def prepare(self, *, is_open: bool) -> None:
        """The ground before it has rules and markets, or after."""
        self._runner.run(self._prepare(is_open))

    async def _prepare(self, is_open: bool) -> None:
        if is_open:
            await open_markets(self._ground)
        else:
            self._ground = await prepare(self._rpc)
        self._before = await self._rpc.request("evm_snapshot")

    def search(self, cases: int, seed: int) -> None:
        """Play scenes until there are enough cases. Raise AssertionError with the smallest difference found."""
        while self.tally.cases < cases:
            self._search(cases, seed)
            seed += 1

    def _search(self, cases: int, seed: int) -> None:
        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            print_blob=False, phases=[Phase.generate, Phase.shrink],
        )  # fmt: skip
        @hypothesis.given(PLANS)
        def agrees(plan: Plan) -> None:
            if self.tally.cases < cases or self.tally.has_differed:
                self._runner.run(self._scene(plan, cases))

        agrees()

    async def _scene(self, plan: Plan, until: int) -> None:
        """Play a plan on the initial ground, and ask its questions."""
        ground = replace(self._ground, uids=list(self._ground.uids))
        await ground.rpc.request("evm_revert", self._before)
        self._before = await ground.rpc.request("evm_snapshot")
        now = await ground.now()
        rules = plan.rules
        if rules.lockup_end_time:
            rules = replace(rules, lockup_end_time=now + rules.lockup_end_time)
        if ground.markets:
            await ground.send(ground.owner, token.set_rules(ground.place.token, rules))
        for what, *arguments in plan.happenings:
            await what(ground, *arguments)
        await ground.travel(now + plan.later)
        scene = await look(ground)
        cases = list(questions(ground, scene, plan))
        left = len(cases) if self.tally.has_differed else until - self.tally.cases
        try:
            await ask(ground, scene, cases[:left], self.tally)
        except AssertionError:
            self.tally.has_differed = True
            raise
        self.tally.scenes += 1


def run(cases: int, seed: int, home: Path) -> tuple[Tally, str | None]:
    """Play scenes until there are enough cases, or a difference; return its smallest form."""
    with asyncio.Runner() as runner, anvil(home) as rpc:
        found = Run(rpc, runner)
        try:
            found.prepare(is_open=False)
            found.search(min(100, cases // 16), seed)  # the token has no rules yet
            found.prepare(is_open=True)
            found.search(cases, seed)
        except AssertionError as difference:
            return found.tally, str(difference)
        finally:
            runner.run(close())
        return found.tally, None


def main() -> int:
    """Run, print the count, and return the exit code: 1 if there was a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.compliance.fuzz", description=__doc__)
    parser.add_argument("cases", nargs="?", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32), help="repeats a run")
    chosen = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="signum-fuzz-") as folder:
        tally, difference = run(chosen.cases, chosen.seed, Path(folder))
    missing = sorted(set(RESTRICTIONS) - {0} - set(tally.codes))
    print(  # noqa: T201
        f"{tally.cases} cases in {tally.scenes} scenes, {tally.allowed} allowed, {len(tally.codes)} of "
        f"{len(RESTRICTIONS) - 1} codes met{f' (not {missing})' if missing else ''}: "
        f"{'a difference' if difference else '0 differences'}; seed {chosen.seed}, {time.monotonic() - began:.0f} s"
    )
    if difference is not None:
        print(f"The smallest of it: {difference}")  # noqa: T201
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
