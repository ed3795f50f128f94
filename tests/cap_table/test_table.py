"""The statement of the cap table answers what adding up every event gives, at any blocks and after a reorganization."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

from backend.assets.models import DeploymentRow
from backend.cap_table import table
from backend.chain.models import StateEventRow, TokenTransferRow
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.markets.schemas import OrderSide
from backend.models import OrderRow, PartyRow, TradeRow, WalletRow
from tests.assets.test_holders import largest_remainder
from tests.conftest import World
from tests.support.daily_totals import EID, UNIT, Story, account, remove, write, year_of_events
from tests.support.firm import BASE, Firm

START = datetime(2025, 1, 1, tzinfo=UTC)
Blocks = dict[int, int]
"""The block of each chain."""


class History:
    """Random transfers, trades and freezes of an asset on two chains. Half of the holders are parties."""

    def __init__(self, story: Story, dice: random.Random) -> None:
        self.story, self.dice, self.token = story, dice, account()
        self.venue = str(story.market.market_address)
        self.events: list[Any] = [one for some in year_of_events(story, dice, START, 70) for one in some]
        self.treasury = self.events[0].to_address
        receivers = {one.to_address for one in self.events if isinstance(one, TokenTransferRow)}
        self.people = sorted(receivers - {ZERO_ADDRESS, self.venue})
        self.countries = {one: ("SWE", "DEU")[number % 2] for number, one in enumerate(self.people[::2])}
        for one in [*self.people[:4], account()]:
            self.events.append(story.transfer(START, ZERO_ADDRESS, one, dice.randint(1, 9 * UNIT), BASE))
        self.events += [self._freeze(number) for number in range(8)]

    def _freeze(self, number: int) -> StateEventRow:
        return StateEventRow(
            organization_id=self.story.org, chain_eid=EID, address=self.token, name="Frozen", created_at=START,
            subject=self.dice.choice(self.people), arguments={"amount": self.dice.choice([0, UNIT // 3, 50 * UNIT])},
            tx_hash=f"0x{uuid4().hex}", log_index=number, block_number=self.dice.randint(1, self.story.block),
        )  # fmt: skip

    async def write(self) -> None:
        """Insert everything."""
        org, asset = self.story.org, self.story.asset.id
        async with db.worker() as session:
            for eid, token in ((EID, self.token), (BASE, account())):
                session.add(DeploymentRow(organization_id=org, asset_id=asset, chain_eid=eid, token_address=token))
            session.add(WalletRow(organization_id=org, label="Treasury", address=self.treasury, is_default=True))
            for address, country in self.countries.items():
                session.add(PartyRow(organization_id=org, name="Marta", country=country, wallet_address=address))
        await write(*self.events)

    async def undo(self, block: int) -> None:
        """Delete what is above a block of the first chain, as the indexer does when the chain is reorganized."""
        gone = [
            one
            for one in self.events
            if not isinstance(one, OrderRow) and one.block_number > block and getattr(one, "chain_eid", EID) == EID
        ]
        await remove([one for one in gone if not isinstance(one, StateEventRow)])
        async with db.worker() as session:
            for one in gone:
                if isinstance(one, StateEventRow):
                    await session.delete(await session.get_one(StateEventRow, one.id))
        self.events = [one for one in self.events if all(one is not other for other in gone)]

    def until(self, kind: type[Any], eid: int, block: int) -> Iterator[Any]:
        """Yield the events of a kind up to a block."""
        for one in self.events:
            if isinstance(one, kind) and one.block_number <= block and getattr(one, "chain_eid", EID) == eid:
                yield one

    async def read(self, blocks: Blocks, earlier: Blocks | None = None, **asked: Any) -> Any:
        """Return the answer of the statement, which is the same for few and for many holders."""
        given = values(self.story, blocks, earlier) | asked
        async with db.worker() as session:
            answers = [await session.scalar(sa.text(statement), given) for statement in (table.READ, table.READ_MANY)]
        assert answers[0] == answers[1]
        return answers[0]


def values(story: Story, blocks: Blocks, earlier: Blocks | None = None) -> dict[str, Any]:
    """Return the values of the statement."""
    return {
        "asset": story.asset.id, "org": story.org, "zero": ZERO_ADDRESS, "eids": list(blocks),
        "blocks": list(blocks.values()), "earlier": [earlier[eid] if earlier else None for eid in blocks],
        "compares": earlier is not None, "change": None, "search": None, "balance": None, "before": None,
        "address": None, "most": 1_000,
    }  # fmt: skip


def held(history: History, eid: int, block: int) -> dict[str, tuple[int, int, int]]:
    """Return what each account owns on a chain at a block, what of it the market holds, and what of it is frozen."""
    owned, escrowed, frozen = Counter[str](), Counter[str](), Counter[str]()
    orders = {one.chain_order_id: one for one in history.events if isinstance(one, OrderRow)}
    for one in history.until(TokenTransferRow, eid, block):
        owned.update({one.to_address: one.amount})
        owned.subtract({one.from_address: one.amount})
        escrowed[one.from_address] += one.amount if one.to_address == history.venue else 0
        escrowed[one.to_address] -= one.amount if one.from_address == history.venue else 0
    for one in history.until(TradeRow, eid, block):
        for order in (orders[one.maker_chain_id], orders[one.taker_chain_id]):
            escrowed[order.maker_address] += one.amount if order.side is OrderSide.BUY else -one.amount
    for one in sorted(history.until(StateEventRow, eid, block), key=lambda e: (e.block_number, e.log_index)):
        frozen[one.subject] = one.arguments["amount"]
    return {
        who: (owned[who] + escrowed[who], escrowed[who], min(frozen[who], max(owned[who], 0)))
        for who in owned.keys() | escrowed.keys()
        if who not in (ZERO_ADDRESS, history.venue)
    }


def changed(balance: int, earlier: int) -> str | None:
    """Return how a holding changed."""
    if balance == earlier:
        return None
    return "joined" if not earlier else "left" if not balance else "grew" if balance > earlier else "shrank"


def rows(history: History, blocks: Blocks, earlier: Blocks | None) -> list[dict[str, Any]]:
    """Return the holders on all chains as the statement does, from every event."""
    now = {eid: held(history, eid, block) for eid, block in blocks.items()}
    past = [held(history, eid, block) for eid, block in (earlier or {}).items()]
    sums = defaultdict[str, list[int]](lambda: [0, 0, 0, 0])
    for some in now.values():
        for who, amounts in some.items():
            sums[who] = [a + b for a, b in zip(sums[who], (*amounts, 0), strict=True)]
    for some in past:
        for who, (balance, *_) in some.items():
            sums[who][3] += balance
    owners = sorted(who for who, one in sums.items() if one[0] or one[3])
    holding = [who for who in owners if sums[who][0]]
    shares = dict(zip(holding, largest_remainder([sums[who][0] for who in holding]), strict=True))
    found = [
        {
            **dict(zip(("balance", "escrowed", "frozen", "earlier"), map(str, sums[who]), strict=True)),
            "address": who,
            "share_bps": shares.get(who, 0),
            "country": history.countries.get(who),
            "is_treasury": who == history.treasury,
            "is_investor": who != history.treasury,
            "change": changed(sums[who][0], sums[who][3]) if earlier else None,
            "chains": [
                {"chain_eid": eid, "balance": str(some[who][0])}
                for eid, some in sorted(now.items())
                if who in some and some[who][0]
            ],
        }
        for who in owners
    ]
    return sorted(found, key=lambda r: (int(r["balance"]), int(r["earlier"]), r["address"]), reverse=True)


def added(some: list[dict[str, Any]], name: str) -> str:
    """Return the sum of a field."""
    return str(sum(int(one[name]) for one in some))


def sums(listed: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums over all holders as the statement does."""
    investors = [one for one in listed if one["is_investor"]]
    holding = [one for one in investors if int(one["balance"])]
    by_country = defaultdict[Any, list[Any]](list)
    for one in holding:
        by_country[one["country"]].append(one)
    countries = [
        {"country": country, "holders": len(some), "balance": added(some, "balance")}
        for country, some in by_country.items()
    ]
    return {
        "sums": {name: added(listed, of) for name, of in SUMS.items()},
        "investors": {"count": len(holding), "balance": added(holding, "balance")}
        | {f"top_{n}": added(holding[:n], "balance") for n in (1, 5, 10)},
        "countries": sorted(countries, key=lambda c: (-int(c["balance"]), c["country"] or "~")),
        "changes": {kind: sum(one["change"] == kind for one in investors) for kind in CHANGES},
        "found": len(listed),
    }


