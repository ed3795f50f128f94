"""An approval shows every argument of the call that it approves."""

from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel, SecretStr

from backend.auth import rehearsal
from backend.auth.calls import Call
from backend.auth.scopes import Scope
from backend.client import SignumClient
from backend.core import db
from backend.core.db import new_id, now
from backend.models import ApprovalRow
from backend.requests import service as requests
from backend.requests.schemas import Action, ApprovalStatus, RequestStatus
from backend.users.schemas import Role
from tests.approvals.second_person import path_of
from tests.conftest import Actor, World
from tests.support.firm import BASE, SEPOLIA, Firm

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
ID = "01890a5d-ac96-774b-bcce-b302099a8057"
WHY = "Court order 7"
AMOUNT = {"amount": "5000000000000000000", "reason": WHY}
RULES = {
    "requires_accreditation": True,
    "blocked_countries": ["PRK"],
    "lockup_end_time": 1_900_000_000,
    "max_tokens_per_holder": "7000000000000000000",
}
PATH = {"source_chain_eid": SEPOLIA, "destination_chain_eid": BASE, "reason": WHY}
SHARES = [{"chain_eid": SEPOLIA, "max_holders": 99, "max_tokens_per_holder": "7000000000000000000"}]
ASSET = {"name": "Pier Fund", "regulation_type": "reg_s", "required_kyc_level": 2, "max_holders": 99}
BODIES: dict[str, tuple[str, dict[str, Any] | None]] = {
    Action.ASSET_DEPLOY: (
        "create_asset",
        ASSET
        | {"symbol": "PIER", "chain_eid": SEPOLIA, "description": "A pier", "decimals": 6, "initial_supply": "1500000"}
        | {"compliance_rules": RULES | {"trusted_issuers": [OTHER]}, "org_only": True, "nominal_value": "12.50"},
    ),
    Action.ASSET_UPDATE: (
        "update_asset",
        ASSET
        | {"description": "A pier", "compliance_rules": RULES | {"trusted_issuers": [OTHER]}, "org_only": True}
        | {"orders": "cancel", "nominal_value": "12.50", "reason": "The board has resolved it."},
    ),
    Action.SHARE_CAPS: ("share_caps", {"shares": SHARES, "reason": WHY}),
    Action.MINT: ("mint", AMOUNT | {"chain_eid": SEPOLIA, "to_address": ADDRESS}),
    Action.BURN: ("burn", AMOUNT | {"chain_eid": SEPOLIA, "address": ADDRESS}),
    Action.PAUSE: ("pause", {"chain_eid": SEPOLIA, "reason": WHY}),
    Action.UNPAUSE: ("unpause", {"chain_eid": SEPOLIA, "reason": WHY}),
    Action.FREEZE: ("freeze", AMOUNT | {"chain_eid": SEPOLIA, "address": ADDRESS}),
    Action.UNFREEZE: ("unfreeze", AMOUNT | {"chain_eid": SEPOLIA, "address": ADDRESS}),
    Action.FORCED_TRANSFER: (
        "forced_transfer",
        AMOUNT | {"chain_eid": SEPOLIA, "from_address": ADDRESS, "to_address": OTHER},
    ),
    Action.RECOVER: (
        "recover",
        {"chain_eid": SEPOLIA, "lost_address": ADDRESS, "new_address": OTHER, "reason": WHY},
    ),
    Action.PAUSE_PATH: ("pause_path", PATH),
    Action.UNPAUSE_PATH: ("unpause_path", PATH),
    Action.LIMIT_PATH: ("limit_path", PATH | AMOUNT | {"window_seconds": 7_200}),
    Action.BRIDGE: (
        "bridge_asset",
        {"source_chain_eid": SEPOLIA, "destination_chain_eid": BASE, "amount": "5000000", "to_address": ADDRESS}
        | {"expected_caps": SHARES, "expected_plan": "9c1f0a37d2be4f5aa8e36b70cd914e22", "max_fee": "5000000"},
    ),
    Action.MARKET_DEPLOY: (
        "deploy_market",
        RULES
        | {"chain_eid": SEPOLIA, "market_factory_address": ADDRESS, "rwa_token_address": OTHER}
        | {"bridge_amount": "5000000000000000000", "regulation_type": "reg_s", "min_kyc_level": 2, "max_holders": 99}
        | {"taker_fee_bps": 5_000, "maker_fee_bps": 25}
        | {"expected_caps": SHARES},
    ),
    Action.ORDER_PLACE: ("place_order", {"side": "sell", "price": "1", "amount": "5000000", "wallet_id": ID}),
    Action.ORDER_CANCEL: ("cancel_order", None),
    Action.ATTEST: (
        "create_attestation",
        {"party_id": ID, "chain_eid": SEPOLIA, "kyc_level": 2, "accredited": True}
        | {"expires_at": "2031-01-02T03:04:05Z"},
    ),
    Action.REVOKE: ("revoke_attestation", {"reason": WHY}),
    Action.DISTRIBUTION_ACTIVATE: (
        "activate_distribution",
        {"chainEid": SEPOLIA, "merkleRoot": "0x" + "1a" * 32, "totalRecipients": 12},
    ),
    Action.DISTRIBUTION_CANCEL: ("cancel_distribution", None),
    Action.TRANSFER: (
        "create_transfer",
        {"asset_id": ID, "chain_eid": SEPOLIA, "from_wallet_id": ID, "to_address": ADDRESS, "amount": "5000000"},
    ),
    Action.MEMBER_CHANGE_ROLE: ("change_member", {"role": "admin"}),
    Action.MEMBER_REMOVE: ("remove_member", None),
    "member.add": (
        "add_member",
        {"user_id": ID, "wallet_address": ADDRESS, "chain_eid": SEPOLIA, "role": "admin"}
        | {"email": "clara.weiss@acme.example", "display_name": "Dr. Clara Weiss"},
    ),
    "member.invite": ("invite", {"email": "clara.weiss@acme.example", "role": "admin"}),
    "organization.approvals": (
        "change_approval_policy",
        {"approvals": ["token.mint"], "approver_wait_hours": 5, "require_second_factor": True}
        | {"allowed_ip_ranges": ["203.0.113.0/24"]},
    ),
    "asset.limits": (
        "update_daily_limits",
        {"mint": "5000000", "transfer": "6000000", "burn": "7000000", "forced_transfer": "8000000"},
    ),
    "bridge.return": ("return_bridge", {"reason": WHY}),
}
"""A body with every field, for each action that can wait."""


