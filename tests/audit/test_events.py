"""Later outcomes are in the log too: each once, under the person who made the request."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.core import db
from backend.core.changes import Change, listen
from backend.core.db import new_id, now
from backend.core.errors import SignumError
from backend.models import (
    AssetRow,
    AttestationRow,
    BridgeRow,
    DeploymentRow,
    InvitationRow,
    IssuerRow,
    IssuerWalletRow,
    MarketRow,
    PartyRow,
    TransferRow,
    WalletRow,
)
from backend.requests import service, workflows
from backend.requests.models import RequestRow
from backend.server import sweep
from tests.conftest import World
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import UNIT, Issuance, orders_path


async def log_of(organization: UUID) -> list[Any]:
    """Return every entry, oldest first."""
    text = sa.text("select * from audit_log where organization_id = :id order by seq")
    async with db.worker() as session:
        return list((await session.execute(text, {"id": organization})).all())


async def test_issuance_is_logged_from_the_first_wallet_to_the_last_order(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset()
    market = await firm.market(asset, HYPEREVM)
    seller = await firm.treasury()
    await firm.give(HYPEREVM, seller["address"], 10**7)
    order = await firm.order(market, seller, "buy", 10**6, UNIT)
    accepted = await firm.delete(f"{orders_path(market)}/{order['id']}")
    await firm.succeed(accepted["requestId"])
    trader = await firm.trader()
    body = {"asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": seller["id"], "amount": "5"}
    sent = await firm.post("/transfers", body | {"to_address": trader["address"]})
    await firm.succeed(sent["requestId"])
    frozen = {"chain_eid": SEPOLIA, "address": trader["address"], "amount": "2", "reason": "A court asks"}
    await firm.succeed((await firm.post(f"/assets/{asset['id']}/freeze", frozen))["requestId"])
    attestation = (await firm.get("/attestations"))["attestations"][0]
    revoked = await firm.post(f"/attestations/{attestation['id']}/revoke", {"reason": "Moved away"})
    await firm.succeed(revoked["requestId"])

    log = await log_of(firm.id)
    actions = [e.action for e in log]
    assert set(actions) == {
        "chain.enabled", "wallet.created", "issuer.registering", "issuer.registered", "asset.created", "asset.deployed",
        "asset.updated", "bridge.created", "bridge.submitting", "bridge.confirmed", "market.pending_bridge",
        "market.deploying", "market.active", "order.requested", "order.placed", "order.cancelling", "order.cancelled",
        "party.created", "party.verified", "attestation.created", "attestation.active", "transfer.created",
        "transfer.submitting", "transfer.confirmed", "control.requested", "control.confirmed", "attestation.revoking",
        "attestation.revoked",
    }  # fmt: skip
    once = ("market.active", "bridge.confirmed", "order.placed", "transfer.confirmed", "control.confirmed")
    assert all(actions.count(action) == 1 for action in once)
    assert {e.actor for e in log} == {firm.admin.user_id}
    assert all(e.request_id and e.address == "127.0.0.1" for e in log)
    asked, active = (next(e for e in log if e.action == a) for a in ("market.pending_bridge", "market.active"))
    assert (active.request_id, active.credential) == (asked.request_id, "session")
    assert (active.before["status"], active.after["status"]) == ("deploying", "active")
    done = next(e for e in log if e.action == "control.confirmed")
    assert (done.after["reason"], done.after["amount"], len(done.after["tx_hashes"])) == ("A court asks", "2", 1)
    assert (await firm.get("/audit/verify"))["whole"]


async def failed(organization: UUID, kind: str, subject: UUID, **arguments: Any) -> None:
    """End a request of a kind as failed."""
    async with db.step(organization) as session:
        row: RequestRow = await service.write(
            session,
            service.Wanted(
                organization_id=organization,
                kind=kind,
                title="Lost",
                subject_type=kind.partition(".")[0],
                subject_id=subject,
                scope="assets:write",
                steps=[],
                created_by=None,
                arguments=arguments,
            ),
        )
    assert await workflows.abandon(organization, row.id, 1, SignumError("No node answers."))


async def test_failures_are_logged_with_their_reasons(world: World) -> None:
    acme = await world.organization()
    mine: dict[str, Any] = {"organization_id": acme, "chain_eid": SEPOLIA}
    asset = AssetRow(organization_id=acme, name="Fund", symbol="FND", status="deploying")
    party = PartyRow(organization_id=acme, name="Ann", country="DEU")
    wallet = WalletRow(organization_id=acme, label="Treasury", address="0x1", kind="server")
    async with db.worker() as session:
        session.add_all([asset, party, wallet])
        await session.flush()
        issuer = IssuerRow(organization_id=acme, name="Acme", max_kyc_level=1, wallet_id=wallet.id)
        bridge = BridgeRow(
            organization_id=acme, asset_id=asset.id, source_chain_eid=SEPOLIA, destination_chain_eid=HYPEREVM
        )
        market = MarketRow(**mine, asset_id=asset.id, market_factory_address="0x2")
        transfer = TransferRow(**mine, asset_id=asset.id, from_address="0x1", to_address="0x3", amount=1)
        known = {"wallet_address": "0x3", "kyc_level": 1, "country": "DEU"}
        attestation = AttestationRow(**mine, party_id=party.id, **known)
        session.add_all([issuer, bridge, market, transfer, attestation, DeploymentRow(**mine, asset_id=asset.id)])
        await session.flush()
        session.add(IssuerWalletRow(**mine, issuer_id=issuer.id, address="0x1"))
    await failed(acme, "asset.deploy", asset.id, chain_eid=SEPOLIA)
    await failed(acme, "bridge.send", bridge.id)
    await failed(acme, "market.deploy", market.id)
    await failed(acme, "transfer.send", transfer.id)
    await failed(acme, "attestation.issue", attestation.id)
    await failed(acme, "issuer.register", issuer.id, chains=[SEPOLIA])
    await failed(acme, "token.mint", asset.id)
    log = await log_of(acme)
    kinds = ("asset", "bridge", "market", "transfer", "attestation", "issuer")
    assert [e.action for e in log if e.action != "request.failed"] == [f"{kind}.failed" for kind in kinds]
    assert [e.after.get("failure") for e in log if e.action != "request.failed"] == ["No node answers."] * 5 + [None]
    assert sum(e.action == "request.failed" and e.after["problem"] == "No node answers." for e in log) == 7
    assert {(e.actor, e.credential) for e in log} == {(None, "system")}


async def test_expiry_is_logged_as_an_action_of_the_system(world: World) -> None:
    acme = await world.organization()
    past = now() - timedelta(seconds=1)
    party = PartyRow(organization_id=acme, name="Ann", country="DEU")
    invited = InvitationRow(organization_id=acme, email="a@example.com", token_hash=str(new_id()), expires_at=past)
    async with db.worker() as session:
        session.add_all([party, invited])
        await session.flush()
        attestation = AttestationRow(
            organization_id=acme,
            chain_eid=SEPOLIA,
            party_id=party.id,
            wallet_address="0x3",
            kyc_level=1,
            country="DEU",
            status="active",
            expires_at=past,
        )
        session.add(attestation)
    heard: list[Change] = []

    async def listener(session: Any, change: Change) -> None:
        if change.organization_id == acme:
            heard.append(change)

    listen(listener)
    await sweep.once()
    await sweep.once()
    answer = [(e.action, e.subject_id, e.credential) for e in await log_of(acme)]
    assert sorted(answer) == [
        ("attestation.expired", str(attestation.id), "system"),
        ("invitation.expired", str(invited.id), "system"),
    ]
    assert sorted(c.action for c in heard) == ["attestation.expired", "invitation.expired"]
