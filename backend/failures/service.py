"""Find the call that removes the cause of a request's failure."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.assets import records
from backend.attestations import revocations
from backend.bridges.delivery import DeliveryRefused
from backend.bridges.schemas import BridgeStatus
from backend.chain.errors import Reverted
from backend.core.db import Write
from backend.core.errors import SignumError
from backend.failures import rules
from backend.failures.rules import Call, Person, Place
from backend.requests.models import RequestRow
from backend.wallets import known_names

_ASSETS = {
    kind: sa.text(f"select asset_id from {kind}s where id = :id")  # noqa: S608 - constants
    for kind in ("transfer", "bridge", "market", "distribution")
}
_AMOUNT = sa.text("select amount from bridges where id = :id")
_BRIDGE = sa.text("""
  select b.id from bridges b left join markets m on m.bridge_id = b.id
  where (b.id = :subject or m.id = :subject) and b.status = :failed
""")
"""The failed bridge of a request: its subject, or the one that its market waits for."""


async def resolution(session: Write, request: RequestRow, error: SignumError) -> Call | None:
    """Return the call that removes the cause of a failure, or shows the bridge that failed; None if none does."""
    if "resolution" in error.extensions() or "rules" in error.extensions():
        return None  # the problem already names it
    refusal = error.refusal if isinstance(error, DeliveryRefused) else error
    if isinstance(refusal, Reverted) and (found := await _of_refusal(session, request, refusal)) is not None:
        return found
    values = {"subject": request.subject_id, "failed": BridgeStatus.FAILED}
    bridge_id: UUID | None = await session.scalar(_BRIDGE, values)
    return rules.of_bridge(request.organization_id, bridge_id) if bridge_id else None


async def _of_refusal(session: Write, request: RequestRow, refusal: Reverted) -> Call | None:
    named = request.arguments.get("asset_id")
    asset_id = await asset_id_of(session, request.subject_type, request.subject_id, UUID(named) if named else None)
    if asset_id is None or refusal.eid is None:
        return None
    asset = await records.asset(session, request.organization_id, asset_id)
    chains = await records.chain_names(session)
    amount = await session.scalar(_AMOUNT, {"id": request.subject_id})
    place = Place(request.organization_id, asset_id, asset.symbol, refusal.eid, chains, int(amount or 0))
    return rules.resolution(refusal, place, await _person(session, request, refusal, refusal.eid))


async def asset_id_of(session: AsyncSession, kind: str, subject_id: UUID, named: UUID | None) -> UUID | None:
    """Return the asset that a request concerns, by its subject; `named` is the one that the request of an order names.
    None where it concerns none."""
    if kind in ("asset", "order"):
        return subject_id if kind == "asset" else named
    query = _ASSETS.get(kind)
    asset_id: UUID | None = await session.scalar(query, {"id": subject_id}) if query is not None else None
    return asset_id


async def _person(session: Write, request: RequestRow, refusal: Reverted, eid: int) -> Person | None:
    address = rules.account_of(refusal)
    if not address:
        return None
    known = (await known_names.known(session, request.organization_id, [address]))[address]
    found = await revocations.of_accounts(session, request.organization_id, eid, [address])
    revoked = found.get(address)
    party_id = known.party_id or (revoked.party_id if revoked else None)
    return Person(address, known.title, party_id, is_revoked=revoked is not None)