def body_model(operation: str) -> type[BaseModel] | None:
    """Return the body of an operation that can wait."""
    found = get_type_hints(rehearsal._endpoints[operation]).get("body")
    assert found is None or issubclass(found, BaseModel)
    return found


def leaves(value: Any, name: str = "") -> dict[str, Any]:
    """Return the values of a body by their names: `compliance_rules.max_tokens_per_holder`."""
    if not isinstance(value, dict):
        return {name: value}
    return {n: v for part, one in value.items() for n, v in leaves(one, f"{name}.{part}" if name else part).items()}


async def stored(firm: Firm, kind: str, operation: str, path: dict[str, str], body: Any) -> Any:
    """Return an approval of a call. It is decided, because the check of a waiting one needs the records of the call."""
    async with db.transaction(firm.id) as session:
        row = await requests.write(
            session,
            requests.Wanted(
                organization_id=firm.id,
                kind=kind,
                title="A request",
                subject_type="asset",
                subject_id=new_id(),
                scope=Scope.ASSETS_WRITE,
                steps=[],
                created_by=firm.admin.user_id,
                arguments={"order": "x"},
            ),
        )
        row.status = RequestStatus.DENIED
        call = Call(operation, {"orgId": str(firm.id)} | path, body).stored()
        approval = ApprovalRow(
            organization_id=firm.id,
            request_id=row.id,
            call=call,
            status=ApprovalStatus.DENIED,
            asked_by=firm.admin.user_id,
            expires_at=now().replace(year=now().year + 1),
        )
        session.add(approval)
        await session.flush()
        return {"id": str(approval.id)}


async def shown(firm: Firm, actor: Actor, approval: Any) -> dict[str, Any]:
    """Return the arguments that an approver is shown, by name."""
    detail = await actor.call("GET", path_of(firm, approval))
    return {one["name"]: one for one in detail["arguments"]}


def test_every_action_that_can_wait_has_a_body_here(client: SignumClient) -> None:
    assert set(Action) <= set(BODIES)
    for operation, body in BODIES.values():
        model = body_model(operation)
        assert set(body or {}) == set(model.model_fields if model else {}), operation


def test_bodies_of_calls_that_are_shown_have_no_secrets(client: SignumClient) -> None:
    for operation, _ in BODIES.values():
        fields = model.model_fields if (model := body_model(operation)) else {}
        for name, field in fields.items():
            assert field.annotation is not SecretStr
            assert name not in ("password", "secret", "token", "key", "code"), operation


