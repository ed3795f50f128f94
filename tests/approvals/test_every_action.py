"""Every action that may need a second person: an approval is refused where the same call would execute another value.

An action without a story here fails the test: what it executes would be approved unseen.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel, col

from backend.core import db
from backend.core.db import new_id
from backend.models import RequestRow
from backend.requests.schemas import Action
from tests.approvals.second_person import WHY, approve, deny, path_of
from tests.conftest import Actor, World
from tests.support.firm import BASE, SEPOLIA, refused
from tests.support.issuance import UNIT, Issuance, asset_body, orders_path

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
OWN = {
    Action.ASSET_DEPLOY: {"name", "symbol", "initial_supply", "compliance_rules", "required_kyc_level"},
    Action.BRIDGE: {"source_chain_eid", "destination_chain_eid", "amount", "to_address"},
    Action.MARKET_DEPLOY: {"min_kyc_level", "requires_accreditation", "blocked_countries", "taker_fee_bps"},
    Action.ORDER_PLACE: {"price", "amount", "maker_address"},
    Action.ATTEST: {"wallet_address", "kyc_level", "accredited", "country", "expires_at"},
    Action.TRANSFER: {"chain_eid", "from_address", "to_address", "amount"},
}
"""Columns of the records that actions create. They have to be compared."""


class Stage:
    """A firm with something for every action to act on."""

    def __init__(self, firm: Issuance, second: Actor) -> None:
        self.firm, self.second = firm, second
        self.asset: Any = None
        self.trader: Any = None
        self.market: Any = None
        self.order: Any = None
        self.draft: Any = None
        self.party: Any = None
        self.attestation: Any = None
        self.member = ""

    @classmethod
    async def ready(cls, world: World) -> "Stage":
        firm = await Issuance.ready(world, SEPOLIA, BASE)
        stage = cls(firm, await world.person(firm.id))
        other = await world.person(firm.id)
        members = (await firm.get("/members"))["members"]
        stage.member = next(m["id"] for m in members if m["user"]["id"] == str(other.user_id))
        stage.asset = await firm.asset(max_holders=100)
        body = {"destination_chain_eid": BASE, "amount": str(UNIT)}
        await firm.succeed((await firm.post(f"/assets/{stage.asset['id']}/bridge", body))["requestId"])
        stage.trader = await firm.trader()
        await stage.control("mint", {"to_address": stage.trader["address"], "amount": str(100 * UNIT)})
        stage.market = await firm.market(stage.asset)
        stage.order = await firm.order(stage.market, stage.trader, "sell", 10**6, UNIT)
        stage.party = await firm.verified(WALLET)
        stage.attestation = await firm.attest(await firm.verified("0x8617E340B3D01FA5F11F306F4090FD50E238070D"))
        terms = {"name": "Q1", "chain_eid": SEPOLIA, "recipients": [{"address": WALLET, "amount": "5"}]}
        stage.draft = await firm.post(f"/assets/{stage.asset['id']}/distributions", terms)
        await firm.patch("", {"approvals": list(Action)})
        return stage

    async def control(self, name: str, body: dict[str, Any]) -> Any:
        """Run a control before approvals are required."""
        accepted = await self.firm.post(f"/assets/{self.asset['id']}/{name}", {"chain_eid": SEPOLIA, **body})
        return await self.firm.succeed(accepted["requestId"])

    async def ask(self, action: Action) -> Any:
        """Request an action; return the approval that it waits for."""
        method, path, body = await STORIES[action](self)
        await self.firm.admin.call(method, f"{self.firm.base}{path}", json=body)
        (approval,) = (await self.firm.get("/approvals", params={"status": "pending"}))["approvals"]
        assert approval["action"] == action
        return approval


Story = Callable[[Stage], Awaitable[tuple[str, str, Any]]]


def control(name: str, **body: Any) -> Story:
    """Return the story of a control of the asset."""

    async def told(stage: Stage) -> tuple[str, str, Any]:
        given = {key: value(stage) if callable(value) else value for key, value in body.items()}
        return "POST", f"/assets/{stage.asset['id']}/{name}", given

    return told


def at_trader(stage: Stage) -> str:
    """Return the trader's address."""
    return str(stage.trader["address"])


async def deploy_asset(_: Stage) -> tuple[str, str, Any]:
    return "POST", "/assets", asset_body()


async def update_asset(stage: Stage) -> tuple[str, str, Any]:
    return "PATCH", f"/assets/{stage.asset['id']}", {"compliance_rules": {"blocked_countries": ["PRK"]}}


async def share_caps(stage: Stage) -> tuple[str, str, Any]:
    shares = [{"chain_eid": SEPOLIA, "max_holders": 60}, {"chain_eid": BASE, "max_holders": 40}]
    return "POST", f"/assets/{stage.asset['id']}/cap-shares", {"shares": shares, "reason": WHY}


async def deploy_market(stage: Stage) -> tuple[str, str, Any]:
    return "POST", f"/assets/{stage.asset['id']}/markets", await stage.firm.market_body(BASE)


async def place_order(stage: Stage) -> tuple[str, str, Any]:
    body = {"side": "sell", "price": "1000000", "amount": str(UNIT), "wallet_id": stage.trader["id"]}
    return "POST", orders_path(stage.market), body


async def cancel_order(stage: Stage) -> tuple[str, str, Any]:
    return "DELETE", f"{orders_path(stage.market)}/{stage.order['id']}", None


async def attest(stage: Stage) -> tuple[str, str, Any]:
    return "POST", "/attestations", {"party_id": stage.party["id"], "chain_eid": SEPOLIA}


async def revoke(stage: Stage) -> tuple[str, str, Any]:
    return "POST", f"/attestations/{stage.attestation['id']}/revoke", {"reason": WHY}