SUMS = {"total": "balance", "escrowed": "escrowed", "frozen": "frozen"}
CHANGES = ("joined", "left", "grew", "shrank")


async def check(history: History, blocks: Blocks, earlier: Blocks | None) -> None:
    """Compare an answer with what all events add up to."""
    answer = await history.read(blocks, earlier)
    expected = rows(history, blocks, earlier)
    for row in answer["rows"]:
        assert (row.pop("party_id") is None) == (row["country"] is None)
    assert answer.pop("rows") == expected
    chains = answer.pop("chains")
    for eid, block in blocks.items():
        some = list(held(history, eid, block).values())
        assert chains[str(eid)] == {
            **{name: str(sum(one[n] for one in some)) for n, name in enumerate(("held", "escrowed", "frozen"))},
            "holders": sum(one[0] > 0 for one in some),
        }
    assert answer == sums(expected)
    grown = await history.read(blocks, earlier, change="grew")
    assert [r["address"] for r in grown["rows"]] == [
        r["address"] for r in expected if r["change"] == "grew" and r["is_investor"]
    ]
    named = await history.read(blocks, earlier, search="marta")
    assert [r["address"] for r in named["rows"]] == [r["address"] for r in expected if r["country"]]
    place = expected[2]
    after = {"balance": place["balance"], "before": place["earlier"], "address": place["address"]}
    following = await history.read(blocks, earlier, most=3, **after)
    assert [r["address"] for r in following["rows"]] == [r["address"] for r in expected[3:6]]


