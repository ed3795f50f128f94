"""Attempts against the machinery: a chain stops, a packet is refused, a reorganization, a killed server.

Each disturbs a request of the organization, and ends when the chain holds exactly what the request asked for, once.
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import records as assets
from backend.assets import transfer_check
from backend.assets.models import AssetRow, DeploymentRow
from backend.attempts.records import Record
from backend.attempts.scene import Held, Scene
from backend.bridges import service as bridges
from backend.bridges.schemas import BridgeCreate
from backend.chain import devnet_faults
from backend.chain.bindings import token
from backend.chain.devnet_faults import FaultKind
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect
from backend.compliance.rules import failures
from backend.compliance.schemas import TransferCheck
from backend.core import db
from backend.core.errors import Conflict
from backend.core.units import rounded
from backend.requests import listing
from backend.requests.accept import retry
from backend.requests.models import RequestRow, RequestStepRow
from backend.requests.schemas import FINAL, RequestStatus, StepStatus
from backend.transfers import service as transfers
from backend.transfers.models import TransferRow
from backend.transfers.schemas import TransferCreate
from backend.wallets.models import WalletRow

LOOK = 0.1
LONGEST = 90.0
"""Seconds for which a request may take to end."""
FAULT = timedelta(seconds=120)
DOWN = 4.0
"""Seconds for which the chain is stopped."""
SLOW = 4
"""Seconds between blocks while a transfer waits for one."""


@dataclass(frozen=True)
class Move:
    """A transfer that a request makes."""

    request_id: UUID
    eid: int
    token: str
    receiver: str
    amount: int
    unit: Callable[[int], str]


@dataclass(frozen=True)
class Sent:
    """One token on its way to another chain, with the supplies by chain before."""

    request_id: UUID
    held: Held
    other: int
    before: dict[int, int]

    @property
    def there(self) -> str:
        """Return the other chain's name."""
        return node_urls.EMBEDDED[self.other].display_name


async def stopped_chain(scene: Scene) -> None:
    """Stop a chain while tokens are on their way to it."""
    sent = await _bridge(scene, FaultKind.SLOW, "makes a block every second")
    other, there, request_id = sent.other, sent.there, sent.request_id
    first = await _first_step(request_id)
    await devnet_faults.begin(other, FaultKind.DOWN, FAULT, 1)
    scene.record.say(f"{there} stops, after the step “{first}”.")
    await asyncio.sleep(DOWN)
    scene.record.say(f"Without the chain, the request is {(await _request(request_id)).status}. Nothing is lost.")
    await devnet_faults.end(other)
    scene.record.say(f"{there} runs again.")
    await _succeeded(request_id)
    scene.record.right_again()
    await _arrived_once(scene.record, sent)


async def refused_packet(scene: Scene) -> None:
    """Refuse the packet of a bridge."""
    sent = await _bridge(scene, FaultKind.REFUSE_PACKETS, "refuses packets")
    other, there, request_id = sent.other, sent.there, sent.request_id
    request = await _ended(request_id)
    if request.status is not RequestStatus.FAILED:
        raise Conflict(f"The request is {request.status}, although {there} refused the packet.")
    scene.record.say(f"The request failed: {(request.problem or {}).get('detail', '')}")
    await devnet_faults.end(other)
    async with scene.acting() as context:
        await retry(context, await listing.locked(context, request_id))
    scene.record.say(f"{there} accepts packets again, and the request is retried.")
    await _succeeded(request_id)
    scene.record.right_again()
    await _arrived_once(scene.record, sent)


async def reorganization(scene: Scene) -> None:
    """Take back the block of a confirmed transfer."""
    move = await _transfer(scene)
    await _succeeded(move.request_id)
    first = (await _transactions(move.request_id))[0]
    number = int(first.block_number or 0)
    scene.record.say(f"The transfer of {move.unit(move.amount)} is confirmed in block {number}.")
    rpc = await connect(move.eid)
    depth = await rpc.height() - number + 1
    await devnet_faults.reorganize(move.eid, depth)
    now = await token.balance_of(move.eid, move.token, move.receiver)
    scene.record.say(f"A reorganization replaces {depth} {'block' if depth == 1 else 'blocks'}: the receiver has "
                     f"{move.unit(now)} again.")  # fmt: skip
    await _until(lambda: _is_mined(move), "The transfer was not sent again")
    scene.record.right_again()
    scene.record.say("Signum noticed, and sent the same signed transaction again.")
    await _moved_once(scene.record, move)


