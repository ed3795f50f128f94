"""What the settings name on a public chain, looked at there; one of the embedded chains stands in for it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain import endpoints, means, named, nodes, preparing
from backend.chain.calls import creation
from backend.chain.deployment import contracts_of, ensure_contracts, operator
from backend.chain.errors import ChainUnavailable, InsufficientFunds
from backend.chain.rpc import Rpc, connect
from backend.chain.wallet_provider import provider
from backend.errors import Conflict
from backend.models import ChainRow
from backend.readiness import readiness
from backend.settings import settings
from tests.chain.conftest import AWAY_EID, HOME_EID, Stage
from tests.chain.faulty import in_front_of


@dataclass
class Foreign:
    """A chain that is taken for a public one, and what stands on it."""

    rpc: Rpc
    endpoint: str
    other: str
    nothing: str


@pytest_asyncio.fixture
async def foreign(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Foreign]:
    here = await contracts_of(HOME_EID)
    outcome = await stage.do(HOME_EID, stage.treasury, creation("LocalEndpoint", AWAY_EID, stage.treasury))
    monkeypatch.setattr(endpoints, "is_embedded", lambda eid: eid != HOME_EID)
    yield Foreign(await connect(HOME_EID), here.endpoint, outcome.created, (await provider().create()).address)


async def test_an_endpoint_is_believed_when_the_chain_says_so(
    foreign: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = (await contracts_of(HOME_EID)).registry
    for address, words in (
        (foreign.nothing, f"There is no contract at {foreign.nothing}, the messaging endpoint on"),
        (registry, "is none, not of the chain 40161"),
        (foreign.other, "is that of the chain 40245, not of the chain 40161"),
    ):
        monkeypatch.setattr(settings(), "endpoints", {HOME_EID: address})
        with pytest.raises(Conflict) as refused:
            await named.endpoint(foreign.rpc, None)
        assert words in refused.value.detail
        assert "SIGNUM_ENDPOINTS" in refused.value.detail
    monkeypatch.setattr(settings(), "endpoints", {HOME_EID: foreign.endpoint})
    assert await named.endpoint(foreign.rpc, None) == foreign.endpoint
    with pytest.raises(Conflict, match="a token never changes its endpoint"):
        await named.endpoint(foreign.rpc, foreign.other)


async def test_a_chain_without_an_endpoint_says_so(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named, "ENDPOINTS", {})
    with pytest.raises(Conflict, match="name it in SIGNUM_ENDPOINTS"):
        await named.endpoint(foreign.rpc, None)


async def test_a_quote_token_is_a_currency(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await named.quote_token(foreign.rpc, None) is None
    for address, words in ((foreign.nothing, "There is no contract at"), (foreign.endpoint, "is no currency")):
        monkeypatch.setattr(settings(), "quote_tokens", {HOME_EID: address})
        with pytest.raises(Conflict, match=words) as refused:
            await named.quote_token(foreign.rpc, None)
        assert "SIGNUM_QUOTE_TOKENS" in refused.value.detail


async def test_a_node_of_another_chain_is_not_believed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "is_embedded", lambda eid: eid != HOME_EID)
    async with in_front_of(HOME_EID) as node:
        node.answers("eth_chainId", "0x1")
        with pytest.raises(ChainUnavailable, match="is of another chain: its chain id is 1, not 1340161"):
            await (await connect(HOME_EID)).height()
        assert set(node.asked) == {"eth_chainId"}
        node.heals()
        assert await (await connect(HOME_EID)).height() > 0
        assert await (await connect(HOME_EID)).height() > 0
        assert node.asked.count("eth_chainId") == 2


async def test_the_right_node_is_asked_where_another_is_of_another_chain(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = endpoints.urls_of(HOME_EID)[0]
    monkeypatch.setattr(endpoints, "is_embedded", lambda eid: eid != HOME_EID)
    async with in_front_of(HOME_EID) as wrong:
        monkeypatch.setattr(endpoints, "urls_of", lambda eid: [wrong.url, real])
        wrong.answers("eth_chainId", "0x1")
        assert await (await connect(HOME_EID)).height() > 0
        (told,) = nodes.faulty(HOME_EID)
        assert told.error == "is of another chain: its chain id is 1, not 1340161"


async def test_what_the_operator_has_to_send_is_said(foreign: Foreign) -> None:
    poor = (await provider().create()).address
    call = creation("AttestationRegistry", poor)
    with pytest.raises(InsufficientFunds) as refused:
        await means.check(foreign.rpc, poor, [call])
    words = refused.value.detail
    assert words.startswith(f"The operator {poor} needs about 0.0")
    assert " ETH on Sepolia Devnet to deploy our contracts (" in words
    assert "has 0. Send it there" in words
    await means.check(foreign.rpc, poor, [])
    await means.check(foreign.rpc, await operator(), [call])


async def test_blocks_that_are_too_small_are_told(foreign: Foreign) -> None:
    agent = await operator()
    block = await foreign.rpc.request("eth_getBlockByNumber", "latest", False)
    call = creation("AttestationRegistry", agent)
    async with in_front_of(HOME_EID) as node:
        node.answers("eth_getBlockByNumber", block | {"gasLimit": hex(1_000_000)})
        with pytest.raises(
            Conflict, match="Blocks of Sepolia Devnet take 1,000,000 gas, and one of our contracts needs 2,1"
        ):
            await means.check(foreign.rpc, agent, [call])
        node.answers("eth_usingBigBlocks", True)
        await means.check(foreign.rpc, agent, [call])


def test_amounts_are_short_and_never_too_small() -> None:
    assert [means.amount(n) for n in (1, 20_000_000_000_000_001, 10**18, 123 * 10**18)] == [
        "0.000000000000000001",
        "0.021",
        "1",
        "130",
    ]
    assert [means.held(n) for n in (0, 1, 1_999_999_999_999, 10**18)] == ["0", "0", "0.000001", "1"]


async def test_what_keeps_a_chain_back_is_shown_and_keeps_no_other(
    foreign: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "endpoints", {HOME_EID: foreign.other})
    before = await contracts_of(HOME_EID)
    assert not await preparing.attempt(HOME_EID)
    assert "a token never changes its endpoint" in str(await missing())
    note = f"The chain {HOME_EID} is not prepared yet; the chains page and the log say why."
    assert note in readiness.notes
    monkeypatch.setattr(settings(), "endpoints", {})
    assert await preparing.attempt(HOME_EID)
    assert (await missing(), note in readiness.notes) == (None, False)
    assert await ensure_contracts(HOME_EID) == before


async def missing() -> Any:
    async with db.worker() as session:
        return await session.scalar(sa.select(col(ChainRow.missing)).where(col(ChainRow.xchain_eid) == HOME_EID))