@pytest.mark.parametrize("action", BODIES)
async def test_approval_shows_every_field_of_the_call(world: World, action: str) -> None:
    firm = await Firm.found(world)
    second = await world.person(firm.id)
    operation, body = BODIES[action]
    approval = await stored(firm, action, operation, {}, body)
    found = await shown(firm, second, approval)
    for name, value in leaves(body or {}).items():
        assert found[name]["value"] == value
        assert found[name]["label"]
        assert found[name]["text"]
    viewer = await world.person(firm.id, Role.VIEWER)
    assert (await viewer.call("GET", path_of(firm, approval)))["arguments"] == []


async def test_omitted_fields_are_shown_with_their_defaults(world: World) -> None:
    firm = await Firm.found(world)
    second = await world.person(firm.id)
    body = {"chain_eid": SEPOLIA, "market_factory_address": ADDRESS, "taker_fee_bps": 5_000}
    found = await shown(firm, second, await stored(firm, "market.deploy", "deploy_market", {}, body))
    assert [found[name]["text"] for name in ("taker_fee_bps", "maker_fee_bps")] == ["50%", "0%"]
    assert "min_kyc_level" not in found, "it comes from the asset; the plan shows it"


async def test_approval_names_wallets_and_parties_and_shows_units(world: World) -> None:
    firm = await Firm.found(world)
    second = await world.person(firm.id)
    own = await firm.post("/wallets", {"label": "Treasury"})
    linked = await firm.post("/wallets", {"label": "Treasury 2", "address": OTHER})
    party = await firm.verified(ADDRESS)
    unknown = "0xde709f2102306220921060314715629080e2fb77"

    async def text(address: str) -> str:
        body = {"destination_chain_eid": BASE, "amount": "0", "to_address": address}
        found = await shown(firm, second, await stored(firm, "bridge.send", "bridge_asset", {}, body))
        return str(found["to_address"]["text"])

    assert await text(own["address"]) == f'own wallet "Treasury" ({own["address"]})'
    assert await text(linked["address"]) == f'linked wallet "Treasury 2", whose key Signum does not hold ({OTHER})'
    assert await text(ADDRESS) == f"party Marta Lindqvist ({ADDRESS})"
    assert await text(unknown) == f"unknown wallet ({unknown})"
    body = {"side": "sell", "price": "1", "amount": "5", "wallet_id": own["id"]}
    found = await shown(firm, second, await stored(firm, "order.place", "place_order", {}, body))
    assert found["wallet_id"]["text"] == f"Treasury, {own['address']}"
    body = {"party_id": party["id"], "chain_eid": SEPOLIA}
    found = await shown(firm, second, await stored(firm, "attestation.issue", "create_attestation", {}, body))
    assert found["party_id"]["text"] == f"Marta Lindqvist, SWE, {ADDRESS}"
    assert found["chain_eid"]["text"] == (await firm.chain(SEPOLIA))["display_name"]
    new = {"symbol": "PIER", "name": "Pier", "chain_eid": SEPOLIA, "decimals": 6, "initial_supply": "1500000"}
    found = await shown(firm, second, await stored(firm, "asset.deploy", "create_asset", {}, new))
    assert found["initial_supply"]["text"] == "1.5 PIER"


async def test_added_member_is_shown_by_wallet_and_the_name_as_the_requesters(world: World) -> None:
    firm = await Firm.found(world)
    second = await world.person(firm.id)
    await firm.patch("", {"approvals": ["token.mint"]})
    body = {"wallet_address": ADDRESS, "display_name": "Dr. Clara Weiss", "email": "clara@acme.example"}
    await firm.post("/members", body | {"role": "admin"})
    [approval] = (await firm.get("/approvals", params={"status": "pending"}))["approvals"]
    assert approval["title"] == f"Add the owner of {ADDRESS[:6]}…{ADDRESS[-4:]} as an admin"
    found = await shown(firm, second, approval)
    assert found["wallet_address"]["text"] == f"unknown wallet ({ADDRESS})"
    assert found["display_name"]["text"] == "Dr. Clara Weiss (written by the requester, not confirmed)"
    assert found["email"]["text"] == "clara@acme.example (written by the requester, not confirmed)"
    impact = (await second.call("GET", path_of(firm, approval)))["plan"]["impact"]
    assert (impact["user_id"], impact["wallet_address"]) == (None, ADDRESS)
