"""Claims of an investor whose wallet the organization keeps: the organization sends them."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest_asyncio
import sqlalchemy as sa

from backend.auth import investor_entry
from backend.chain.bindings import token
from backend.client import SignumClient
from backend.core import db
from tests.conftest import World
from tests.distributions.test_distributions import activated, draft_distribution
from tests.investors.scene import Investor, Scene
from tests.investors.test_row_level_security import entered, visible
from tests.support.firm import refused
from tests.support.issuance import SEPOLIA, UNIT, Issuance


@dataclass
class Custody:
    """An asset of a firm, and two investors whose wallets the firm keeps."""

    firm: Issuance
    asset: Any
    ada: Investor
    ben: Investor


@pytest_asyncio.fixture(scope="module")
async def custody(api: Any, client: SignumClient) -> Custody:
    """Created once. The scene of the other tests counts its claims."""
    world = World(client)
    firm = await Issuance.ready(world, SEPOLIA)
    ada, ben = await Investor.of(world, firm.id), await Investor.of(world, firm.id)
    await ada.accept(firm, "Ada Sørensen")
    await ben.accept(firm, "Ben Okonjo")
    return Custody(firm, await firm.asset(required_kyc_level=2), ada, ben)


async def waiting(investor: Investor, made: Any) -> Any:
    [found] = [c for c in (await investor.get("/claims"))["claims"] if c["distribution_id"] == made["id"]]
    return found


async def distribution(custody: Custody) -> Any:
    """Return a new active distribution to both investors."""
    amounts = ((custody.ada.wallet["address"], 2 * UNIT), (custody.ben.wallet["address"], 3 * UNIT))
    return await activated(custody.firm, custody.asset, await draft_distribution(custody.firm, custody.asset, *amounts))


def path_of(investor: Investor, made: Any) -> str:
    return f"/investor/{investor.membership}/claims/{made['id']}"


async def test_investor_claims_to_a_wallet_that_the_organization_keeps(custody: Custody) -> None:
    firm, ada, made = custody.firm, custody.ada, await distribution(custody)
    assert {a["address"]: (a["is_linked"], a["is_kept"]) for a in (await ada.get())["addresses"]} == {
        ada.wallet["address"]: (False, True)
    }
    claim = await waiting(ada, made)
    assert (claim["state"], claim["is_kept"], claim["payment"]) == ("waiting", True, None)
    at = custody.asset["deployments"][0]["token_address"]
    before = await token.balance_of(SEPOLIA, at, ada.wallet["address"])
    body = {"address": ada.wallet["address"]}
    answers = await asyncio.gather(*(ada.actor.call("POST", path_of(ada, made), json=body) for _ in range(2)))
    assert answers == [{"distribution_id": made["id"], "address": ada.wallet["address"], "payment": "sending"}] * 2
    [request] = [r for r in (await firm.get("/requests"))["requests"] if r["kind"] == "distribution.pay"]
    assert request["created_by"] == str(ada.actor.user_id)
    await firm.succeed(request["id"])
    claim = await waiting(ada, made)
    assert (claim["state"], claim["payment"]) == ("claimed", None)
    assert await token.balance_of(SEPOLIA, at, ada.wallet["address"]) == before + 2 * UNIT
    assert (await waiting(custody.ben, made))["state"] == "waiting"
    problem = await refused(ada.actor, "POST", path_of(ada, made), 409, json=body)
    assert problem.detail == "This amount was already claimed."


async def test_amount_of_another_address_cannot_be_claimed(custody: Custody, world: World) -> None:
    ada, ben, made = custody.ada, custody.ben, await distribution(custody)
    count = len((await custody.firm.get("/requests"))["requests"])
    for address in (ben.wallet["address"], (await custody.firm.treasury())["address"]):
        await refused(ada.actor, "POST", path_of(ada, made), 404, json={"address": address})
    stranger = await Investor.of(world, custody.firm.id)
    await refused(stranger.actor, "POST", path_of(stranger, made), 404, json={"address": ada.wallet["address"]})
    await refused(stranger.actor, "POST", path_of(ada, made), 404, json={"address": ada.wallet["address"]})
    assert len((await custody.firm.get("/requests"))["requests"]) == count


async def test_refused_claim_names_no_operation_of_staff(custody: Custody) -> None:
    ada, made = custody.ada, await distribution(custody)
    accepted = await custody.firm.post(
        f"/assets/{custody.asset['id']}/pause", {"chain_eid": SEPOLIA, "reason": "Review"}
    )
    await custody.firm.succeed(accepted["requestId"])
    problem = await refused(ada.actor, "POST", path_of(ada, made), 409, json={"address": ada.wallet["address"]})
    assert problem.rules
    assert "/orgs/" not in str(problem.rules)
    accepted = await custody.firm.post(
        f"/assets/{custody.asset['id']}/unpause", {"chain_eid": SEPOLIA, "reason": "Review"}
    )
    await custody.firm.succeed(accepted["requestId"])


async def test_transaction_acts_for_the_organization_only_for_a_kept_wallet_of_the_investor(custody: Custody) -> None:
    ada, ben, made = custody.ada, custody.ben, await distribution(custody)
    async with entered(ada) as session:
        before = await visible(session)
        for address in (ben.wallet["address"], (await custody.firm.treasury())["address"]):
            assert not await investor_entry.pay(session, made["id"], address)
        assert not await investor_entry.pay(session, uuid4(), ada.wallet["address"])
        assert await visible(session) == before, "nothing more is visible"
        status = sa.text("select signum_investor_payment(:id, :address)")
        assert await session.scalar(status, {"id": made["id"], "address": ben.wallet["address"]}) is None
        assert list(await session.scalars(sa.text("select signum_investor_kept()"))) == [ada.wallet["address"]]
        assert await investor_entry.pay(session, made["id"], ada.wallet["address"])
        assert await session.scalar(sa.text("select count(*) from wallets")) > 0
    async with db.transaction() as session:
        await db.see_oneself(session, ada.actor.user_id)
        assert not await investor_entry.pay(session, made["id"], ada.wallet["address"]), "has not entered"


async def test_book_shows_what_the_kept_wallet_of_the_investor_has(scene: Scene) -> None:
    book = await scene.ben.get(f"/markets/{scene.market['id']}")
    assert book["wallets"] == []
    [kept] = book["kept"]
    assert kept["address"] == scene.ben.wallet["address"]
    [holding] = (await scene.ben.get("/holdings"))["holdings"]  # another test freezes a part
    assert (kept["tokens"], holding["total"]) == (holding["available"], str(37 * UNIT))
    assert 0 < int(kept["quote"]) < 10_000 * 10**6


async def test_investor_whose_account_is_frozen_sees_it_without_the_number_of_the_contract(custody: Custody) -> None:
    firm, ada, asset = custody.firm, custody.ada, custody.asset
    market = await firm.market(asset)
    where = {"chain_eid": SEPOLIA, "address": ada.wallet["address"]}
    minted = {"chain_eid": SEPOLIA, "to_address": ada.wallet["address"], "amount": str(3 * UNIT)}
    await firm.succeed((await firm.post(f"/assets/{asset['id']}/mint", minted))["requestId"])
    for control, is_frozen in (("freeze", True), ("unfreeze", False)):
        accepted = await firm.post(f"/assets/{asset['id']}/{control}", {**where, "reason": "Court order"})
        await firm.succeed(accepted["requestId"])
        [holding] = [h for h in (await ada.get("/holdings"))["holdings"] if h["asset_id"] == asset["id"]]
        [kept] = (await ada.get(f"/markets/{market['id']}"))["kept"]
        [account] = holding["accounts"]
        total = holding["total"]  # other tests claim to this wallet
        assert int(total) >= 3 * UNIT
        frozen, available = (total, "0") if is_frozen else ("0", total)
        assert (holding["frozen"], holding["available"]) == (frozen, available)
        for place in (account, kept):
            assert (place["is_frozen"], place["frozen"]) == (is_frozen, frozen)
        assert account["available"] == kept["tokens"] == available