async def killed_server(scene: Scene) -> None:
    """Kill the server in the middle of a transfer; the next one continues the attempt (`continued`)."""
    held, _ = await scene.market()
    await devnet_faults.begin(held.place.eid, FaultKind.SLOW, FAULT, SLOW)
    move = await _transfer(scene)
    await _until(lambda: _is_sent(move), "The transfer was not sent")
    scene.record.say(f"The transfer of {move.unit(move.amount)} is sent and waits for a block.")
    scene.record.say("The server is killed: no goodbye, nothing saved, every connection cut.")
    die()


def die() -> None:
    """Replace this process, immediately and without any cleanup, by a new server: it has lost everything in memory.

    Not a signal, because `make run` and the terminal wait for this process.
    """
    os.execv(sys.executable, [sys.executable, "-m", "backend.cli", "serve"])  # noqa: S606


async def continued(record: Record) -> None:
    """Follow the transfer of an attempt whose server was killed, to its end."""
    record.say("The server runs again, and continues.")
    assert record.attempt.request_id is not None
    move = await _move(record.attempt.request_id)
    await _succeeded(move.request_id)
    record.right_again()
    await _moved_once(record, move)


async def _bridge(scene: Scene, fault: FaultKind, what: str) -> Sent:
    """Begin to bridge one token to another chain with a fault; `what` that chain does, in words."""
    held, other = await _on_two_chains(scene)
    before = await _supplies(held.asset.id)
    await devnet_faults.begin(other, fault, FAULT, 1)
    body = BridgeCreate(source_chain_eid=held.place.eid, destination_chain_eid=other, amount=str(held.unit))
    async with scene.acting() as context:
        made = await bridges.create(context, held.asset.id, body)
    sent = Sent(UUID(made.request_id), held, other, before)
    scene.record.disturbs(sent.request_id)
    scene.record.say(f"{held.words(held.unit)} goes from {held.chain} to {sent.there}, which {what}.")
    return sent


async def _arrived_once(record: Record, sent: Sent) -> None:
    """Note that one token left the one chain and is on the other."""
    held, before = sent.held, sent.before
    after = await _supplies(held.asset.id)
    for eid, moved in ((held.place.eid, -held.unit), (sent.other, held.unit)):
        name = f"Supply on {node_urls.EMBEDDED[eid].display_name}"
        record.fact(name, held.words(before[eid]), held.words(after[eid]), holds=after[eid] - before[eid] == moved)
    whole = sum(before.values()), sum(after.values())
    record.fact("Supply on all chains", held.words(whole[0]), held.words(whole[1]), holds=whole[0] == whole[1])


async def _on_two_chains(scene: Scene) -> tuple[Held, int]:
    """Return an asset on the chain where its treasury has most, and another chain where it is."""
    async with scene.acting() as context:
        found = sa.select(AssetRow).where(col(AssetRow.organization_id) == scene.organization_id)
        for row in list(await context.session.scalars(found.order_by(col(AssetRow.created_at)))):
            places = assets.active(await assets.deployments(context.session, row.id))
            eids = [place.chain_eid for place in places if node_urls.is_embedded(place.chain_eid)]
            if len(eids) > 1:
                both = [await scene.held(context, row, eid) for eid in eids]
                owned = [await token.balance_of(h.place.eid, h.place.token, h.treasury) for h in both]
                richest = owned.index(max(owned))
                return both[richest], next(eid for eid in eids if eid != both[richest].place.eid)
    raise Conflict("No asset is on two embedded chains. Bridge one first.")


async def _transfer(scene: Scene) -> Move:
    """Begin a transfer of one token of the treasury to the first wallet that may have it."""
    held, _ = await scene.market()
    async with scene.acting() as context:
        found = sa.select(WalletRow).where(col(WalletRow.organization_id) == scene.organization_id)
        wallets = list(await context.session.scalars(found.order_by(col(WalletRow.created_at))))
    treasury = next((wallet for wallet in wallets if wallet.address == held.treasury), None)
    receiver = await _receiver(held, [wallet.address for wallet in wallets if wallet is not treasury])
    if treasury is None or receiver is None:
        raise Conflict(f"No wallet of the organization may receive {held.asset.symbol}. Attest one first.")
    body = TransferCreate(
        asset_id=held.asset.id, chain_eid=held.place.eid, from_wallet_id=treasury.id, to_address=receiver,
        amount=str(held.unit),
    )  # fmt: skip
    before = await token.balance_of(held.place.eid, held.place.token, receiver)
    async with scene.acting() as context:
        made = await transfers.create(context, body)
    scene.record.disturbs(UUID(made.request_id), before)
    return Move(UUID(made.request_id), held.place.eid, held.place.token, receiver, held.unit, held.words)


