"""Test funds: paid once, to the organization's own server wallets, on embedded chains; an order that lacks them names
the call that pays them."""

import asyncio
from typing import Any

import pytest
from limits import RateLimitItemPerDay

from backend.auth.scopes import Scope
from backend.chain.rpc import node_urls
from backend.client import ApiProblem, SignumClient
from backend.core.errors import Unavailable
from backend.core.settings import Settings
from backend.core.units import grouped
from backend.limits import rate_limits
from backend.server.runtime import local_transport
from backend.test_funds import workflow
from backend.users.schemas import Role
from tests.conftest import PASSWORD, World
from tests.support.crash import killed, run, sent, unqueued
from tests.support.firm import BASE, HYPEREVM, SEPOLIA, refused
from tests.support.issuance import UNIT, Issuance, orders_path, steps_of

USD = 10**6
ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
LABEL = "test funds"
"""Label of the transaction."""


async def ready(world: World, *eids: int) -> tuple[Issuance, Any, str]:
    """Return an organization with a server wallet, and the path of its test funds."""
    firm = await Issuance.found(world)
    assert isinstance(firm, Issuance)
    for eid in eids or (SEPOLIA,):
        await firm.enable(eid)
    wallet = await firm.post("/wallets", {"label": "Custody"})
    return firm, wallet, f"/wallets/{wallet['id']}/test-funds"


async def held(firm: Issuance, wallet: Any, eid: int = SEPOLIA) -> int:
    """Return the tUSD that a wallet holds on a chain, as the API shows it."""
    balances = (await firm.get(f"/wallets/{wallet['id']}"))["balances"]
    (found,) = [b["amount"] for b in balances if (b["chain_eid"], b["symbol"]) == (eid, "tUSD")]
    return int(found)


async def test_test_funds_are_minted_confirmed_and_recorded(world: World) -> None:
    firm, wallet, path = await ready(world)
    body = {"chain_eid": SEPOLIA, "amount": str(12_500_000)}
    accepted = await firm.post(path, body)
    assert (accepted["accepted"], accepted["walletId"]) == (True, wallet["id"])
    request = await firm.succeed(accepted["requestId"])
    assert (request["kind"], request["title"]) == (
        "wallet.test_funds",
        "Pay 12.5 tUSD of test funds to Custody",
    )
    assert request["subject"] | {"type": "wallet", "id": wallet["id"]} == request["subject"]
    steps = steps_of(request)
    assert [(s["title"], s["status"]) for s in steps.values()] == [
        ("Mint test funds on Sepolia Devnet", "succeeded"),
        ("Confirm the test funds", "succeeded"),
    ]
    assert steps["funds_minted"]["tx_hash"]
    assert steps["funds_confirmed"]["detail"].startswith("12.5 tUSD in block ")
    assert await held(firm, wallet) == 12_500_000
    entries = (await firm.get("/audit"))["audit"]
    done, asked = [e for e in entries if e["action"].startswith("wallet.test_funds")]
    assert (asked["action"], done["action"]) == ("wallet.test_funds_requested", "wallet.test_funds_paid")
    for entry in (asked, done):
        assert entry["subject"] | {"type": "wallet", "id": wallet["id"]} == entry["subject"]
        facts = {"amount": body["amount"], "chain_eid": SEPOLIA, "to_address": wallet["address"]}
        facts |= {"currency_symbol": "tUSD", "currency_decimals": 6}
        assert entry["after"] | facts == entry["after"]


async def test_acceptance_names_its_request(api: Any, world: World) -> None:
    firm, wallet, path = await ready(world)
    async with SignumClient(api_key=firm.key["x-api-key"], transport=local_transport(api)) as client:
        with client.response_headers() as headers:
            accepted = await client.call("POST", f"{firm.base}{path}", json={"chain_eid": SEPOLIA})
    assert headers["location"] == f"/v1{firm.base}/requests/{accepted['requestId']}"
    await firm.succeed(accepted["requestId"])
    assert await held(firm, wallet) == 1_000_000 * USD, "the amount of a call that names none"


@pytest.mark.long
async def test_repeated_call_with_an_idempotency_key_pays_once(world: World) -> None:
    firm, wallet, path = await ready(world)
    body, headers = {"chain_eid": SEPOLIA, "amount": str(USD)}, {"Idempotency-Key": "funds"}
    first, again = [await firm.post(path, body, headers=headers) for _ in range(2)]
    assert again == first
    await firm.succeed(first["requestId"])
    other = await firm.post(path, body, headers={"Idempotency-Key": "more funds"})
    await firm.succeed(other["requestId"])
    assert await held(firm, wallet) == 2 * USD


