"""`make fuzz`: our decisions against those of the deployed contracts, on 100,000 cases by default.

A scene is one state of the chain: rules, attestations, balances, frozen amounts, escrow, time. In each one hundreds of
transfers and orders are judged by `backend.compliance.rules`, on the facts that the API reads, and by the contracts'
`checkTransfer` and `checkOrder`; every code has to be the same.
"""

import argparse
import asyncio
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend.assets import checking
from backend.chain import market as contract
from backend.chain import token
from backend.chain.codec import contract as artifact
from backend.chain.restrictions import RESTRICTIONS
from backend.chain.rpc import close
from backend.chain.rule_sets import TokenRules
from backend.compliance.rules import Account, TokenState, evaluate, evaluate_order, failures
from backend.fields import MAX_UINT256
from tests.compliance.ground import UNIT, Ground, address, anvil, open_markets, prepare
from tests.compliance.happenings import change

ZERO = "0x" + "0" * 40
BATCH = 250
PER_SCENE = 400
CHECK_TRANSFER = artifact("RWAToken").data("checkTransfer", ZERO, ZERO, 0)[:10]
CHECK_ORDER = artifact("Market").data("checkOrder", ZERO, False, 0)[:10]


@dataclass(frozen=True)
class Case:
    """A question: a transfer, or an order where there is a market. `codes` is our answer."""

    to: str
    data: str
    codes: list[int]
    words: str


@dataclass
class Tally:
    """What was asked so far."""

    cases: int = 0
    scenes: int = 0
    allowed: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


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
    rules = await token.rules(ground.rpc.eid, ground.place.token)
    accounts = await asyncio.gather(*(checking.account(ground.place, rules, a) for a in ground.everybody))
    infos = await asyncio.gather(*(contract.info(ground.rpc.eid, m) for m in ground.markets))
    halted = {at: info.halted for at, info in zip(ground.markets, infos, strict=True)}
    state = await checking.token_state(ground.place)
    return Scene(rules, {a.address: a for a in accounts}, state, halted, await ground.now())


def some_amount(rng: random.Random, scene: Scene, *parties: Account) -> int:
    """An amount, mostly at the edge of something."""
    edges = [0, 1, MAX_UINT256, rng.randint(1, 100) * UNIT]
    most = scene.rules.max_tokens_per_holder
    for party in parties:
        edges += [party.balance, party.holding, party.balance - party.frozen, most - party.holding, party.frozen]
    return min(max(rng.choice(edges) + rng.choice([0, 0, 0, -1, 1]), 0), MAX_UINT256)


def some_transfer(ground: Ground, rng: random.Random, scene: Scene) -> Case:
    """A transfer or a mint, and our word on it."""
    source, target = _likely(ground, rng, scene) if rng.random() < 0.5 else rng.choices(ground.everybody, k=2)
    receiver, sender = scene.accounts[target], None if source == ZERO else scene.accounts[source]
    amount = some_amount(rng, scene, *([sender] if sender else []), receiver)
    verdicts = evaluate(scene.rules, sender, receiver, amount, scene.now, scene.state)
    data = f"{CHECK_TRANSFER}{_word(source)}{_word(target)}{amount:064x}"
    return Case(ground.place.token, data, [v.code for v in failures(verdicts)], f"{source} → {target}: {amount}")


def _likely(ground: Ground, rng: random.Random, scene: Scene) -> tuple[str, str]:
    """Somebody who has something, and somebody who can be a holder."""
    having = [a for a in (ground.owner, *ground.people) if scene.accounts[a].balance] or [ground.owner]
    return rng.choice([ZERO, *having]), rng.choice([ground.owner, *ground.people])


def some_order(ground: Ground, rng: random.Random, scene: Scene) -> Case:
    """An order of somebody, and our word on it."""
    venue = rng.choice(list(ground.markets))
    trader = scene.accounts[rng.choice([ground.owner, address("stranger"), *ground.people])]
    is_buy = rng.random() < 0.5
    amount = some_amount(rng, scene, trader)
    verdicts = evaluate_order(
        scene.rules, ground.markets[venue], trader, is_buy, amount, scene.now, scene.state, scene.halted[venue]
    )
    data = f"{CHECK_ORDER}{_word(trader.address)}{is_buy:064x}{amount:064x}"
    words = f"{trader.address} {'buys' if is_buy else 'sells'} {amount} at {venue}"
    return Case(venue, data, [v.code for v in failures(verdicts)], words)


def _word(account: str) -> str:
    return account[2:].lower().rjust(64, "0")


async def ask(ground: Ground, scene: Scene, cases: list[Case], tally: Tally) -> None:
    """Put the cases to the contracts and count."""
    for first in range(0, len(cases), BATCH):
        part = cases[first : first + BATCH]
        told = await ground.rpc.batch([("eth_call", [{"to": c.to, "data": c.data}, "latest"]) for c in part])
        for case, answer in zip(part, told, strict=True):
            codes = _codes(answer)
            tally.cases += 1
            tally.allowed += not codes
            tally.codes.update(codes)
            if codes != case.codes:
                facts = f"chain {codes}, we {case.codes}; {case.words}; at {scene.now}; {scene.rules}"
                tally.differences.append(
                    f"{facts}; {scene.state}; {[scene.accounts.get(a) for a in case.words.split()[:3:2]]}"
                )


def _codes(answer: str) -> list[int]:
    """A `uint8[]`: where it begins, its length, its words."""
    words = [int(answer[n : n + 64], 16) for n in range(2, len(answer), 64)]
    return words[2 : 2 + words[1]]


async def run(cases: int, seed: int, home: Path) -> Tally:
    """Scenes until there were enough cases, or a difference."""
    rng, tally = random.Random(seed), Tally()
    with anvil(home) as rpc:
        ground = await prepare(rpc, rng)
        await _scene(ground, rng, tally, min(PER_SCENE, cases) // 4)  # the token has no rules yet
        await change(ground, rng)
        await open_markets(ground, rng)
        while tally.cases < cases and not tally.differences:
            await _scene(ground, rng, tally, min(PER_SCENE, cases - tally.cases))
            await change(ground, rng)
        await close()
    return tally


async def _scene(ground: Ground, rng: random.Random, tally: Tally, count: int) -> None:
    scene = await look(ground)
    makers: list[Any] = [some_transfer, some_order] if ground.markets else [some_transfer]
    cases = [makers[n % len(makers)](ground, rng, scene) for n in range(count)]
    await ask(ground, scene, cases, tally)
    tally.scenes += 1


def main() -> int:
    """Run, print the count, and say by the exit code whether there was a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.compliance.fuzz", description=__doc__)
    parser.add_argument("cases", nargs="?", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32), help="repeats a run")
    chosen = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="signum-fuzz-") as folder:
        tally = asyncio.run(run(chosen.cases, chosen.seed, Path(folder)))
    missing = sorted(set(RESTRICTIONS) - {0} - set(tally.codes))
    print(  # noqa: T201
        f"{tally.cases} cases in {tally.scenes} scenes, {tally.allowed} allowed, {len(tally.codes)} of "
        f"{len(RESTRICTIONS) - 1} codes met{f' (not {missing})' if missing else ''}: "
        f"{len(tally.differences)} differences; seed {chosen.seed}, {time.monotonic() - began:.0f} s"
    )
    for difference in tally.differences[:3]:
        print(difference)  # noqa: T201
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