async def _receiver(held: Held, addresses: list[str]) -> str | None:
    for address in addresses:
        asked = TransferCheck(
            chain_eid=held.place.eid, from_address=held.treasury, to_address=address, amount=str(held.unit)
        )
        if not failures((await transfer_check.verdicts_of(held.place, asked))[0]):
            return address
    return None


async def _move(request_id: UUID) -> Move:
    """Return the transfer of a request, as the tables have it."""
    async with db.worker() as session:
        row = (
            await session.execute(sa.select(TransferRow).where(col(TransferRow.request_id) == request_id))
        ).scalar_one()
        asset = await session.get_one(AssetRow, row.asset_id)
        found = sa.select(col(DeploymentRow.token_address)).where(
            col(DeploymentRow.asset_id) == asset.id, col(DeploymentRow.chain_eid) == row.chain_eid
        )
        at = str(await session.scalar(found))

    def words(amount: int) -> str:
        return f"{rounded(amount, asset.decimals)} {asset.symbol}"

    return Move(request_id, row.chain_eid, at, row.to_address, int(row.amount or 0), words)


async def _moved_once(record: Record, move: Move) -> None:
    """Note that the transfer happened exactly once."""
    before = int(record.attempt.held_before or 0)
    after = await token.balance_of(move.eid, move.token, move.receiver)
    is_right = after == before + move.amount
    record.fact("The receiver's tokens", move.unit(before), move.unit(after), holds=is_right)
    sent = len(await _transactions(move.request_id))
    record.fact("Transfers of this request on the chain", "0", str(sent), holds=sent == 1)


async def _is_sent(move: Move) -> bool:
    """Return whether the transfer's transaction was broadcast."""
    async with db.worker() as session:
        found = sa.select(col(TransactionRow.status)).where(col(TransactionRow.request_id) == move.request_id)
        return await session.scalar(found) is TransactionStatus.SUBMITTING


async def _is_mined(move: Move) -> bool:
    """Return whether the transfer's transaction is in a block of the chain, and its request has ended."""
    found = await _transactions(move.request_id)
    request = await _request(move.request_id)
    receipts = await (await connect(move.eid)).batch([("eth_getTransactionReceipt", [row.tx_hash]) for row in found])
    return bool(found) and all(receipts) and request.status is RequestStatus.SUCCEEDED


async def _supplies(asset_id: UUID) -> dict[int, int]:
    """Return the supply on each chain, read now."""
    async with db.worker() as session:
        rows = assets.active(await assets.deployments(session, asset_id))
    return {row.chain_eid: await token.total_supply(row.chain_eid, str(row.token_address)) for row in rows}


async def _transactions(request_id: UUID) -> list[TransactionRow]:
    """Return the confirmed transactions of a request."""
    async with db.worker() as session:
        found = sa.select(TransactionRow).where(
            col(TransactionRow.request_id) == request_id, col(TransactionRow.status) == TransactionStatus.CONFIRMED
        )
        return list(await session.scalars(found.order_by(col(TransactionRow.created_at))))


async def _request(request_id: UUID) -> RequestRow:
    async with db.worker() as session:
        return await session.get_one(RequestRow, request_id)


async def _first_step(request_id: UUID) -> str:
    """Wait until a step of a request has succeeded; return its title."""
    done = sa.select(col(RequestStepRow.title)).where(
        col(RequestStepRow.request_id) == request_id, col(RequestStepRow.status) == StepStatus.SUCCEEDED
    )
    ends = time.monotonic() + LONGEST
    while time.monotonic() < ends:
        async with db.worker() as session:
            if (title := await session.scalar(done.limit(1))) is not None:
                return str(title)
        await asyncio.sleep(LOOK)
    raise Conflict("No step of the request succeeded in time.")


async def _ended(request_id: UUID) -> RequestRow:
    ends = time.monotonic() + LONGEST
    while (request := await _request(request_id)).status not in FINAL:
        if time.monotonic() > ends:
            raise Conflict(f"The request is still {request.status} after {LONGEST:.0f} seconds.")
        await asyncio.sleep(LOOK)
    return request


async def _succeeded(request_id: UUID) -> None:
    request = await _ended(request_id)
    if request.status is not RequestStatus.SUCCEEDED:
        raise Conflict(f"The request {request.status}: {(request.problem or {}).get('detail', '')}")


async def _until(holds: Callable[[], Awaitable[bool]], otherwise: str) -> None:
    ends = time.monotonic() + LONGEST
    while not await holds():
        if time.monotonic() > ends:
            raise Conflict(f"{otherwise} within {LONGEST:.0f} seconds.")
        await asyncio.sleep(LOOK)
