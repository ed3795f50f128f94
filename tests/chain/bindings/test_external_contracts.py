"""External contracts named in the settings are checked on chain; an embedded chain stands in for a public one."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.abi.calls import creation
from backend.chain.bindings import external_contracts
from backend.chain.deployment import preparation
from backend.chain.deployment.contracts import contracts_of, ensure_contracts, operator
from backend.chain.errors import ChainUnavailable, InsufficientFunds
from backend.chain.rpc import node_urls, nodes
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.chain.signing.wallet_provider import provider
from backend.chain.transactions import funding
from backend.core import db
from backend.core.errors import Conflict
from backend.core.readiness import readiness
from backend.core.settings import settings
from backend.models import ChainRow
from tests.chain.conftest import AWAY_EID, HOME_EID, Stage
from tests.support.faulty_node import in_front_of


@dataclass
class Foreign:
    """A chain that counts as public, and its contracts."""

    rpc: Rpc
    endpoint: str
    other: str
    nothing: str


@pytest_asyncio.fixture
async def foreign(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Foreign]:
    here = await contracts_of(HOME_EID)
    outcome = await stage.do(HOME_EID, stage.treasury, creation("LocalEndpoint", AWAY_EID, stage.treasury))
    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: eid != HOME_EID)
    yield Foreign(await connect(HOME_EID), here.endpoint, outcome.created, (await provider().create()).address)


async def test_endpoint_is_verified_on_chain(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = (await contracts_of(HOME_EID)).registry
    for address, words in (
        (foreign.nothing, f"There is no contract at {foreign.nothing}, the messaging endpoint on"),
        (registry, "is not an endpoint of the chain 40161"),
        (foreign.other, "belongs to the chain 40245, not 40161"),
    ):
        monkeypatch.setattr(settings(), "endpoints", {HOME_EID: address})
        with pytest.raises(Conflict) as refused:
            await external_contracts.endpoint(foreign.rpc, None)
        assert words in refused.value.detail
        assert "SIGNUM_ENDPOINTS" in refused.value.detail
    monkeypatch.setattr(settings(), "endpoints", {HOME_EID: foreign.endpoint})
    assert await external_contracts.endpoint(foreign.rpc, None) == foreign.endpoint
    with pytest.raises(Conflict, match="a token never changes its endpoint"):
        await external_contracts.endpoint(foreign.rpc, foreign.other)


async def test_chain_without_an_endpoint_is_reported(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_contracts, "ENDPOINTS", {})
    with pytest.raises(Conflict, match="Set it in SIGNUM_ENDPOINTS"):
        await external_contracts.endpoint(foreign.rpc, None)


async def test_quote_token_is_checked_as_a_currency(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await external_contracts.quote_token(foreign.rpc, None) is None
    for address, words in ((foreign.nothing, "There is no contract at"), (foreign.endpoint, "is not a currency")):
        monkeypatch.setattr(settings(), "quote_tokens", {HOME_EID: address})
        with pytest.raises(Conflict, match=words) as refused:
            await external_contracts.quote_token(foreign.rpc, None)
        assert "SIGNUM_QUOTE_TOKENS" in refused.value.detail


async def test_node_of_another_chain_is_rejected(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: eid != HOME_EID)
    async with in_front_of(HOME_EID) as node:
        node.answers("eth_chainId", "0x1")
        with pytest.raises(ChainUnavailable, match="belongs to another chain: its chain ID is 1, not 1340161"):
            await (await connect(HOME_EID)).height()
        assert set(node.asked) == {"eth_chainId"}
        node.heals()
        assert await (await connect(HOME_EID)).height() > 0
        assert await (await connect(HOME_EID)).height() > 0
        assert node.asked.count("eth_chainId") == 2


async def test_correct_node_is_used_when_another_serves_the_wrong_chain(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = node_urls.urls_of(HOME_EID)[0]
    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: eid != HOME_EID)
    async with in_front_of(HOME_EID) as wrong:
        monkeypatch.setattr(node_urls, "urls_of", lambda eid: [wrong.url, real])
        wrong.answers("eth_chainId", "0x1")
        assert await (await connect(HOME_EID)).height() > 0
        (values,) = nodes.faulty(HOME_EID)
        assert values.error == "belongs to another chain: its chain ID is 1, not 1340161"


async def test_funding_error_names_amount_and_operator_address(foreign: Foreign) -> None:
    poor = (await provider().create()).address
    call = creation("AttestationRegistry", poor)
    with pytest.raises(InsufficientFunds) as refused:
        await funding.check(foreign.rpc, poor, [call])
    words = refused.value.detail
    assert words.startswith(f"The operator {poor} needs about 0.0")
    assert " ETH on Sepolia Devnet to deploy Signum's contracts (" in words
    assert "has 0. Send it to that address" in words
    await funding.check(foreign.rpc, poor, [])
    await funding.check(foreign.rpc, await operator(), [call])


async def test_block_gas_limit_below_a_contract_is_reported(foreign: Foreign) -> None:
    agent = await operator()
    block = await foreign.rpc.request("eth_getBlockByNumber", "latest", False)
    call = creation("AttestationRegistry", agent)
    async with in_front_of(HOME_EID) as node:
        node.answers("eth_getBlockByNumber", block | {"gasLimit": hex(1_000_000)})
        with pytest.raises(
            Conflict, match="Blocks of Sepolia Devnet allow 1,000,000 gas, but one of Signum's contracts needs 2,1"
        ):
            await funding.check(foreign.rpc, agent, [call])
        node.answers("eth_usingBigBlocks", True)
        await funding.check(foreign.rpc, agent, [call])


def test_funding_amounts_are_short_and_rounded_up() -> None:
    assert [funding.amount(n) for n in (1, 20_000_000_000_000_001, 10**18, 123 * 10**18)] == [
        "0.000000000000000001",
        "0.021",
        "1",
        "130",
    ]
    assert [funding.held(n) for n in (0, 1, 1_999_999_999_999, 10**18)] == ["0", "0", "0.000001", "1"]


async def test_preparation_obstacle_is_shown_for_its_chain_only(
    foreign: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "endpoints", {HOME_EID: foreign.other})
    before = await contracts_of(HOME_EID)
    assert not await preparation.attempt(HOME_EID)
    assert "a token never changes its endpoint" in str(await missing())
    note = f"The chain {HOME_EID} is not prepared yet. See the Chains page and the log."
    assert note in readiness().notes
    monkeypatch.setattr(settings(), "endpoints", {})
    assert await preparation.attempt(HOME_EID)
    assert (await missing(), note in readiness().notes) == (None, False)
    assert await ensure_contracts(HOME_EID) == before


async def missing() -> Any:
    async with db.worker() as session:
        return await session.scalar(sa.select(col(ChainRow.missing)).where(col(ChainRow.xchain_eid) == HOME_EID))
