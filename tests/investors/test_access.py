"""Who may open the investor's pages, and what two investors of one organization see of each other: nothing."""

import re
from typing import Any
from uuid import uuid4

import httpx
import pytest
import sqlalchemy as sa
from eth_account import Account

from backend.client import ApiProblem
from backend.core import db
from backend.core.settings import settings
from backend.server import runtime
from tests.conftest import PASSWORD, World
from tests.investors.scene import USD, Investor, Scene
from tests.oauth.application import register
from tests.openapi.operations import CASES
from tests.support.firm import Firm, refused
from tests.support.issuance import SEPOLIA, UNIT
from tests.users.test_linked_wallets import link

MONTH = f"{db.now():%Y-%m}"
ROUTES = [
    c.path.removeprefix("/v1") + (f"?month={MONTH}" if c.path.endswith((".csv", ".pdf")) else "")
    for c in CASES
    if c.path.startswith("/v1/investor") and c.method == "get"
]
POSTED = [
    (
        c.method.upper(),
        c.path.removeprefix("/v1") + ("?kind=other" if c.path.endswith("/documents") else ""),
        c.example(),
    )
    for c in CASES
    if c.path.startswith("/v1/investor") and c.method == "post"
]


async def everything(api: Any, investor: Investor, market: Any = None) -> str:
    """Return the responses of every operation of the investor's API that reads."""
    assert len(ROUTES) >= 15
    lacks = [part for part, known in (("{marketId}", market), ("{documentId}", investor.document)) if not known]
    paths = [path for path in ROUTES if not any(part in path for part in lacks)]
    return "\n".join([await investor.text(api, path_of(path, investor, market)) for path in paths])


def path_of(path: str, investor: Investor, market: Any = None) -> str:
    """Return a path with the investor's membership, and IDs that do not exist where none is given."""
    path = path.replace("{membershipId}", str(investor.membership)).replace("{marketId}", str(market or uuid4()))
    path = path.replace("{documentId}", str(investor.document["id"] if investor.document else uuid4()))
    return re.sub(r"\{\w+\}", str(uuid4()), path)


async def test_two_investors_of_one_organization_see_nothing_of_each_other(scene: Scene, api: Any) -> None:
    for own, other in ((scene.ada, scene.ben), (scene.ben, scene.ada)):
        text = await everything(api, own, scene.market["id"])
        assert own.party["id"] in text
        assert own.wallet["address"] in text
        staff = {str(scene.firm.admin.user_id), scene.firm.admin.email, (await scene.firm.treasury())["address"]}
        email = scene.firm.admin.email
        contact = f'"contact":{{"name":"{email.partition("@")[0].title()}","email":"{email}"}}'
        assert text.count(contact) == 1, "of staff, the investor sees the person to contact"
        for mark in other.marks | staff:
            assert mark not in text.replace(contact, ""), mark


async def test_investor_sees_holdings_with_their_value_and_what_is_in_orders(scene: Scene) -> None:
    [holding] = (await scene.ada.get("/holdings"))["holdings"]
    assert (holding["symbol"], holding["total"]) == (scene.asset["symbol"], str(116 * UNIT))
    assert (holding["in_orders"], holding["frozen"], holding["available"]) == (str(6 * UNIT), "0", str(110 * UNIT))
    assert (holding["value"], holding["price"]) == (str(116 * 102 * USD), str(102 * USD))
    assert holding["since"].startswith(f"{db.now():%Y-%m}")
    [account] = holding["accounts"]
    assert (account["address"], account["chain_eid"]) == (scene.ada.wallet["address"], SEPOLIA)
    [of_ben] = (await scene.ben.get("/holdings"))["holdings"]
    assert (of_ben["total"], of_ben["in_orders"]) == (str(37 * UNIT), "0")


async def test_investor_sees_frozen_tokens(scene: Scene) -> None:
    body = {
        "chain_eid": SEPOLIA,
        "address": scene.ben.wallet["address"],
        "amount": str(7 * UNIT),
        "reason": "Court order",
    }
    accepted = await scene.firm.post(f"/assets/{scene.asset['id']}/freeze", body)
    await scene.firm.succeed(accepted["requestId"])
    [holding] = (await scene.ben.get("/holdings"))["holdings"]
    assert (holding["total"], holding["frozen"], holding["available"]) == (
        str(37 * UNIT),
        str(7 * UNIT),
        str(30 * UNIT),
    )


async def test_investor_sees_eligibility_orders_and_claims(scene: Scene) -> None:
    [place] = (await scene.ada.get("/eligibility"))["eligibility"]
    assert (place["eligible"], place["is_held"], place["is_attested_here"], place["refusals"]) == (True, True, True, [])
    assert (place["kyc_level"], place["required_kyc_level"], place["valid_until"]) == (2, 2, None)
    [order] = (await scene.ada.get("/orders"))["orders"]
    assert (order["id"], order["status"], order["filled"]) == (scene.ada.order["id"], "partial", str(4 * UNIT))
    [claim] = (await scene.ada.get("/claims"))["claims"]
    assert (claim["state"], claim["amount"], claim["name"]) == ("waiting", str(5 * UNIT), "Dividend")


async def test_others_are_refused_as_if_the_membership_did_not_exist(scene: Scene, world: World) -> None:
    stranger = await Investor.of(world, await world.organization())
    for actor in (scene.firm.admin, scene.ben.actor, stranger.actor):
        for method, path, body in [*(("GET", path, None) for path in ROUTES[1:]), *POSTED]:
            path = path_of(path, scene.ada, scene.market["id"])
            problem = await refused(actor, method, path, 404, json=body)
            assert problem.detail == "You have no investor account with this ID."
    listed = (await scene.firm.admin.call("GET", "/investor/memberships"))["memberships"]
    assert listed == []


