"""Requests whose workflow died are ended correctly, and no other request is touched."""

from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.attestations.models import AttestationRow
from backend.attestations.schemas import AttestationStatus
from backend.attestations.workflow import _issue_failed
from backend.core import db
from backend.core.db import new_id, now
from backend.core.errors import SignumError
from backend.markets.models import MarketRow
from backend.markets.schemas import MarketStatus
from backend.markets.workflow import deploy_failed
from backend.models import AssetRow, PartyRow
from backend.requests import service, workflows
from backend.requests.models import RequestRow
from backend.requests.runs import Run
from backend.requests.schemas import RequestStatus
from backend.requests.workflows import workflow
from backend.server import sweep
from tests.conftest import World

_put_right: list[UUID] = []


async def _remember(run: Run, error: SignumError) -> None:
    _put_right.append(run.request_id)


async def _break(run: Run, error: SignumError) -> None:
    raise RuntimeError("cannot be put right")


@workflow("test.lost", on_failure=_remember)
async def lost(run: Run) -> None:
    """Never runs here."""


@workflow("test.broken", on_failure=_break)
async def broken(run: Run) -> None:
    """Never runs here."""


async def request(organization: UUID, kind: str, **values: object) -> UUID:
    """A request without a worker, untouched for an hour."""
    async with db.transaction(organization) as session:
        row = await service.write(
            session,
            service.Wanted(
                organization_id=organization,
                kind=kind,
                title="Lost",
                subject_type="asset",
                subject_id=new_id(),
                scope="assets:write",
                steps=[],
                created_by=None,
            ),
        )
    hour_ago = {"updated_at": now() - timedelta(hours=1), **values}
    async with db.worker() as session:
        await session.execute(sa.update(RequestRow).where(col(RequestRow.id) == row.id).values(**hour_ago))
    return row.id


async def state(request_id: UUID) -> tuple[RequestStatus, bool]:
    """Return its status, and whether it can be retried."""
    async with db.worker() as session:
        row = await session.get_one(RequestRow, request_id)
    return row.status, row.can_retry


@pytest.mark.parametrize("kind", ["test.lost", "test.broken"])
async def test_lost_request_fails_with_its_rows(world: World, kind: str) -> None:
    acme = await world.organization()
    lost = await request(acme, kind, status=RequestStatus.RUNNING)
    await sweep.once()
    assert await state(lost) == (RequestStatus.FAILED, True)
    assert (lost in _put_right) == (kind == "test.lost")


async def test_finished_request_keeps_its_status_when_abandoned(world: World) -> None:
    acme = await world.organization()
    done = await request(acme, "test.lost", status=RequestStatus.SUCCEEDED)
    retried = await request(acme, "test.lost", attempt=2)
    for request_id in (done, retried):
        assert not await workflows.abandon(acme, request_id, 1, SignumError("late"))
    assert (await state(done))[0] is RequestStatus.SUCCEEDED
    assert (await state(retried))[0] is RequestStatus.ACCEPTED


async def test_rows_confirmed_on_chain_stay_active_when_the_request_is_lost(world: World) -> None:
    """The last step of a run can be lost after all work was done."""
    acme = await world.organization()
    asset = AssetRow(organization_id=acme, name="Fund", symbol="FND")
    party = PartyRow(organization_id=acme, name="Ann", country="DEU")
    async with db.worker() as session:
        session.add_all([asset, party])
        await session.flush()
        market = MarketRow(
            organization_id=acme,
            asset_id=asset.id,
            chain_eid=1,
            market_factory_address="0x",
            status=MarketStatus.ACTIVE,
        )
        attestation = AttestationRow(
            organization_id=acme,
            party_id=party.id,
            wallet_address="0x",
            chain_eid=1,
            kyc_level=1,
            country="DEU",
            status=AttestationStatus.ACTIVE,
        )
        session.add_all([market, attestation])
    await deploy_failed(Run(acme, new_id(), market.id, {}, 1), SignumError("late"))
    await _issue_failed(Run(acme, new_id(), attestation.id, {}, 1), SignumError("late"))
    async with db.worker() as session:
        assert (await session.get_one(MarketRow, market.id)).status is MarketStatus.ACTIVE
        assert (await session.get_one(AttestationRow, attestation.id)).status is AttestationStatus.ACTIVE
