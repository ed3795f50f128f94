"""Fixtures of the chain's tests: an organization with a treasury that attests, and tokens on demand."""

import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import aiohttp
import pytest
import pytest_asyncio

from backend.assets.schemas import DeploymentStatus
from backend.chain.abi.calls import Call
from backend.chain.abi.outcome import Outcome
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import registry, token
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.devnet import anvil
from backend.chain.rpc import connections
from backend.chain.signing.wallet_provider import provider
from backend.chain.transactions import confirmation, replacement
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.models import AssetRow, DeploymentRow, OrganizationRow
from tests.support.faulty_node import Faulty, in_front_of

HOME_EID, AWAY_EID = 40161, 40245


@dataclass
class Stage:
    """Acts on the embedded chains through the transaction store."""

    organization_id: UUID
    treasury: str
    tokens: dict[int, str] = field(default_factory=dict)

    async def do(self, eid: int, signer: str, call: Call, key: str = "") -> Outcome:
        """Execute a call under a new key."""
        return await execute(call.intent(key or f"test:{secrets.token_hex(8)}", eid=eid, signer=signer))

    async def wallet(self, *eids: int) -> str:
        """A new wallet, funded."""
        address = (await provider().create()).address
        for eid in eids or (HOME_EID,):
            await anvil.fund(eid, address)
        return address

    async def register(self, eid: int) -> None:
        """Make the treasury an attester."""
        at = (await contracts_of(eid)).registry
        call = registry.add_attester(at, self.treasury, self.organization_id, "Test", 3, True)
        await self.do(eid, await operator(), call)

    async def attest(self, eid: int, subject: str, **values: Any) -> str:
        """Attest a subject and return the uid."""
        at = (await contracts_of(eid)).registry
        facts = {"level": 2, "country": "DEU", "accredited": True, **values}
        outcome = await self.do(eid, self.treasury, registry.attest(at, subject=subject, **facts))
        return str(outcome.event("Attested")["uid"])

    async def token(self, eid: int, rules: TokenRules | None = None, supply: int = 0) -> str:
        """A token of the organization, with the rows that an asset's workflow would write."""
        contracts = await contracts_of(eid)
        call = token.deploy(
            name="Test",
            symbol="TST",
            decimals=18,
            organization_id=self.organization_id,
            registry=contracts.registry,
            endpoint=contracts.endpoint,
            owner=self.treasury,
            treasury=self.treasury,
        )
        outcome = await self.do(eid, self.treasury, call)
        if rules is not None:
            await self.do(eid, self.treasury, token.set_rules(outcome.created, rules))
        if supply:
            await self.do(eid, self.treasury, token.mint(outcome.created, self.treasury, supply))
        await self._record(eid, outcome)
        return outcome.created

    async def _record(self, eid: int, outcome: Outcome) -> None:
        async with db.worker() as session:
            asset = AssetRow(organization_id=self.organization_id, name="Test", symbol=secrets.token_hex(4).upper())
            session.add(asset)
            await session.flush()
            session.add(
                DeploymentRow(
                    organization_id=self.organization_id,
                    asset_id=asset.id,
                    chain_eid=eid,
                    token_address=outcome.created,
                    status=DeploymentStatus.ACTIVE,
                    block_number=outcome.block_number,
                )
            )


@pytest_asyncio.fixture(scope="session")
async def stage(api: Any) -> AsyncIterator[Stage]:
    """An organization whose treasury is an attester on two chains."""
    async with db.worker() as session:
        row = OrganizationRow(name="Chain tests")
        session.add(row)
    address = (await provider().create()).address
    made = Stage(row.id, address)
    for eid in (HOME_EID, AWAY_EID):
        await anvil.fund(eid, address)
        await made.register(eid)
    yield made


@pytest.fixture
def open_rules() -> TokenRules:
    """Rules that require an attestation and nothing else."""
    return TokenRules(min_kyc_level=1)


def names(codes: Sequence[int]) -> list[str]:
    """Restriction codes by name."""
    from backend.chain.abi.restrictions import RESTRICTIONS

    return [RESTRICTIONS[code].name for code in codes]


@pytest_asyncio.fixture
async def node(stage: Stage) -> AsyncIterator[Faulty]:
    """The chain's node, which works correctly until a test changes it."""
    async with in_front_of(HOME_EID) as faulty:
        yield faulty


@pytest.fixture
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes and transactions with short timeouts."""
    monkeypatch.setattr(connections, "TIMEOUT", aiohttp.ClientTimeout(2.0))
    monkeypatch.setattr(confirmation, "RESEND", {True: 0.05, False: 0.05})
    monkeypatch.setattr(replacement, "STUCK", {True: timedelta(seconds=0.2), False: timedelta(seconds=0.2)})
