"""Every example of a request in the document is executed, and succeeds as documented."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import jsonschema_rs
import pyotp
import pytest
import pytest_asyncio
from eth_account import Account

from backend.chain.rpc import node_urls
from backend.client import SignumClient
from backend.core.db import now
from backend.core.settings import settings
from backend.server import runtime
from backend.users.schemas import Role
from tests.approvals.second_person import asking, waiting
from tests.auth.test_wallet_sign_in import begin, signed, text_of
from tests.bridges.test_late_deliveries import failed_bridge
from tests.conftest import World
from tests.distributions.test_distributions import activated
from tests.investors.scene import Investor
from tests.oauth.application import challenge_of, register
from tests.openapi.examples import Examples, bodies, example_of
from tests.openapi.operations import CASES, DOCUMENT
from tests.support.issuance import HYPEREVM, SEPOLIA, Issuance, asset_body
from tests.support.own_wallet import FAUCET, OwnWallet
from tests.users.test_linked_wallets import link

PDF = b"%PDF-1.7\n"
OF_BYTES = {"upload_document", "upload_investor_document", "read_evidence", "verify_evidence", "print_evidence"}
"""Operations whose body is a file; the test sends one."""
OF_DEVICES = {"add_passkey"}
"""The authenticator signs the body: its example shows the form only. `tests/factors/test_browser.py` uses one."""
OF_STATES = {"begin_fault", "move_clock"}
"""They change the chains of every test: `tests/devnet/test_devnet.py` executes them on an installation of its own."""
EMAIL, PASSWORD = "marta@example.com", "correct horse battery staple"


@pytest_asyncio.fixture(scope="module")
async def examples(api: Any, client: SignumClient) -> AsyncIterator[Examples]:
    """Created once."""
    world = World(client)
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        yield Examples(http, firm, {"orgId": firm.id, "organization_id": str(firm.id), "org_id": str(firm.id)})


def test_every_body_has_an_example() -> None:
    named = {name for name, case in bodies().items() if example_of(case) is not None}
    assert bodies().keys() - named == OF_BYTES


@pytest.mark.long
def test_examples_of_parameters_and_contents_match_their_schemas() -> None:
    found = 0
    for case in CASES:
        parts = [*case.entry.get("parameters", []), *case.entry.get("requestBody", {}).get("content", {}).values()]
        for part in parts:
            schema = part.get("schema", {})
            validator = jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]})
            for example in [*([part["example"]] if "example" in part else []), *schema.get("examples", [])]:
                assert validator.is_valid(example), (str(case), part.get("name"), example)
                found += 1
    assert found > 0


@pytest.mark.long
async def test_example_of_each_operation_succeeds(world: World, examples: Examples) -> None:
    """In the order in which an issuer would send them, so that each finds the records that it needs."""
    await accounts(world, examples)
    await applications(world, examples)
    await approvals(world, examples)
    await organization(world, examples)
    await parties(examples)
    await assets(world, examples)
    await controls(examples)
    await bridges(world, examples)
    await webhooks(examples)
    expected = bodies().keys() - OF_DEVICES - OF_STATES
    assert expected - examples.done == set()


async def organization(world: World, run: Examples) -> None:
    await run.run("create_organization")
    await run.run("update_organization")
    unit, other = await run.run("create_sub_organization"), await run.run("create_sub_organization", name="Other")
    await run.run("move_sub_organization", subOrgId=unit["id"], newParentId=other["id"])
    await run.run("add_member", wallet_address=Account.create().address)
    person = await world.person(run.firm.id, Role.MEMBER)
    members = (await run.firm.get("/members"))["members"]
    member = next(m for m in members if m["user_id"] == str(person.user_id))
    await run.run("change_member", memberId=member["id"])
    await run.run("check_eligibility")
    await run.run("create_key")
    await run.run("save_draft", kind="market")
    await run.run("save_view")
    wallet = await run.run("create_wallet")
    await run.run("update_wallet", walletId=wallet["id"])


async def parties(run: Examples) -> None:
    party = await run.run("create_party", wallet_address=Account.create().address)
    await run.run("update_party", partyId=party["id"], wallet_address=Account.create().address)
    path = f"/v1/identity/parties/{party['id']}/documents"
    headers = {"cookie": run.firm.admin.cookie, "origin": settings().origin, "content-type": "application/pdf"}
    for kind in ("application/pdf", "application/octet-stream"):
        sent = headers | {"content-type": kind}
        name = {"kind": "passport", "name": f"{kind.split('/')[1]}.pdf"}
        answer = await run.http.post(path, content=PDF + kind.encode(), headers=sent, params=name)
        assert answer.status_code == 201, answer.text
    run.done.add("upload_document")
    await run.run("verify_party", partyId=party["id"])
    other = await run.firm.party(None)
    await run.run("verify_parties", items=[{"party_id": other["id"]}])
    await run.run("reject_party", partyId=other["id"])
    await run.run("import_parties")
    session = {"cookie": run.firm.admin.cookie, "origin": settings().origin}
    await run.run("register_issuer", session | run.firm.key)
    await run.firm.settle((await run.firm.get("/issuer"))["request_id"])


async def assets(world: World, run: Examples) -> None:
    firm = run.firm
    trader, holder = await firm.trader(HYPEREVM), await firm.trader(HYPEREVM)
    party = await firm.verified(Account.create().address)
    attested = await run.run("create_attestation", party_id=party["id"])
    await run.run("revoke_attestation", attestationId=attested["attestationId"])
    await run.run("create_attestations", items=[{"party_id": party["id"], "chain_eid": SEPOLIA}])
    made = await run.run("create_asset")
    run.known |= {"assetId": made["assetId"], "asset_id": made["assetId"]}
    run.known |= {"address": holder["address"], "to_address": holder["address"], "from_address": trader["address"]}
    await run.run("update_asset")
    treasury = await firm.treasury()
    await run.run("create_transfer", from_wallet_id=treasury["id"], to_address=trader["address"])
    sent = {"chain_eid": HYPEREVM, "from_wallet_id": treasury["id"], "to_address": trader["address"], "amount": "1"}
    await run.run("create_transfers", items=[{"asset_id": made["assetId"], **sent}])
    await run.run("check_transfer")
    factory = (await firm.market_body(HYPEREVM))["market_factory_address"]
    market = await run.run("deploy_market", market_factory_address=factory)
    run.known["marketId"] = market["marketId"]
    await evidence(run, made["assetId"])
    await run.run("check_order", address=trader["address"])
    await run.run("pay_test_funds", walletId=trader["id"])
    await run.run("place_order", wallet_id=trader["id"])
    await investor(world, run, made["assetId"])
    draft = await run.run("create_distribution")
    await run.run(
        "activate_distribution",
        distId=draft["id"],
        merkleRoot=draft["merkle_root"],
        totalRecipients=draft["total_recipients"],
    )


async def evidence(run: Examples, asset_id: str) -> None:
    """Read, verify and print the asset's own pack."""
    path = f"/v1{run.firm.base}/assets/{asset_id}/evidence"
    pack = (await run.http.get(path, headers=run.firm.key)).content
    sent = run.firm.key | {"content-type": "application/zip"}
    for name, what in (("read", "contents"), ("verify", "verification"), ("print", "report")):
        answer = await run.http.post(f"{path}/{what}", content=pack, headers=sent)
        assert answer.status_code == 200, answer.text
        run.done.add(f"{name}_evidence")