@pytest.mark.long
async def test_concurrent_calls_are_all_paid(world: World) -> None:
    firm, wallet, path = await ready(world, SEPOLIA, BASE)
    bodies = [{"chain_eid": eid, "amount": str(USD)} for eid in (SEPOLIA, SEPOLIA, BASE)]
    for accepted in await asyncio.gather(*(firm.post(path, body) for body in bodies)):
        await firm.succeed(accepted["requestId"])
    assert (await held(firm, wallet), await held(firm, wallet, BASE)) == (2 * USD, USD)


@pytest.mark.parametrize("moment", [1, 2])
async def test_killed_payment_is_paid_once(world: World, moment: int) -> None:
    firm, wallet, path = await ready(world)
    with unqueued():
        accepted = await firm.post(path, {"chain_eid": SEPOLIA, "amount": str(USD)})
    assert await killed(workflow.pay, firm.id, accepted["requestId"], moment)
    await run(workflow.pay, None, firm.id, accepted["requestId"])
    assert (await firm.get(f"/requests/{accepted['requestId']}"))["status"] == "succeeded"
    assert (await sent(firm.id)).count(LABEL) == 1
    assert await held(firm, wallet) == USD
    actions = [e["action"] for e in (await firm.get("/audit"))["audit"]]
    assert actions.count("wallet.test_funds_paid") == 1


async def test_failed_payment_is_retried_with_the_scope_of_wallets(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, wallet, path = await ready(world)

    async def unreachable() -> str:
        raise Unavailable("The key store does not answer.")

    with monkeypatch.context() as fault:
        fault.setattr(workflow, "operator", unreachable)
        accepted = await firm.post(path, {"chain_eid": SEPOLIA, "amount": str(USD)})
        failed = await firm.fail(accepted["requestId"])
    assert (failed["problem"]["detail"], failed["can_retry"]) == ("The key store does not answer.", True)
    retry = f"{firm.base}/requests/{accepted['requestId']}/retry"
    other = await world.key(firm.id, Scope.ORGS_READ, Scope.TRANSFERS_WRITE)
    problem = await refused_key(world, other, retry)
    assert problem.body["scope"] == "wallets:write"
    key = await world.key(firm.id, Scope.ORGS_READ, Scope.WALLETS_WRITE)
    await world.client.call("POST", retry, headers=key)
    assert (await firm.settle(accepted["requestId"], 2))["status"] == "succeeded"
    assert (await sent(firm.id)).count(LABEL) == 1
    assert await held(firm, wallet) == USD


async def refused_key(world: World, key: dict[str, str], path: str, json: Any = None) -> Any:
    """Return the problem with which a key is refused (403)."""
    with pytest.raises(ApiProblem) as raised:
        await world.client.call("POST", path, json=json, headers=key)
    assert raised.value.status == 403, raised.value
    return raised.value


async def test_wallet_deleted_before_the_payment_gets_nothing(world: World) -> None:
    firm, _, _ = await ready(world)
    wallet = await firm.post("/wallets", {"label": "Short-lived"})
    with unqueued():
        accepted = await firm.post(f"/wallets/{wallet['id']}/test-funds", {"chain_eid": SEPOLIA})
    await firm.delete(f"/wallets/{wallet['id']}")
    await run(workflow.pay, None, firm.id, accepted["requestId"])
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], request["problem"]["detail"]) == (
        "failed",
        "The wallet was deleted. No test funds were paid.",
    )
    assert LABEL not in await sent(firm.id)


async def test_test_funds_do_not_exist_on_public_chains(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm, _, path = await ready(world)
    monkeypatch.setattr(Settings, "embedded_chains", False)
    for body in ({"chain_eid": SEPOLIA}, {"chain_eid": "a chain"}):
        problem = await firm.refused("POST", path, 404, json=body)
        assert problem.detail == "No resource exists at this address."
    assert LABEL not in await sent(firm.id)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "chain_eid"),
        ({"chain_eid": "40161"}, 422, "chain_eid"),
        ({"chain_eid": 49999}, 400, "chain_eid"),
        ({"chain_eid": 30101}, 400, "chain_eid"),
        ({"chain_eid": 40231}, 400, "chain_eid"),
        ({"chain_eid": SEPOLIA, "amount": "0"}, 400, "amount"),
        ({"chain_eid": SEPOLIA, "amount": str(10**15 + 1)}, 400, "amount"),
        ({"chain_eid": SEPOLIA, "amount": str(2**256)}, 422, "amount"),
        ({"chain_eid": SEPOLIA, "amount": 1}, 422, "amount"),
        ({"chain_eid": SEPOLIA, "amount": "1.5"}, 422, "amount"),
        ({"chain_eid": SEPOLIA, "to_address": ADDRESS}, 422, "to_address"),
    ],
)
async def test_test_funds_with_bad_input_are_refused_at_the_field(
    world: World, body: dict[str, Any], status: int, field: str
) -> None:
    firm, _, path = await ready(world)
    assert (await firm.refused("POST", path, status, json=body)).by_field().keys() == {field}
    assert (await firm.get("/requests"))["requests"] == []