async def test_token_of_an_investor_is_refused(world: World) -> None:
    investor = await Investor.of(world, await world.organization())
    login = {"email": investor.actor.email, "password": PASSWORD}
    token = (await world.client.call("POST", "/auth/login", json=login))["access_token"]
    for method, path, body in [*(("GET", path, None) for path in ROUTES), *POSTED]:
        with pytest.raises(ApiProblem, match="browser session"):
            await world.client.call(method, path_of(path, investor), json=body, token=token)


async def test_application_that_acts_for_an_investor_is_refused(world: World, api: Any) -> None:
    """A grant of earlier days: no one can give one in an organization where they are only a client."""
    organization = await world.organization()
    investor = await Investor.of(world, organization)
    await become(investor, "viewer")
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        application = await register(world, http, organization)
        token = (await application.sign_in(investor.actor))["access_token"]
    await become(investor, "client")
    for method, path, body in [*(("GET", path, None) for path in ROUTES), *POSTED]:
        with pytest.raises(ApiProblem, match="Applications that act for a person are not accepted"):
            await world.client.call(method, path_of(path, investor), json=body, token=token)


async def become(investor: Investor, role: str) -> None:
    async with db.worker() as session:
        values = {"role": role, "id": investor.membership}
        await session.execute(sa.text("update members set role = :role where id = :id"), values)


async def test_membership_that_is_not_an_active_clients_is_refused(world: World) -> None:
    investor = await Investor.of(world, await world.organization())
    assert (await investor.get())["parties"] == []
    for change in ("role = 'viewer'", "role = 'client', status = 'pending'"):
        async with db.worker() as session:
            await session.execute(sa.text(f"update members set {change} where id = :id"), {"id": investor.membership})
        await refused(investor.actor, "GET", f"/investor/{investor.membership}", 404)
        assert (await investor.actor.call("GET", "/investor/memberships"))["memberships"] == []


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("require_second_factor = true", "second-factor-required"),
        ("allowed_ip_ranges = '{203.0.113.0/24}'", "ip-address-not-allowed"),
    ],
)
async def test_rules_of_an_organization_above_apply_to_its_investors(world: World, rule: str, problem: str) -> None:
    top = await world.organization()
    investor = await Investor.of(world, await world.organization(parent=top))
    async with db.worker() as session:
        await session.execute(sa.text(f"update organizations set {rule} where id = :id"), {"id": top})
    found = await refused(investor.actor, "GET", f"/investor/{investor.membership}/holdings", 403)
    assert problem in str(found.type)


async def test_investor_of_two_organizations_sees_each_apart(world: World) -> None:
    investor = await Investor.of(world, (first := await Firm.found(world, "Alder")).id)
    second = await Firm.found(world, "Birch")
    async with db.worker() as session:
        insert = "insert into members (id, created_at, updated_at, organization_id, user_id, role, status)"
        row = {"id": (other := db.new_id()), "org": second.id, "person": investor.actor.user_id}
        await session.execute(sa.text(f"{insert} values (:id, now(), now(), :org, :person, 'client', 'active')"), row)
    await first.party(name="Ada at Alder", email=investor.actor.email)
    await second.party(name="Ada at Birch", email=investor.actor.email)
    assert [p["name"] for p in (await investor.get())["parties"]] == ["Ada at Alder"]
    found = await investor.actor.call("GET", f"/investor/{other}")
    assert ([p["name"] for p in found["parties"]], found["organization_name"]) == (["Ada at Birch"], "Birch")
    listed = (await investor.actor.call("GET", "/investor/memberships"))["memberships"]
    assert [m["organization_name"] for m in listed] == ["Alder", "Birch"]


async def test_party_is_found_by_email_or_by_a_proven_wallet_without_another_email(world: World) -> None:
    firm = await Firm.found(world)
    investor = await Investor.of(world, firm.id, f"kim{db.new_id().hex}@example.com")
    wallet, other = Account.create(), Account.create()
    await firm.party(name="By email", email=investor.actor.email.upper())
    await firm.party(wallet.address, name="By wallet")
    await firm.party(other.address, name="Another person's", email="someone@example.com")
    assert [p["name"] for p in (await investor.get())["parties"]] == ["By email"]
    await link(world, investor.actor, wallet)
    await link(world, investor.actor, other)
    found = await investor.get()
    assert [p["name"] for p in found["parties"]] == ["By email", "By wallet"]
    assert {a["address"]: a["is_linked"] for a in found["addresses"]} == {wallet.address: True, other.address: True}


async def test_reasons_of_a_review_are_not_shown_to_the_investor(world: World, api: Any) -> None:
    firm = await Firm.found(world)
    investor = await Investor.of(world, firm.id)
    party = await firm.party(email=investor.actor.email)
    await firm.admin.call("POST", f"/identity/parties/{party['id']}/reject", json={"reason": "Suspicion of fraud"})
    [shown] = (await investor.get())["parties"]
    assert shown["status"] == "rejected"
    assert "Suspicion" not in await everything(api, investor)


async def test_client_keeps_being_refused_by_the_organizations_api(scene: Scene) -> None:
    for path in ("", "/members", "/wallets", "/assets", f"/assets/{scene.asset['id']}/holders"):
        await refused(scene.ada.actor, "GET", f"{scene.firm.base}{path}", 403)
