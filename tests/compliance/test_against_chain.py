"""Python's decisions and those of the deployed contracts, on the same facts, some hundreds of times."""

import asyncio
import itertools
import random
import time
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from backend.assets import transfer_check
from backend.assets.transfer_check import Place
from backend.chain.abi.rule_sets import MarketRules, TokenRules
from backend.chain.bindings import market as contract
from backend.chain.bindings import token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.rpc.json_rpc import connect
from backend.compliance import standings
from backend.compliance.affected import Rules, judged
from backend.compliance.rules import evaluate, evaluate_order, failures
from backend.compliance.standings import Wanted
from backend.core.fields import RegulationType
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import UNIT, Issuance

ZERO = "0x" + "0" * 40
STRANGER = "0x00000000000000000000000000000000000051A9"


@dataclass
class Cast:
    """A token whose holders all differ, and a market of it."""

    firm: Issuance
    place: Place
    market: str
    market_rules: MarketRules
    accounts: dict[str, str]
    foreign_issuer: str


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def cast(api: Any, client: Any) -> Cast:
    world = World(client)
    above = await Firm.issuing(world, SEPOLIA, name="Group")
    firm = await Issuance.ready(world, SEPOLIA, parent=above.id)
    asset = await firm.asset()
    market = await firm.market(
        asset, min_kyc_level=1, requires_accreditation=False, blocked_countries=["PRK"], max_holders=4
    )
    at = asset["deployments"][0]["token_address"]
    accounts = {
        "treasury": (await firm.treasury())["address"],
        "market": market["market_address"],
        "token": at,
        "stranger": STRANGER,
    }
    people = {
        "low": (firm, 1, False, "DEU", 40),
        "high": (firm, 3, True, "SWE", 60),
        "american": (firm, 2, True, "USA", 5),
        "empty": (firm, 2, False, "DEU", 0),
        "korean": (firm, 2, True, "PRK", 0),
        "of_group": (above, 3, True, "SWE", 0),
    }
    for name, (issuer, level, accredited, country, amount) in people.items():
        wallet = await firm.post("/wallets", {"label": name})
        party = await issuer.party(wallet["address"], country=country)
        body = {"kyc_level": level, "accredited": accredited}
        await issuer.admin.call("POST", f"/identity/parties/{party['id']}/verify", json=body)
        await issuer.attest(party, SEPOLIA)
        accounts[name] = wallet["address"]
        if amount:
            await firm.owner_call(token.transfer(at, wallet["address"], amount * UNIT))
    await firm.owner_call(token.set_frozen(at, accounts["low"], 30 * UNIT))
    place = Place(firm.id, SEPOLIA, at, (await contracts_of(SEPOLIA)).registry)
    issuer_address = (await above.get("/issuer"))["wallets"][0]["address"]
    rules = (await contract.info(SEPOLIA, market["market_address"])).rules
    return Cast(firm, place, market["market_address"], rules, accounts, issuer_address)


def some_rules(rng: random.Random, foreign: str) -> TokenRules:
    return TokenRules(
        regulation_type=rng.choice(list(RegulationType)),
        min_kyc_level=rng.choice([0, 1, 2, 3, 4]),
        requires_accreditation=rng.random() < 0.4,
        org_only=rng.random() < 0.4,
        blocked_countries=tuple(sorted(rng.sample(["USA", "DEU", "PRK", "SWE"], rng.randrange(3)))),
        lockup_end_time=rng.choice([0, 1, int(time.time()) + 100_000]),
        max_holders=rng.choice([0, 2, 3, 4, 10]),
        max_tokens_per_holder=rng.choice([0, 0, 10, 60, 61, 100]) * UNIT,
        trusted_issuers=(foreign,) if rng.random() < 0.3 else (),
    )


async def test_transfer_decisions_match_the_token(cast: Cast) -> None:
    rng, cases, refused, chain = random.Random(20261120), 0, set(), await connect(SEPOLIA)
    pairs = list(itertools.product([ZERO, *cast.accounts.values()], cast.accounts.values()))
    for turn in range(8):
        rules = some_rules(rng, cast.foreign_issuer)
        await cast.firm.owner_call(token.set_rules(cast.place.token, rules))
        if turn == 6:
            await cast.firm.owner_call(token.pause(cast.place.token))
        found = await transfer_check.facts_of(cast.place, *cast.accounts.values())
        facts, state = {account.address: account for account in found.accounts}, found.state
        tried = [(*pair, rng.choice([0, 1, 5, 10, 11, 40, 41, 60]) * UNIT) for pair in rng.sample(pairs, 60)]
        answer = await asyncio.gather(*(chain.read(*token.transfer_codes(cast.place.token, *case)) for case in tried))
        for (sender, receiver, amount), codes in zip(tried, answer, strict=True):
            ours = evaluate(rules, facts.get(sender), facts[receiver], amount, int(time.time()), state)
            assert [v.code for v in failures(ours)] == list(codes), (rules, sender, receiver, amount)
            cases += 1
            refused |= set(codes)
    await cast.firm.owner_call(token.unpause(cast.place.token))
    assert cases == 480
    assert refused >= set(range(1, 16)) - {2}


@pytest.mark.long
async def test_holders_excluded_by_a_change_match_the_token(cast: Cast) -> None:
    """Who loses eligibility by a change of rules: all standings read at one block, against the token's own answers
    before and after."""
    rng, place, lost, chain = random.Random(13), cast.place, set(), await connect(SEPOLIA)
    people = [a for name, a in cast.accounts.items() if name not in ("treasury", "market", "token")]

    async def refusals(rules: TokenRules) -> list[set[int]]:
        await cast.firm.owner_call(token.set_rules(place.token, rules))
        answer = await asyncio.gather(*(chain.read(*token.transfer_codes(place.token, ZERO, one, 0)) for one in people))
        return [set(codes) for codes in answer]

    old = some_rules(rng, cast.foreign_issuer)
    had = await refusals(old)
    for _ in range(6):
        new = some_rules(rng, cast.foreign_issuer)
        found = await standings.on_chain(place.organization_id, SEPOLIA, Wanted(people, [old, new]))
        has = await refusals(new)
        for address, before, after in zip(people, had, has, strict=True):
            accounts = (found.account(SEPOLIA, address, rules) for rules in (old, new))
            codes = {verdict.code for verdict in judged(Rules(old), Rules(new), *accounts).lost}
            assert codes == after - before, (old, new, address)
            lost |= codes
        old, had = new, has
    assert len(lost) >= 3


@pytest.mark.long
async def test_order_decisions_match_the_market(cast: Cast) -> None:
    rng, refused, chain = random.Random(7), set(), await connect(SEPOLIA)
    for _ in range(4):
        rules = some_rules(rng, cast.foreign_issuer)
        await cast.firm.owner_call(token.set_rules(cast.place.token, rules))
        facts = await transfer_check.facts_of(cast.place, ZERO, *cast.accounts.values())
        for account in facts.accounts:
            address = account.address
            for side, amount in itertools.product(("buy", "sell"), (1 * UNIT, 50 * UNIT)):
                codes = list(await chain.read(*contract.order_codes(cast.market, address, side, amount)))
                now = int(time.time())
                ours = evaluate_order(rules, cast.market_rules, account, side == "buy", amount, now, facts.state)
                assert [v.code for v in failures(ours)] == codes, (rules, address, side, amount)
                refused |= set(codes)
    assert refused >= {33, 36}