async def test_chain_that_is_not_embedded_is_named(world: World) -> None:
    firm, _, path = await ready(world)
    problem = await firm.refused("POST", path, 400, json={"chain_eid": 40231})
    assert problem.detail.endswith(" is not an embedded chain. Test funds exist on embedded chains only.")


async def test_test_funds_are_for_own_server_wallets_only(world: World) -> None:
    firm, wallet, _ = await ready(world)
    other, foreign, _ = await ready(world)
    body = {"chain_eid": SEPOLIA}
    await firm.refused("POST", f"/wallets/{foreign['id']}/test-funds", 404, json=body)
    await refused(firm.admin, "POST", f"{other.base}/wallets/{foreign['id']}/test-funds", 403, json=body)
    linked = await firm.post("/wallets", {"label": "Ledger", "address": ADDRESS})
    problem = await firm.refused("POST", f"/wallets/{linked['id']}/test-funds", 409, json=body)
    assert "server wallets" in problem.detail
    assert [r for one in (firm, other) for r in (await one.get("/requests"))["requests"]] == []
    assert (await held(firm, wallet), await held(other, foreign)) == (0, 0)


async def test_test_funds_need_the_scope_to_change_wallets(world: World) -> None:
    firm, _, path = await ready(world)
    key = await world.key(firm.id, Scope.WALLETS_READ, Scope.TRANSFERS_WRITE)
    problem = await refused_key(world, key, f"{firm.base}{path}", {"chain_eid": SEPOLIA})
    assert problem.body["scope"] == "wallets:write"
    for role in (Role.MEMBER, Role.COMPLIANCE_OFFICER, Role.VIEWER):
        person = await world.person(firm.id, role)
        await refused(person, "POST", f"{firm.base}{path}", 403, json={"chain_eid": SEPOLIA})
    assert (await firm.get("/requests"))["requests"] == []


async def test_disabled_chain_pays_no_test_funds_until_it_is_enabled(world: World) -> None:
    firm, wallet, path = await ready(world)
    problem = await firm.refused("POST", path, 409, json={"chain_eid": HYPEREVM})
    assert [(p["state"], p["satisfied"]) for p in problem.prerequisites] == [("chain_enabled", False)]
    await firm.admin.call(problem.resolutions[0]["method"], problem.resolutions[0]["path"])
    accepted = await firm.post(path, {"chain_eid": HYPEREVM, "amount": "7"})
    await firm.succeed(accepted["requestId"])
    assert await held(firm, wallet, HYPEREVM) == 7


async def test_test_funds_count_among_the_transactions_that_the_operator_pays_for(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, wallet, path = await ready(world)
    monkeypatch.setattr(rate_limits, "OPERATOR_PAID", RateLimitItemPerDay(1))
    body = {"chain_eid": SEPOLIA, "amount": "5"}
    await firm.refused("POST", path, 400, json=body | {"amount": "0"})
    await firm.succeed((await firm.post(path, body))["requestId"])
    assert (await firm.refused("POST", path, 429, json=body)).retry_after
    assert (await sent(firm.id)).count(LABEL) == 1
    assert await held(firm, wallet) == 5


@pytest.mark.long
async def test_order_without_quote_currency_names_the_test_funds_that_let_it_through(api: Any, world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market = await firm.market(await firm.asset())
    buyer = await firm.trader(usd=3 * USD)
    body = {"side": "buy", "price": str(2_000_000 * USD), "amount": str(UNIT), "wallet_id": buyer["id"]}
    async with SignumClient(transport=local_transport(api)) as client:
        await client.sign_in(firm.admin.email, PASSWORD)
        problem = await firm.refused("POST", orders_path(market), 409, json=body)
        (call,) = problem.resolutions
        assert (call["method"], call["path"]) == ("POST", f"{firm.base}/wallets/{buyer['id']}/test-funds")
        missing = call["description"].removeprefix(f"Get test funds on the chain {SEPOLIA}: at least ")
        amount = missing.removesuffix(" base units.")
        assert f"needs {grouped(int(amount) + 3 * USD, 6)} tUSD, fees included." in problem.detail
        funds = await client.follow(call, {"chain_eid": SEPOLIA, "amount": amount})
        await firm.succeed(funds["requestId"])
    order = await firm.post(orders_path(market), body)
    await firm.succeed(order["requestId"])
    assert (await firm.get(f"{orders_path(market)}/{order['orderId']}"))["status"] == "open"


@pytest.mark.long
async def test_order_on_a_public_chain_names_no_test_funds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market = await firm.market(await firm.asset())
    buyer = await firm.trader(usd=0)
    body = {"side": "buy", "price": str(USD), "amount": str(UNIT), "wallet_id": buyer["id"]}
    monkeypatch.setattr(node_urls, "is_embedded", lambda _: False)
    problem = await firm.refused("POST", orders_path(market), 409, json=body)
    assert "holds 0 tUSD;" in problem.detail
    assert "resolution" not in problem.body
