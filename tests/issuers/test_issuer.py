"""Registration as an issuer: both credentials, every enabled chain, and the lineage above."""

from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa

from backend import db, runtime, workflows
from backend.auth.scopes import Scope
from backend.chain import endpoints, registry
from backend.chain.codec import organization_key
from backend.chain.deployment import contracts_of
from backend.client import ApiProblem
from backend.issuers.workflow import follow_move, register
from backend.models import RequestRow, TransactionRow
from backend.settings import settings
from backend.workflows import Run
from tests.conftest import World
from tests.firm import BASE, HYPEREVM, SEPOLIA, Firm


async def parent_on(eid: int, organization: UUID) -> int:
    """The parent's key on a chain, as a number."""
    return int(await registry.parent_of(eid, (await contracts_of(eid)).registry, organization), 16)


def key_of(organization: UUID) -> int:
    return int.from_bytes(organization_key(organization))


async def place(organization: UUID, parent: UUID) -> None:
    """Put an organization below another one, in the database only."""
    async with db.worker() as session:
        values = {"parent": parent, "id": organization}
        await session.execute(sa.text("update organizations set parent_id = :parent where id = :id"), values)


async def run_of(request_id: str) -> Run:
    """The run a request's workflow has."""
    async with db.worker() as session:
        row = await session.get_one(RequestRow, UUID(request_id))
    return Run(row.organization_id, row.id, row.subject_id, row.arguments, row.attempt)