@pytest.mark.parametrize("seed", range(3))
async def test_cap_table_at_any_blocks_is_the_sum_of_all_events(world: World, seed: int) -> None:
    dice = random.Random(seed)
    story = await Story((await Firm.found(world)).id, f"PAST{seed}").begin()
    history = History(story, dice)
    await history.write()
    last = story.block
    for _ in range(6):
        before, after = sorted(dice.sample(range(12, last + 2), 2))
        await check(history, {EID: after, BASE: last}, None)
        await check(history, {EID: after, BASE: last}, {EID: before, BASE: dice.choice([0, last])})
    await history.undo(last // 2)
    for block in (last // 3, last // 2, last):
        await check(history, {EID: block, BASE: last}, {EID: block // 2, BASE: last})


HOLDERS = 3_000
FILL = (
    """
    insert into token_transfers (id, created_at, updated_at, organization_id, asset_id, chain_eid, from_address,
      to_address, amount, tx_hash, log_index, block_number)
    select gen_random_uuid(), now(), now(), :org, :asset, :eid, :zero, '0x' || lpad(to_hex(n), 40, '0'), n,
      :asset || '-' || n, 0, n from generate_series(1, :holders) n
    """,
    """
    insert into parties (id, created_at, updated_at, organization_id, kind, name, country, wallet_address, status,
      kyc_level, accredited)
    select gen_random_uuid(), now(), now(), :org, 'person', 'Marta', 'SWE', '0x' || lpad(to_hex(n), 40, '0'),
      'verified', 2, false from generate_series(1, :holders) n
    """,
    "analyze token_transfers",
    "analyze token_balances",
    "analyze parties",
)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every node of a plan."""
    yield plan
    for inner in plan.get("Plans", []):
        yield from nodes(inner)


@pytest.mark.parametrize("statement", [table.READ, table.READ_MANY], ids=["few", "many"])
async def test_cap_table_reads_each_holder_a_few_times_and_no_transfer_before_its_block(
    world: World, database_url: str, statement: str
) -> None:
    firm = await Firm.found(world)
    story = await Story(firm.id, "PLAN").begin()
    engine = sa.create_engine(make_url(database_url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection, connection.begin() as transaction:
        given = {"org": firm.id, "asset": story.asset.id, "eid": EID, "zero": ZERO_ADDRESS, "holders": HOLDERS}
        for text in FILL:
            connection.execute(sa.text(text), given if ":" in text else {})
        connection.execute(sa.text("set local role signum_app"))
        seen = "select set_config('app.organization_ids', :org, true), set_config('app.user_id', :person, true)"
        connection.execute(sa.text(seen), {"org": str(firm.id), "person": str(firm.admin.user_id)})
        explain = sa.text(f"explain (analyze, format json) {statement}")
        given = values(story, {EID: HOLDERS - 10}) | {"most": 50}  # a page may be compared with itself
        plan = connection.execute(explain, given).scalar_one()[0]["Plan"]
        transaction.rollback()
    engine.dispose()
    known = list(nodes(plan))
    assert max(node["Actual Rows"] for node in known) >= HOLDERS - 11, "it reads the holders"
    read = sum(node["Actual Rows"] * node["Actual Loops"] for node in known)
    assert read < 30 * HOLDERS, "it does not compare holders with one another"
    for node in known:
        if node.get("Relation Name") == "token_transfers":
            assert "Index" in json.dumps(node)
            assert node["Actual Rows"] <= 10, "it reads what moved after the block"
            assert not node.get("Rows Removed by Filter")
        if node.get("Relation Name") == "parties" and statement == table.READ_MANY:
            assert node["Actual Loops"] <= 1, "a lookup is for those without a party"
