"""Returns: mint the supply of a failed bridge back after its packet is dropped. Checks, plans and requests."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import gas, records
from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.bridges import rules
from backend.bridges.models import BridgeRow
from backend.bridges.schemas import BridgeReturn, BridgeReturnAccepted, BridgeReturnImpact, BridgeReturnPlan
from backend.chain.abi.calls import Call
from backend.chain.bindings import token
from backend.chain.errors import Reverted
from backend.chain.layerzero import relayer
from backend.chain.layerzero.relayer import Delivery, DeliveryStatus, Packet
from backend.chain.transactions import lost_transactions
from backend.chain.transactions.execution import rehearse
from backend.chains import service as chains
from backend.core import db
from backend.core.changes import publish
from backend.core.errors import Conflict, NotFound
from backend.core.units import grouped
from backend.requests.accept import accept, acceptance_message
from backend.requests.models import RequestRow
from backend.requests.schemas import FINAL
from backend.requests.service import Step
from backend.wallets import signing_wallets

KIND = "bridge.return"


@dataclass(frozen=True)
class Return:
    """A return that passed every check: what was burned for whom, and how its packet is removed from the path."""

    bridge: BridgeRow
    symbol: str
    decimals: int
    packet: Packet
    delivery: Delivery
    sender: str
    amount: int
    names: dict[int, str]

    @property
    def source(self) -> str:
        """Return the name of the chain that the supply is minted back on."""
        return self.names[self.bridge.source_chain_eid]

    @property
    def destination(self) -> str:
        """Return the name of the chain that the packet was sent to."""
        return self.names[self.bridge.destination_chain_eid]

    @property
    def words(self) -> str:
        """Return what is minted back, as text."""
        return f"{grouped(str(self.amount), self.decimals)} {self.symbol}"


async def plan(context: Context, bridge_id: UUID) -> BridgeReturnPlan:
    """Return every check of a return, and what it would do."""
    found = await _checked(context, bridge_id)
    dropping = {
        DeliveryStatus.DROPPED: f"The packet is already dropped on {found.destination}",
        DeliveryStatus.PENDING: f"Skip the unverified packet on {found.destination}, so that it can never be verified",
    }.get(found.delivery.status, f"Clear the verified packet on {found.destination}, so that it can never be delivered")
    minting = f"Mint {found.words} back to {found.sender} on {found.source}"
    impact = BridgeReturnImpact(
        source_chain_eid=found.bridge.source_chain_eid,
        destination_chain_eid=found.bridge.destination_chain_eid,
        amount=str(found.amount),
        to_address=found.sender,
        can_be_undone=False,
        warnings=[f"This cannot be undone. {found.bridge.to_address or found.sender} will not receive the packet."],
    )
    wait = f"Wait for finality on {found.destination}; nothing is minted before"
    return BridgeReturnPlan(steps=[dropping, wait, minting if found.amount else "Nothing was burned"], impact=impact)


async def create(context: Context, bridge_id: UUID, body: BridgeReturn) -> BridgeReturnAccepted:
    """Create a request that always waits for a second person."""
    found = await _checked(context, bridge_id)
    await _check_alone(context, bridge_id)
    bridge = await context.session.get_one(BridgeRow, bridge_id, with_for_update=True, populate_existing=True)
    rules.check_returnable(bridge.status, bridge.guid, bridge.returned_at)
    request = await accept(
        context,
        KIND,
        f"Return {found.words} from {found.destination} to {found.source}",
        subject=("bridge", bridge_id),
        scope=Scope.ASSETS_WRITE,
        steps=[
            Step("packet_dropped", "Drop the packet", bridge.destination_chain_eid),
            Step("supply_returned", "Mint the supply back", bridge.source_chain_eid),
        ],
        order=bridge.asset_id,
        arguments={"reason": body.reason},
        always_asks=True,
    )
    facts = {
        "reason": body.reason,
        "asset_id": str(bridge.asset_id),
        "amount": str(found.amount),
        "request_id": str(request.id),
    }
    subject = ("bridge", bridge_id)
    await publish(context.session, bridge.organization_id, "bridge.return_requested", subject, None, facts)
    message = acceptance_message(request, "The packet is being dropped.")
    return BridgeReturnAccepted(bridgeId=bridge_id, status=request.status, request_id=str(request.id), message=message)


async def _checked(context: Context, bridge_id: UUID) -> Return:
    """Run the checks: 404 and 409 if there is nothing to return; both transactions are simulated and funded."""
    bridge = await _bridge(context, bridge_id)
    rules.check_returnable(bridge.status, bridge.guid, bridge.returned_at)
    await chains.check_network(context, bridge.source_chain_eid, bridge.destination_chain_eid)
    asset = await records.asset(context.session, context.organization_id, bridge.asset_id)
    names = await records.chain_names(context.session)
    try:
        return await _simulated(context, bridge, asset, names)
    except Reverted:  # by a later state than was read, such as after a delivery: only that is worth saying
        return await _simulated(context, bridge, asset, names)


async def _simulated(context: Context, bridge: BridgeRow, asset: AssetRow, names: dict[int, str]) -> Return:
    """Return what the chains say about the packet of a bridge, after simulating its return. 409 if it arrived."""
    known = (bridge.guid or "", bridge.source_chain_eid, bridge.source_tx_hash or "")
    async with db.paused(context.session):
        packet = await relayer.packet_of(*known)
        sender, amount = await relayer.burnt(*known)
        delivery = await relayer.delivery_status(*known)
    if delivery.status is DeliveryStatus.DELIVERED:
        raise Conflict("The packet was delivered in the meantime. There is nothing to return.")
    found = Return(bridge, asset.symbol, asset.decimals, packet, delivery, sender, amount, names)
    async with lost_transactions.considered(context.session, bridge.source_chain_eid, bridge.destination_chain_eid):
        await _rehearse(context, found)
    return found


async def _rehearse(context: Context, found: Return) -> None:
    packet = found.packet
    works: list[tuple[int, str, Call]] = []
    if found.delivery.status is not DeliveryStatus.DROPPED:
        works.append((packet.destination_eid, packet.receiver, token.drop_packet(packet.receiver, packet)))
    if found.amount:
        back = token.mint_back(packet.sender, packet.guid, found.sender, found.amount)
        works.append((packet.source_eid, packet.sender, back))
    for eid, at, call in works:
        async with db.paused(context.session):
            owner = await token.owner(eid, at)
        wallet = await signing_wallets.of_owner(context.session, context.organization_id, owner)
        await records.check_funded(context.session, wallet, eid, gas.CONTROL)
        async with db.paused(context.session):
            await rehearse(call.intent("rehearsal", eid=eid, signer=owner))


async def _bridge(context: Context, bridge_id: UUID) -> BridgeRow:
    query = sa.select(BridgeRow).where(
        col(BridgeRow.id) == bridge_id, col(BridgeRow.organization_id) == context.organization_id
    )
    row: BridgeRow | None = await context.session.scalar(query)
    if row is None:
        raise NotFound("There is no bridge with this ID in this organization.")
    return row


async def _check_alone(context: Context, bridge_id: UUID) -> None:
    """Raise 409 if a return of the bridge is already waiting or running."""
    query = sa.select(col(RequestRow.id)).where(
        col(RequestRow.kind) == KIND, col(RequestRow.subject_id) == bridge_id, col(RequestRow.status).not_in(FINAL)
    )
    if await context.session.scalar(query) is not None:
        raise Conflict("A return of this bridge is already running, or waits for a second person.")