async def test_both_credentials_are_wanted(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    path = f"{firm.base}/issuer/register"
    person, wrong = {"cookie": firm.admin.cookie}, {"headers": await world.key(firm.id, Scope.ATTESTATIONS_READ)}
    for credentials, status in (
        (person, 401),
        ({"headers": firm.key}, 401),
        (person | wrong, 403),
        (person | {"headers": other.key}, 403),
        ({"cookie": other.admin.cookie, "headers": firm.key}, 403),
        ({}, 401),
    ):
        with pytest.raises(ApiProblem) as raised:
            # A body that does not fit is not even looked at before the credentials are.
            await world.client.call("POST", path, json={"max_kyc_level": "x"}, **credentials)
        assert raised.value.status == status, credentials


async def test_the_token_of_a_client_and_its_key_are_both_credentials(world: World, api: Any) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    key = firm.key["x-api-key"]
    form = {"grant_type": "client_credentials", "client_id": str(firm.id), "client_secret": key}
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        token = (await http.post("/v1/oauth/token", data=form)).json()["access_token"]
    path = f"{firm.base}/issuer/register"
    with pytest.raises(ApiProblem) as alone:
        await world.client.call("POST", path, json={}, headers=firm.key | {"authorization": f"Bearer {key}"})
    assert alone.value.status == 401
    registered = await world.client.call("POST", path, json={"max_kyc_level": None}, token=token, headers=firm.key)
    await firm.settle((await firm.get("/issuer"))["request_id"])
    assert "registered" in registered
    assert (await firm.get("/issuer"))["max_kyc_level"] == 3


async def test_without_wallet_or_chain_nothing_is_registered(world: World) -> None:
    firm = await Firm.found(world)
    assert "wallet" in (await firm.refused("POST", "/issuer/register", 400, headers=firm.key)).detail
    await firm.post("/wallets", {"label": "Treasury"})
    assert "chain" in (await firm.refused("POST", "/issuer/register", 400, headers=firm.key)).detail
    await firm.refused("GET", "/issuer", 404)


@pytest.mark.parametrize(
    "body",
    [
        {"max_kyc_level": 0},
        {"max_kyc_level": 256},
        {"max_kyc_level": 1.5},
        {"max_kyc_level": "3"},
        {"name": "<script>alert(1)</script>"},
        {"can_revoke_others": "perhaps"},
        {"wallet": "x"},
    ],
)
async def test_bad_input_is_a_422_and_writes_nothing(world: World, body: dict[str, Any]) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    problem = await firm.refused("POST", "/issuer/register", 422, headers=firm.key, json=body)
    assert problem.by_field().keys() == body.keys()
    await firm.refused("GET", "/issuer", 404)


async def test_registration_reaches_the_chain_and_repeating_it_completes_new_chains(world: World) -> None:
    firm = await Firm.issuing(world, SEPOLIA)
    issuer = await firm.get("/issuer")
    wallet = (await firm.get("/wallets"))["wallets"][0]
    assert (issuer["name"], issuer["max_kyc_level"], issuer["can_revoke_others"]) == ("Acme", 3, False)
    shown = [(w["chain_eid"], w["address"], w["status"]) for w in issuer["wallets"]]
    assert shown == [(SEPOLIA, wallet["address"], "registered")]
    assert issuer["wallets"][0]["tx_hash"].startswith("0x")
    told = await registry.attester(SEPOLIA, (await contracts_of(SEPOLIA)).registry, wallet["address"])
    assert (told.active, told.max_kyc_level, told.name) == (True, 3, "Acme")
    assert int(told.organization_key, 16) == key_of(firm.id)

    assert await firm.register() == {"registered": True}
    assert (await firm.get("/issuer"))["request_id"] == issuer["request_id"]
    await firm.enable(BASE)
    assert await firm.register() == {"registered": False}
    again = await firm.get("/issuer")
    assert {w["chain_eid"]: w["status"] for w in again["wallets"]} == {SEPOLIA: "registered", BASE: "registered"}
    request = await firm.get(f"/requests/{again['request_id']}")
    assert [(s["chain_eid"], s["status"]) for s in request["steps"]] == [(BASE, "succeeded")]
    assert await firm.register() == {"registered": True}


async def test_new_terms_are_written_again_and_what_is_left_out_stays(world: World) -> None:
    firm = await Firm.issuing(world)
    assert await firm.register(max_kyc_level=2, can_revoke_others=True) == {"registered": False}
    assert await firm.register(name="Acme Compliance") == {"registered": False}
    issuer = await firm.get("/issuer")
    assert (issuer["name"], issuer["max_kyc_level"], issuer["can_revoke_others"]) == ("Acme Compliance", 2, True)
    at = (await contracts_of(SEPOLIA)).registry
    told = await registry.attester(SEPOLIA, at, issuer["wallets"][0]["address"])
    assert (told.name, told.max_kyc_level, told.can_revoke_others) == ("Acme Compliance", 2, True)


async def test_a_chain_that_is_down_keeps_no_other_back_and_is_retried(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.found(world)
    for eid in (HYPEREVM, SEPOLIA):
        await firm.enable(eid)
    await firm.post("/wallets", {"label": "Treasury"})
    with monkeypatch.context() as down:
        down.setitem(endpoints._running, HYPEREVM, "http://127.0.0.1:9")
        down.setattr(workflows, "PATIENCE", 1.0)
        await firm.register()
    issuer = await firm.get("/issuer")
    assert {w["chain_eid"]: w["status"] for w in issuer["wallets"]} == {SEPOLIA: "registered", HYPEREVM: "failed"}
    request = await firm.get(f"/requests/{issuer['request_id']}")
    assert (request["status"], request["problem"]["status"], request["can_retry"]) == ("failed", 503, True)
    await firm.post(f"/requests/{issuer['request_id']}/retry")
    assert (await firm.settle(issuer["request_id"], 2))["status"] == "succeeded"
    assert {w["status"] for w in (await firm.get("/issuer"))["wallets"]} == {"registered"}


async def test_a_run_that_is_repeated_sends_nothing_twice(world: World) -> None:
    firm = await Firm.issuing(world)
    before = await firm.get("/issuer")
    await register(await run_of(before["request_id"]))
    assert await firm.get("/issuer") == before
    async with db.worker() as session:
        count = (
            sa.select(sa.func.count())
            .select_from(TransactionRow)
            .where(
                TransactionRow.key.startswith(before["request_id"])  # type: ignore[attr-defined]
            )
        )
        assert await session.scalar(count) == 1


async def test_the_lineage_is_written_up_the_path_and_follows_a_move(world: World) -> None:
    top, middle = await world.organization("Top"), await world.organization("Elsewhere")
    inner = await world.organization("Inner", top)
    firm = await Firm.issuing(world, SEPOLIA, BASE, name="Leaf", parent=inner)
    for eid in (SEPOLIA, BASE):
        assert await parent_on(eid, firm.id) == key_of(inner)
        assert await parent_on(eid, inner) == key_of(top)
    assert await parent_on(HYPEREVM, firm.id) == 0

    await place(firm.id, middle)
    await place(middle, inner)
    run = Run(top, db.new_id(), firm.id, {}, 1)
    await follow_move(run)
    await follow_move(run)
    for eid in (SEPOLIA, BASE):
        above = [await parent_on(eid, o) for o in (firm.id, middle, inner)]
        assert above == [key_of(middle), key_of(inner), key_of(top)]
    assert await parent_on(HYPEREVM, firm.id) == 0


async def test_what_was_above_can_come_below(world: World) -> None:
    """The chain still has the old order; it must not look like a cycle."""
    top = await world.organization("Top")
    upper = await Firm.issuing(world, SEPOLIA, name="Upper", parent=top)
    lower = await Firm.issuing(world, SEPOLIA, name="Lower", parent=upper.id)
    await place(lower.id, top)
    await place(upper.id, lower.id)
    await follow_move(Run(top, db.new_id(), upper.id, {}, 1))
    assert await parent_on(SEPOLIA, upper.id) == key_of(lower.id)
    assert await parent_on(SEPOLIA, lower.id) == key_of(top)


async def test_another_organization_sees_nothing_of_it(world: World) -> None:
    firm, other = await Firm.issuing(world), await Firm.found(world, "Other")
    with pytest.raises(ApiProblem) as raised:
        await other.admin.call("GET", f"{firm.base}/issuer")
    assert raised.value.status == 403
    await other.refused("GET", "/issuer", 404)


async def test_registrations_that_the_operator_pays_have_a_limit(world: World, limits: None) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    for number in range(20):
        await firm.post("/issuer/register", {"name": f"Issuer {number}"}, headers=firm.key)
    problem = await firm.refused("POST", "/issuer/register", 429, json={"name": "One more"}, headers=firm.key)
    assert problem.type.endswith("blank")
    await firm.settle((await firm.get("/issuer"))["request_id"])
    assert (await firm.get("/issuer"))["name"] == "Issuer 19"
