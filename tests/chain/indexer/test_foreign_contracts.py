"""Foreign contracts that the tables name: their events do not stop the indexing of other contracts."""

import time
from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from eth_utils.crypto import keccak
from sqlmodel import col

from backend.chain import alarms
from backend.chain.abi.calls import Call
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.indexer import index_pass, indexer, streams
from backend.chain.models import AlarmKind, ChainAlarmRow
from backend.core import db
from backend.core.runtime import runtime
from backend.models import DeploymentRow, MarketRow
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.indexer.test_indexer import transfers

pytestmark = pytest.mark.long

PLACED = keccak(text="OrderPlaced(uint256,address,bool,uint256,uint256)")
STATUS = keccak(text="OrderStatus(uint256,uint8,uint256)")


def word(value: int) -> bytes:
    return value.to_bytes(32, "big")


def emits(*topics: bytes, data: bytes) -> str:
    """The creation code of a contract that emits one event at each call."""
    put = b"".join(b"\x7f" + data[i : i + 32] + b"\x60" + bytes([i]) + b"\x52" for i in range(0, len(data), 32))
    push = b"".join(b"\x7f" + topic for topic in reversed(topics))
    code = put + push + b"\x60" + bytes([len(data)]) + b"\x60\x00" + bytes([0xA0 + len(topics)]) + b"\x00"
    size = len(code).to_bytes(2, "big")
    return "0x" + (b"\x61" + size + b"\x60\x0e\x60\x00\x39\x61" + size + b"\x60\x00\xf3" + code).hex()


ORDER = emits(PLACED, word(2**255), word(7), data=word(0) + word(1) + word(1))
"""An order number too large for its column."""
STATE = emits(STATUS, word(1), data=word(200) + word(0))
"""A status that no order has."""


@pytest_asyncio.fixture
async def asset_id(stage: Stage, open_rules: TokenRules) -> AsyncIterator[str]:
    """The asset of a new token; its markets are removed afterwards."""
    stage.tokens[HOME_EID] = await stage.token(HOME_EID, open_rules, supply=100)
    async with db.worker() as session:
        deployment = sa.select(DeploymentRow).where(col(DeploymentRow.token_address) == stage.tokens[HOME_EID])
        found = (await session.execute(deployment)).scalar_one().asset_id
    yield str(found)
    async with db.worker() as session:
        await session.execute(sa.delete(MarketRow).where(col(MarketRow.asset_id) == found))
        await alarms.clear(session, HOME_EID, AlarmKind.UNREADABLE)
    runtime.part(index_pass.Progress).apart.clear()


async def follow(stage: Stage, asset_id: str, code: str) -> str:
    """Create a contract, name it in the tables as a market of the asset, and return its address."""
    made = await stage.do(HOME_EID, stage.treasury, Call(None, code))
    async with db.worker() as session:
        session.add(
            MarketRow(
                organization_id=stage.organization_id,
                asset_id=asset_id,
                chain_eid=HOME_EID,
                market_address=made.created,
                market_factory_address=made.created,
                block_number=made.block_number,
            )
        )
    return made.created


async def unreadable() -> Sequence[ChainAlarmRow]:
    """Return the open alarms about contracts whose events cannot be written."""
    async with db.worker() as session:
        return [a for a in await alarms.list_open(session, HOME_EID) if a.kind is AlarmKind.UNREADABLE]


@pytest.mark.parametrize("code", [ORDER, STATE], ids=["order", "status"])
async def test_contract_with_unreadable_events_is_skipped_with_an_alarm(stage: Stage, asset_id: str, code: str) -> None:
    foreign = await follow(stage, asset_id, code)
    at = stage.tokens[HOME_EID]
    await stage.do(HOME_EID, stage.treasury, Call(foreign, "0x"))
    minted = await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 7))
    await indexer.catch_up(HOME_EID, minted.block_number)
    assert [amount for *_, amount in await transfers(at)] == [100, 7]
    (alarm,) = await unreadable()
    assert alarm.subject == foreign
    await stage.do(HOME_EID, stage.treasury, Call(foreign, "0x"))
    await indexer.catch_up(HOME_EID, (await stage.do(HOME_EID, stage.treasury, Call(foreign, "0x"))).block_number)
    (still,) = await unreadable()
    assert still.detail == alarm.detail, "it names the first block"


async def test_contracts_are_written_together_again_a_minute_after_a_failure(
    stage: Stage, asset_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign, at = await follow(stage, asset_id, ORDER), stage.tokens[HOME_EID]
    apply, modes, clock = streams.apply, list[bool](), time.monotonic()

    async def noted(session: db.Write, eid: int, *of: Any, apart: bool = False) -> int:
        if eid == HOME_EID:
            modes.append(apart)
        return await apply(session, eid, *of, apart=apart)

    async def emit_and_mint() -> set[bool]:
        """How the contracts are written while the foreign one emits and another one is minted."""
        await stage.do(HOME_EID, stage.treasury, Call(foreign, "0x"))
        minted = await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 7))
        await indexer.catch_up(HOME_EID, minted.block_number)
        return set(modes)

    monkeypatch.setattr(streams, "apply", noted)
    monkeypatch.setattr(index_pass, "time", SimpleNamespace(monotonic=lambda: clock))
    assert await emit_and_mint() == {False, True}, "together, until the events could not be written"
    modes.clear()
    assert await emit_and_mint() == {True}
    modes.clear()
    clock += index_pass.APART
    minted = await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 7))
    await indexer.catch_up(HOME_EID, minted.block_number)
    assert set(modes) == {False}
    assert await emit_and_mint() == {False, True}
    assert [amount for *_, amount in await transfers(at)] == [100, 7, 7, 7, 7]
