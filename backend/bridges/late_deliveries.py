"""Late deliveries: abandoned packets that arrive after all."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.assets.models import DeploymentRow
from backend.assets.schemas import DeploymentStatus
from backend.bridges.models import BridgeRow
from backend.bridges.schemas import Bridge, BridgeStatus
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.layerzero import relayer
from backend.chain.layerzero.relayer import Delivery, DeliveryStatus
from backend.core import db
from backend.core.changes import THE_SYSTEM, acting, publish_status, shown
from backend.core.db import Write
from backend.core.errors import SignumError
from backend.core.recorded_time import recorded_now

log = structlog.get_logger()
AGAIN = timedelta(minutes=5)
"""How often the sweep checks one packet."""
MOST = 50
"""Maximum number of packets checked in one sweep."""


@dataclass(frozen=True)
class Arrival:
    """The destination's state of a packet; if it has arrived, also rules and supply of the token there."""

    delivery: Delivery
    rules: TokenRules | None = None
    supply: int = 0

    @property
    def is_there(self) -> bool:
        """Whether the packet was delivered."""
        return self.delivery.status is DeliveryStatus.DELIVERED


async def late_deliveries() -> int:
    """Check every abandoned packet that was not checked recently, and return how many have arrived. Each is read
    outside a transaction; a chain that does not answer is queried again at the next check."""
    arrived = 0
    for bridge in await _given_up():
        arrival = await look(bridge)
        async with db.worker() as session:
            if arrival is None:
                await _checked(session, bridge.id)
            else:
                await note(session, bridge.id, arrival)
                arrived += arrival.is_there
    if arrived:
        log.info("bridge.arrived_late", bridges=arrived)
    return arrived


async def _given_up() -> list[BridgeRow]:
    query = (
        sa.select(BridgeRow)
        .where(
            col(BridgeRow.status) == BridgeStatus.FAILED,
            col(BridgeRow.guid).is_not(None),
            col(BridgeRow.returned_at).is_(None),
            sa.or_(col(BridgeRow.checked_at).is_(None), col(BridgeRow.checked_at) < recorded_now() - AGAIN),
        )
        .order_by(col(BridgeRow.checked_at).asc().nulls_first())
        .limit(MOST)
    )
    async with db.worker() as session:
        return list(await session.scalars(query))


async def look(bridge: BridgeRow) -> Arrival | None:
    """Query the destination; None if a chain does not answer. Reads the chains and only the tables about them."""
    try:
        guid, tx_hash = bridge.guid or "", bridge.source_tx_hash or ""
        delivery = await relayer.delivery_status(guid, bridge.source_chain_eid, tx_hash)
        if delivery.status is not DeliveryStatus.DELIVERED:
            return Arrival(delivery)
        at = (await relayer.packet_of(guid, bridge.source_chain_eid, tx_hash)).receiver
        eid = bridge.destination_chain_eid
        return Arrival(delivery, await token.rules(eid, at), await token.total_supply(eid, at))
    except SignumError:
        return None


async def note(session: Write, bridge_id: UUID, arrival: Arrival) -> None:
    """Record the result; a bridge that has changed state in the meantime keeps it."""
    row = await session.get_one(BridgeRow, bridge_id, with_for_update=True, populate_existing=True)
    before = shown(Bridge, row)
    row.checked_at = recorded_now()
    if row.status is BridgeStatus.FAILED and arrival.is_there:
        row.status, row.failure = BridgeStatus.CONFIRMED, None
        row.destination_tx_hash = arrival.delivery.tx_hash or row.destination_tx_hash
        await _revive(session, row, arrival)
    await session.flush()
    with acting(THE_SYSTEM):
        await publish_status(session, "bridge", Bridge, row, before)


async def _checked(session: Write, bridge_id: UUID) -> None:
    await session.execute(sa.update(BridgeRow).where(col(BridgeRow.id) == bridge_id).values(checked_at=recorded_now()))


async def _revive(session: Write, row: BridgeRow, arrival: Arrival) -> None:
    """Activate the token that received its rules from the late packet."""
    query = sa.select(DeploymentRow).where(
        col(DeploymentRow.asset_id) == row.asset_id, col(DeploymentRow.chain_eid) == row.destination_chain_eid
    )
    deployment: DeploymentRow | None = await session.scalar(query)
    if deployment is None or deployment.token_address is None or deployment.status is DeploymentStatus.ACTIVE:
        return
    assert arrival.rules is not None
    deployment.supply = arrival.supply
    deployment.applied_rules, deployment.status = arrival.rules.as_dict(), DeploymentStatus.ACTIVE