async def activate(stage: Stage) -> tuple[str, str, Any]:
    terms = {"chainEid": SEPOLIA, "merkleRoot": stage.draft["merkle_root"], "totalRecipients": 1}
    return "POST", f"/assets/{stage.asset['id']}/distributions/{stage.draft['id']}/activate", terms


async def cancel(stage: Stage) -> tuple[str, str, Any]:
    return "POST", f"/assets/{stage.asset['id']}/distributions/{stage.draft['id']}/cancel", None


async def transfer(stage: Stage) -> tuple[str, str, Any]:
    treasury = await stage.firm.treasury()
    wallets = {"from_wallet_id": treasury["id"], "to_address": stage.trader["address"]}
    return "POST", "/transfers", {"asset_id": stage.asset["id"], "chain_eid": SEPOLIA, "amount": "5", **wallets}


async def change_role(stage: Stage) -> tuple[str, str, Any]:
    return "PATCH", f"/members/{stage.member}", {"role": "viewer"}


async def remove_member(stage: Stage) -> tuple[str, str, Any]:
    return "DELETE", f"/members/{stage.member}", None


ON, PATH = {"chain_eid": SEPOLIA}, {"source_chain_eid": SEPOLIA, "destination_chain_eid": BASE, "reason": WHY}
STORIES: dict[Action, Story] = {
    Action.ASSET_DEPLOY: deploy_asset,
    Action.ASSET_UPDATE: update_asset,
    Action.SHARE_CAPS: share_caps,
    Action.ATTEST: attest,
    Action.MINT: control("mint", **ON, to_address=at_trader, amount="7"),
    Action.BURN: control("burn", **ON, address=at_trader, amount="7", reason=WHY),
    Action.FREEZE: control("freeze", **ON, address=at_trader, amount="7", reason=WHY),
    Action.UNFREEZE: control("unfreeze", **ON, address=at_trader, reason=WHY),
    Action.FORCED_TRANSFER: control(
        "forced-transfer", **ON, from_address=at_trader, to_address=WALLET, amount="7", reason=WHY
    ),
    Action.RECOVER: control("recover", **ON, lost_address=at_trader, new_address=WALLET, reason=WHY),
    Action.LIMIT_PATH: control("limit-path", **PATH, amount=str(UNIT)),
    Action.BRIDGE: control("bridge", destination_chain_eid=BASE, amount=str(UNIT), to_address=at_trader),
    Action.PAUSE_PATH: control("pause-path", **PATH),
    Action.UNPAUSE_PATH: control("unpause-path", **PATH),
    Action.MARKET_DEPLOY: deploy_market,
    Action.ORDER_PLACE: place_order,
    Action.ORDER_CANCEL: cancel_order,
    Action.REVOKE: revoke,
    Action.DISTRIBUTION_ACTIVATE: activate,
    Action.DISTRIBUTION_CANCEL: cancel,
    Action.TRANSFER: transfer,
    Action.MEMBER_CHANGE_ROLE: change_role,
    Action.MEMBER_REMOVE: remove_member,
    Action.PAUSE: control("pause", reason=WHY),
    Action.UNPAUSE: control("unpause", reason=WHY),
}
"""The calls, in an order in which each is possible."""
BEFORE = {Action.FREEZE, Action.PAUSE, Action.PAUSE_PATH, Action.ATTEST}
"""Actions that a later one needs. They are then approved as requested."""


async def alter(request_id: str) -> set[str]:
    """Let a waiting request have been resolved to other values; return their names."""
    async with db.worker() as session:
        one = {"id": request_id}
        row = (await session.execute(sa.text("select * from requests where id = :id"), one)).one()
        arguments = {k: v for k, v in row.arguments.items() if k not in ("order", "lineage", "waits_because")}
        await session.execute(sa.text("update requests set title = title || ' x' where id = :id"), one)
        await session.execute(sa.text("update request_steps set title = title || ' x' where request_id = :id"), one)
        await session.execute(
            sa.update(RequestRow)
            .where(col(RequestRow.id) == row.id)
            .values(arguments=row.arguments | {name: _other(value) for name, value in arguments.items()})
        )
        columns = await _alter_record(session, row)
    return {"title", "steps", *arguments, *columns}


async def _alter_record(session: Any, row: Any) -> set[str]:
    table = SQLModel.metadata.tables.get(f"{row.subject_type}s")
    wanted = OWN.get(row.kind, set())
    if table is None or not wanted:
        return set()
    found = (await session.execute(sa.select(table).where(table.c.id == row.subject_id))).one()._mapping
    values = {name: _other(found[name]) for name in wanted - {"expires_at"}}
    if "expires_at" in wanted:
        values["expires_at"] = found["created_at"]
    await session.execute(sa.update(table).where(table.c.id == row.subject_id).values(values))
    return wanted


def _other(value: Any) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, dict | list):
        return {"altered": True} if isinstance(value, dict) else ["ZZZ"]
    is_id = isinstance(value, str) and len(value) == len(str(new_id())) and value.count("-") == 4
    return str(new_id()) if is_id else f"{value or ''}x"


@pytest.mark.long
async def test_every_action_is_refused_where_its_values_changed(world: World) -> None:
    assert set(STORIES) == set(Action)
    stage = await Stage.ready(world)
    for action in STORIES:
        approval = await stage.ask(action)
        altered = await alter(approval["request_id"])
        problem = await refused(stage.second, "POST", path_of(stage.firm, approval, "approve"), 409)
        named = {entry["state"] for entry in problem.prerequisites}
        assert named == altered, action
        assert (await deny(stage.firm, stage.second, approval))["status"] == "denied"
        if action in BEFORE:
            again = await stage.ask(action)
            assert (await approve(stage.firm, stage.second, again))["status"] == "succeeded", action
