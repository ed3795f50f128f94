"""In any order of logs, with repetitions and reorganizations, the tables equal the logs that arrived and were not
undone."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlmodel import col

from backend.assets.schemas import DeploymentStatus
from backend.chain.abi.outcome import Log
from backend.chain.bindings.market import STATUSES
from backend.chain.indexer import streams
from backend.core import db
from backend.core.connections import database
from backend.distributions.schemas import DistributionStatus
from backend.models import (
    AssetRow,
    ClaimRow,
    DeploymentRow,
    DistributionRow,
    MarketRow,
    OrderRow,
    RuleSetRow,
    TokenTransferRow,
    TradeRow,
)
from backend.registrations import event_streams
from tests.chain.conftest import AWAY_EID, Stage
from tests.support.contract_logs import by_place, log_of

pytestmark = pytest.mark.long

assert event_streams, "the streams are registered"
TOKEN, MARKET, DISTRIBUTOR, OTHER_VENUE = (f"0x{digit * 40}" for digit in "1234")
ALICE, BOB = (f"0x{digit * 40}" for digit in "56")
RECIPIENTS = 3
UNREAD = 10_000_000
"""A block far above the blocks that are really read."""


@dataclass(frozen=True)
class Happened:
    """An event without its position."""

    name: str
    event: str
    at: str
    values: dict[str, Any]

    def log(self, place: tuple[int, int]) -> Log:
        return log_of(self.name, self.event, self.at, place, **self.values)


def _happened(name: str, event: str, at: str, **values: Any) -> st.SearchStrategy[Happened]:
    return st.builds(Happened, st.just(name), st.just(event), st.just(at), st.fixed_dictionaries(values))


ORDER = st.integers(1, 3)
EVENTS = st.one_of(
    _happened(
        "Market",
        "OrderStatus",
        MARKET,
        orderId=ORDER,
        status=st.integers(1, len(STATUSES) - 1),
        filled=st.integers(0, 100),
    ),
    _happened("Market", "Halted", MARKET, halted=st.booleans()),
    _happened(
        "Market",
        "Trade",
        MARKET,
        makerOrderId=ORDER,
        takerOrderId=ORDER,
        price=st.integers(1, 10),
        amount=st.integers(1, 100),
        takerFee=st.integers(0, 3),
        makerFee=st.integers(0, 3),
    ),
    _happened("RWAToken", "Paused", TOKEN, account=st.just(ALICE)),
    _happened("RWAToken", "Unpaused", TOKEN, account=st.just(ALICE)),
    _happened("RWAToken", "VenueSet", TOKEN, venue=st.sampled_from([MARKET, OTHER_VENUE]), allowed=st.booleans()),
    _happened(
        "RWAToken",
        "Transfer",
        TOKEN,
        **{"from": st.just(ALICE), "to": st.just(BOB), "value": st.integers(0, 2**255)},
    ),
)


def _once() -> list[Happened]:
    """Events that happen once: an order is placed, an entitlement is claimed, a distribution is closed."""
    placed = [
        Happened(
            "Market",
            "OrderPlaced",
            MARKET,
            {"orderId": number, "maker": ALICE, "isBuy": number % 2 == 0, "price": number, "amount": 100 * number},
        )
        for number in (1, 2, 3)
    ]
    claimed = [
        Happened(
            "MerkleDistributor", "Claimed", DISTRIBUTOR, {"index": number, "account": BOB, "amount": 10**20 + number}
        )
        for number in range(RECIPIENTS)
    ]
    return [*placed, *claimed, Happened("MerkleDistributor", "Closed", DISTRIBUTOR, {"returnedAmount": 1})]


@st.composite
def chains(draw: st.DrawFn) -> list[Log]:
    """The logs of a chain in order, several per block."""
    events = draw(st.lists(EVENTS, max_size=25)) + draw(st.permutations(_once()))[: draw(st.integers(0, 7))]
    block, index, logs = UNREAD, 0, []
    for event in draw(st.permutations(events)):
        if draw(st.booleans()):
            block, index = block + draw(st.integers(1, 3)), 0
        logs.append(event.log((block, index)))
        index += 1
    return logs


@asynccontextmanager
async def empty(stage: Stage) -> AsyncIterator[db.Write]:
    """A transaction with a token, a market and a distribution, which is rolled back."""
    async with db.Write(database.engine("worker"), expire_on_commit=False) as session:
        asset = AssetRow(organization_id=stage.organization_id, name="Test", symbol="TST")
        session.add(asset)
        await session.flush()
        fields: dict[str, Any] = {
            "organization_id": stage.organization_id,
            "asset_id": asset.id,
            "chain_eid": AWAY_EID,
        }
        session.add(DeploymentRow(token_address=TOKEN, status=DeploymentStatus.ACTIVE, **fields))
        session.add(MarketRow(market_address=MARKET, market_factory_address=MARKET, **fields))
        session.add(
            DistributionRow(
                name="Dividend",
                distributor_address=DISTRIBUTOR,
                status=DistributionStatus.ACTIVE,
                total_recipients=RECIPIENTS,
                **fields,
            )
        )
        await session.flush()
        yield session
        await session.rollback()


async def apply(session: db.Write, logs: Sequence[Log]) -> int:
    owners = {at: stream for at, (stream, _) in (await streams.contracts(session, AWAY_EID)).items()}
    return await streams.apply(session, AWAY_EID, logs, owners)


async def answer(session: db.Write) -> dict[str, Any]:
    """Return the content of the tables."""
    session.expire_all()
    token = (await session.scalars(sa.select(DeploymentRow).filter_by(token_address=TOKEN))).one()
    market = (await session.scalars(sa.select(MarketRow).filter_by(market_address=MARKET))).one()
    ends = (await session.scalars(sa.select(DistributionRow).filter_by(distributor_address=DISTRIBUTOR))).one()
    orders = await session.scalars(sa.select(OrderRow).where(col(OrderRow.market_id) == market.id))
    traded = await session.scalars(sa.select(TradeRow).where(col(TradeRow.market_id) == market.id))
    moved = await session.scalars(sa.select(TokenTransferRow).where(col(TokenTransferRow.asset_id) == token.asset_id))
    claims = await session.scalars(sa.select(ClaimRow).where(col(ClaimRow.distribution_id) == ends.id))
    assert (await session.scalars(sa.select(RuleSetRow).filter_by(asset_id=token.asset_id))).all() == []
    return {
        "paused": token.paused,
        "venues": token.venues,
        "halted": market.is_halted,
        "orders": {o.chain_order_id: (o.status, o.filled, o.amount, o.block_number) for o in orders},
        "trades": sorted((t.block_number, t.log_index, t.price, t.amount) for t in traded),
        "totals": (market.volume, market.last_price),
        "transfers": sorted((t.block_number, t.log_index, t.amount) for t in moved),
        "claims": sorted((c.index, c.amount, c.block_number) for c in claims),
        "claimed": (ends.claimed_recipients, ends.claimed_amount),
        "end": (ends.status, ends.ended_block),
    }


def expected(logs: Sequence[Log]) -> dict[str, Any]:
    """Return the expected content of the tables after exactly these logs, in the order of the chain."""
    state: dict[str, Any] = {
        "paused": False,
        "venues": [],
        "halted": False,
        "orders": {},
        "trades": [],
        "totals": (0, None),
        "transfers": [],
        "claims": [],
        "claimed": (0, 0),
        "end": (DistributionStatus.ACTIVE, None),
    }
    statuses: dict[int, tuple[str, int]] = {}
    for log in by_place(logs):
        name, values = log.decoded() or ("", {})
        if name in ("Paused", "Unpaused"):
            state["paused"] = name == "Paused"
        elif name == "VenueSet":
            others = [venue for venue in state["venues"] if venue != values["venue"]]
            state["venues"] = [*others, values["venue"]] if values["allowed"] else others
        elif name == "Halted":
            state["halted"] = values["halted"]
        elif name == "OrderStatus":
            statuses[values["orderId"]] = STATUSES[values["status"]], values["filled"]
        elif name == "OrderPlaced":
            state["orders"][values["orderId"]] = values["amount"], log.block_number
        elif name == "Trade":
            state["trades"].append((log.block_number, log.log_index, values["price"], values["amount"]))
            state["totals"] = state["totals"][0] + values["amount"], values["price"]
        elif name == "Transfer":
            state["transfers"].append((log.block_number, log.log_index, values["value"]))
        elif name == "Claimed":
            state["claims"].append((values["index"], values["amount"], log.block_number))
            count, amount = state["claimed"]
            state["claimed"] = count + 1, amount + values["amount"]
            if count + 1 == RECIPIENTS and state["end"][1] is None:
                state["end"] = DistributionStatus.COMPLETED, log.block_number
        elif name == "Closed" and state["end"][1] is None:
            state["end"] = DistributionStatus.CANCELLED, log.block_number
    orders = {n: (*statuses.get(n, ("open", 0)), *placed) for n, placed in state["orders"].items()}
    return state | {"orders": orders, "claims": sorted(state["claims"])}


MANY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@MANY
@given(chain=chains(), data=st.data())
async def test_state_follows_the_newest_log_in_any_order(stage: Stage, chain: list[Log], data: st.DataObject) -> None:
    coming = data.draw(st.permutations([*chain, *chain[::2]]), "the order, some of them twice")
    async with empty(stage) as session:
        new, come = 0, list[Log]()
        while coming:
            size = data.draw(st.integers(1, len(coming)), "per pass")
            batch, coming = coming[:size], coming[size:]
            new += await apply(session, batch)
            come += batch
            assert await answer(session) == expected(list(dict.fromkeys(come)))
        assert new == len(chain), "each counts as new once"


@MANY
@given(chain=chains(), data=st.data())
async def test_rewind_keeps_earlier_states(stage: Stage, chain: list[Log], data: st.DataObject) -> None:
    async with empty(stage) as session:
        await apply(session, chain)
        for _ in range(data.draw(st.integers(1, 3), "rewinds")):
            block = data.draw(st.integers(UNREAD - 1, UNREAD + 60), "to block")
            await streams.rewind(session, AWAY_EID, block)
            left = [log for log in chain if log.block_number <= block]
            assert await answer(session) == expected(left)
            chain = left + [log for log in data.draw(chains(), "the new branch") if log.block_number > block]
            chain = _possible(chain)
            await apply(session, chain[len(left) :])
            assert await answer(session) == expected(chain)


def _possible(chain: list[Log]) -> list[Log]:
    """Remove events that can happen only once and have happened already."""
    seen: set[tuple[Any, ...]] = set()
    kept = []
    for log in chain:
        name, values = log.decoded() or ("", {})
        key = (name, values.get("orderId"), values.get("index"))
        if name in ("OrderPlaced", "Claimed", "Closed") and key in seen:
            continue
        seen.add(key)
        kept.append(log)
    return kept


async def test_order_that_a_reorganization_moved_has_changed(stage: Stage) -> None:
    values = {"orderId": 1, "maker": ALICE, "isBuy": True, "price": 1, "amount": 100}
    placed = Happened("Market", "OrderPlaced", MARKET, values)
    async with empty(stage) as session:
        moments = []
        for block in (UNREAD, UNREAD + 1, UNREAD + 1):
            await apply(session, [placed.log((block, 0))])
            session.expire_all()
            order = (await session.scalars(sa.select(OrderRow).where(col(OrderRow.block_number) == block))).one()
            moments.append(order.updated_at)
    first, moved, again = moments
    assert first < moved, "lists with updated_after have it"
    assert again == moved, "reading the same block again changes nothing"