async def investor(world: World, run: Examples, asset_id: str) -> None:
    """Prepare transactions for an investor who trades with their own wallet, and has another one kept."""
    firm, wallet = run.firm, OwnWallet(node_urls.urls_of(HYPEREVM)[0])
    client = await Investor.of(world, firm.id)
    await link(world, client.actor, wallet.account)
    await firm.attest(await firm.verified(wallet.address), HYPEREVM)
    wallet.fund()
    wallet.send((await firm.get(f"/assets/{asset_id}/markets/{run.known['marketId']}"))["quote_token_address"], FAUCET)
    who = {"cookie": client.actor.cookie, "origin": settings().origin}
    own = {"membershipId": client.membership, "address": wallet.address}
    path, sent = f"/v1/investor/{client.membership}/documents", who | {"content-type": "application/pdf"}
    answer = await run.http.post(path, content=PDF, headers=sent, params={"kind": "passport", "name": "passport.pdf"})
    assert answer.status_code == 201, answer.text
    run.done.add("upload_investor_document")
    await run.run("check_investor_order", who, **own)
    await run.run("prepare_investor_order", who, **own)
    kept = (await firm.post("/wallets", {"label": "Custody"}))["address"]
    party = await firm.party(kept, email=client.actor.email)
    await firm.admin.call("POST", f"/identity/parties/{party['id']}/verify", json={"kyc_level": 2})
    await firm.attest(party, HYPEREVM)
    recipients = {"recipients": [{"address": address, "amount": "1"} for address in (wallet.address, kept)]}
    body = {"name": "Income", "chain_eid": HYPEREVM} | recipients
    made = await firm.post(f"/assets/{asset_id}/distributions", body)
    await activated(firm, {"id": asset_id}, made)
    await run.run("prepare_investor_claim", who, distributionId=made["id"], **own)
    await run.run("claim_kept_amount", who, distributionId=made["id"], **own | {"address": kept})


async def controls(run: Examples) -> None:
    await run.run("mint")
    await run.run("freeze")
    await run.run("unfreeze")
    items = [{"chain_eid": HYPEREVM, "address": run.known["address"], "amount": "1", "reason": "Court order"}]
    await run.run("freeze_accounts", items=items)
    await run.run("unfreeze_accounts", items=items)
    await run.run("burn")
    await run.run("forced_transfer")
    await run.run("pause")
    await run.run("unpause")
    await run.run("update_daily_limits")


