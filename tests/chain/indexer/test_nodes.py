"""The indexer with nodes that omit logs, truncate them, or fail halfway."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.errors import ChainUnavailable, RpcError
from backend.chain.indexer import index_pass, indexer, log_limits, log_reader
from backend.chain.indexer.log_limits import LogLimits, limits_of
from backend.chain.models import FollowedContractRow
from backend.chain.rpc import node_urls, terms
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.core.runtime import runtime
from backend.models import DeploymentRow
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.indexer.test_indexer import transfers
from tests.chain.transactions.foreign_wallets import send_as
from tests.support.faulty_node import Faulty

BLOCK_TIME = 0.05


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The chain counts as public, without confirmations; its window is due with every new block."""
    quick = replace(terms.DEFAULTS[HOME_EID], block_time=BLOCK_TIME, confirmations=0)
    with monkeypatch.context() as patch:
        patch.setattr(terms, "DEFAULTS", dict.fromkeys(terms.DEFAULTS, quick))
        patch.setattr(node_urls, "is_embedded", lambda eid: False)
        patch.setattr(index_pass, "READ_AGAIN", (1, 0.0))
        yield


async def caught_up() -> None:
    await indexer.catch_up(HOME_EID, await (await connect(HOME_EID)).height())


async def mint(stage: Stage, at: str, amount: int) -> None:
    await send_as(HOME_EID, stage.treasury, token.mint(at, stage.treasury, amount))


async def amounts(at: str) -> list[int]:
    return [amount for *_, amount in await transfers(at)]


def leaves_out(node: Faulty) -> None:
    """The node has its blocks but omits logs: it has not indexed them yet."""
    node.does(lambda call: {"result": []} if call["method"] == "eth_getLogs" else None)


@pytest.mark.long
async def test_transfer_omitted_by_a_node_is_found_when_the_window_is_read_again(
    stage: Stage, open_rules: TokenRules, node: Faulty, public: None
) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    await caught_up()
    leaves_out(node)
    await mint(stage, at, 1)
    await caught_up()
    assert await amounts(at) == [100]
    node.heals()
    await mint(stage, at, 2)
    await caught_up()
    assert await amounts(at) == [100, 1, 2]


@pytest.mark.long
async def test_window_is_read_again_over_several_passes(
    stage: Stage, open_rules: TokenRules, node: Faulty, public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Callers that wait for a pass do not wait for the whole window, which is slow with small limits."""
    at = await stage.token(HOME_EID, open_rules, supply=100)
    await caught_up()
    leaves_out(node)
    await mint(stage, at, 1)
    await caught_up()
    node.heals()
    monkeypatch.setattr(index_pass, "WINDOW_SHARE", 0.0)
    monkeypatch.setattr(limits_of(HOME_EID), "blocks", 8)
    runtime.part(index_pass.Progress).windows.clear()
    passes = 0
    while 1 not in await amounts(at):
        await mint(stage, at, 2)
        await caught_up()
        passes += 1
        assert passes < 3 * index_pass.WINDOW // 8
    assert passes > 1


@pytest.mark.long
async def test_log_response_of_exactly_the_provider_cap_counts_as_truncated(
    stage: Stage, open_rules: TokenRules, node: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider truncates responses at four logs without saying so."""
    at = await stage.token(HOME_EID, open_rules, supply=100)
    await caught_up()
    monkeypatch.setattr(log_reader, "CAP", 4)
    rpc = await connect(HOME_EID)

    async def cut_off(requests: Any) -> list[Any]:
        response = await rpc.batch(requests)
        return [answer[:4] if isinstance(answer, list) else answer for answer in response]

    for amount in range(1, 8):
        await mint(stage, at, amount)
    monkeypatch.setattr(type(rpc), "together", lambda self, requests: cut_off(requests))
    await caught_up()
    assert await amounts(at) == [100, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.long
async def test_addresses_are_sent_in_smaller_chunks_when_a_node_refuses_many(
    stage: Stage, open_rules: TokenRules, node: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    ats = [await stage.token(HOME_EID, open_rules, supply=supply) for supply in (1, 2, 3)]
    node.does(too_many_addresses)
    monkeypatch.setitem(runtime.part(log_limits.LearnedLimits).by_chain, HOME_EID, LogLimits(10_000, 10_000))
    await caught_up()
    assert [await amounts(at) for at in ats] == [[1], [2], [3]]
    named = [len(call["params"][0]["address"]) for call in node.calls if call["method"] == "eth_getLogs"]
    assert max(named) > 2
    assert named[-1] <= 2


def too_many_addresses(call: dict[str, Any]) -> dict[str, Any] | None:
    """The provider refuses queries that name more than two contracts, for any range."""
    if call["method"] != "eth_getLogs" or len(call["params"][0]["address"]) <= 2:
        return None
    return {"error": {"code": -32602, "message": "exceed max addresses or topics per search position"}}


@pytest.mark.long
async def test_contract_history_resumes_after_an_interruption(
    stage: Stage, open_rules: TokenRules, node: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    rpc = await connect(HOME_EID)
    at = await stage.token(HOME_EID)
    created = await rpc.height()
    row = await is_followed_later(at)
    await stage.do(HOME_EID, stage.treasury, token.set_rules(at, open_rules))
    for amount in range(1, 6):
        await rpc.request("anvil_mine", hex(9))
        await mint(stage, at, amount)
    await caught_up()
    async with db.worker() as session:
        await session.execute(sa.update(DeploymentRow).where(DeploymentRow.id == row).values(token_address=at))
    monkeypatch.setitem(
        runtime.part(log_limits.LearnedLimits).by_chain, HOME_EID, LogLimits(10_000, 10, patience=1_000)
    )
    fails_from = created + 30
    node.does(lambda call: {"error": {"code": -32603, "message": "internal"}} if first(call) > fails_from else None)
    with pytest.raises((ChainUnavailable, RpcError)):
        await caught_up()
    assert 0 < len(await amounts(at)) < 5
    node.heals()
    before = len(node.calls)
    await caught_up()
    assert await amounts(at) == [1, 2, 3, 4, 5]
    again = [first(call) for call in node.calls[before:] if at in named(call)]
    assert min(again) > created + 10, "blocks that were read are not read again"


async def is_followed_later(at: str) -> UUID:
    """Hide a token from the indexer by clearing its deployment's address; return the deployment's id."""
    async with db.worker() as session:
        hidden = sa.update(DeploymentRow).where(DeploymentRow.token_address == at).values(token_address=None)
        row = (await session.execute(hidden.returning(DeploymentRow.id))).scalar_one()
    await caught_up()
    async with db.worker() as session:
        await session.execute(sa.delete(FollowedContractRow).where(FollowedContractRow.address == at))
    return row


def first(call: dict[str, Any]) -> int:
    return int(call["params"][0].get("fromBlock", "0x0"), 16) if call["method"] == "eth_getLogs" else 0


def named(call: dict[str, Any]) -> list[str]:
    return call["params"][0]["address"] if call["method"] == "eth_getLogs" else []