async def bridges(world: World, run: Examples) -> None:
    firm = run.firm
    asset = await firm.asset(SEPOLIA, max_holders=1_500)
    await run.run("bridge_asset", assetId=asset["id"])
    await run.run("share_caps", assetId=asset["id"])
    for name in ("pause_path", "unpause_path", "limit_path"):
        await run.run(name, assetId=asset["id"])
    lost, new = await firm.trader(HYPEREVM), Account.create().address
    person = next(p for p in await parties_of(firm) if p["wallet_address"] == lost["address"])
    await recovered(run, person, lost["address"], new)
    other, _, _, bridge = await failed_bridge(world)
    await world.person(other.id)
    away = Examples(run.http, other, {"orgId": other.id})
    await away.run("return_bridge", bridgeId=bridge["bridgeId"])
    run.done |= away.done


async def parties_of(firm: Issuance) -> list[Any]:
    """Return the parties of a firm."""
    found = await firm.admin.call("GET", "/identity/parties", params={"organization_id": str(firm.id), "limit": "100"})
    return list(found["parties"])


async def recovered(run: Examples, person: Any, lost: str, new: str) -> None:
    """Move what a lost wallet holds to the new wallet of the same, attested person."""
    firm = run.firm
    await run.run("mint", to_address=lost)
    await firm.admin.call("PATCH", f"/identity/parties/{person['id']}", json={"wallet_address": new})
    await firm.attest(person, HYPEREVM)
    await run.run("recover", lost_address=lost, new_address=new)


async def webhooks(run: Examples) -> None:
    hook = await run.run("create_webhook", url="http://localhost:1024/")
    await run.run("update_webhook", webhookId=hook["id"], url="http://localhost:1024/")
    await run.run("rotate_webhook_secret", webhookId=hook["id"])
    await run.run("recover_webhook", webhookId=hook["id"], since=hook["created_at"])


async def accounts(world: World, run: Examples) -> None:
    firm, anonymous = run.firm, dict[str, str]()
    await run.run("invite")
    token = (await world.letter(firm.id)).split("token=")[1].split()[0]
    await run.run("preview_invitation", anonymous, token=token)
    await run.run("accept_invitation", anonymous, token=token)
    tokens = await run.run("login", anonymous)
    bearer = {"authorization": f"Bearer {tokens['access_token']}"}
    fresh = await run.run("refresh", anonymous, refresh_token=tokens["refresh_token"])
    bearer = {"authorization": f"Bearer {fresh['access_token']}"}
    await run.run("update_preferences", bearer)
    await run.run("begin_passkey", bearer)
    begun = await run.run("begin_totp", bearer)
    app = pyotp.TOTP(begun["secret"])
    await run.run("confirm_totp", bearer, code=app.at(now()))
    await run.run("verify_factor", bearer, code=app.at(now(), counter_offset=1))
    await run.run("change_password", bearer)
    await run.run("forgot_password", anonymous)
    mailed = (await world.letter(firm.id)).split("token=")[1].split()[0]
    await run.run("check_password_link", anonymous, token=mailed)
    await run.run("reset_password", anonymous, token=mailed)
    account = await link(world, await world.person(firm.id))
    begun = await begin(world)
    await run.run("verify_siwe", anonymous, **signed(account, text_of(begun, account.address)))


async def applications(world: World, run: Examples) -> None:
    firm = run.firm
    made = await run.run("create_client")
    await run.run("decide", client_id=made["id"], code_challenge=challenge_of("v" * 43))
    key = await firm.post("/api-keys", {"name": "Reporting", "scopes": ["orgs:read", "assets:read"]})
    own = {"client_id": key["id"], "client_secret": key["key"]}
    await run.run("token", {}, **own)
    application = await register(world, run.http, firm.id)
    tokens = await application.sign_in(firm.admin)
    own = {"client_id": application.id, "client_secret": application.secret, "token": tokens["access_token"]}
    await run.run("introspect", {}, **own)
    await run.run("revoke", {}, **own)


async def approvals(world: World, run: Examples) -> None:
    firm, second = await asking(world, "asset.deploy", eids=(HYPEREVM,))
    accepted = await firm.post("/assets", asset_body(HYPEREVM))
    approval = await waiting(firm, accepted)
    own = Examples(run.http, firm, {"orgId": firm.id})
    signed_in = {"cookie": second.cookie, "origin": settings().origin}
    await own.run("comment_on_approval", signed_in, approvalId=approval["id"])
    await own.run("deny_request", {"cookie": second.cookie, "origin": settings().origin}, approvalId=approval["id"])
    later = await waiting(firm, await firm.post("/assets", asset_body(HYPEREVM)))
    mine = {"cookie": firm.admin.cookie, "origin": settings().origin}
    await own.run("withdraw_request", mine, approvalId=later["id"])
    await own.run("change_approval_policy")
    run.done |= own.done
