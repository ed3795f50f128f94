"""Orders on a live market: placed, partly filled, refused with every reason, cancelled."""

import re
import secrets
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Console, Signum
from tests.e2e.demo.presenter import pick
from tests.e2e.oversight.test_attestations import withdraw

SEPOLIA = 40161


def _market(signum: Signum) -> dict[str, Any]:
    markets = signum.call("GET", "/orgs/{org}/markets", limit=100)["markets"]
    open_ones = (m for m in markets if m["chain_eid"] == SEPOLIA and m["status"] == "active")
    return dict(next(m for m in open_ones if m["asset_symbol"] == "NREF"))


def _dialog(console: Console, signum: Signum) -> tuple[Page, Locator]:
    """Open the market's page and the dialog that places an order."""
    page = console.sign_in(path=f"markets/{_market(signum)['id']}").page
    page.get_by_role("button", name="Place order").click()
    return page, page.get_by_role("dialog")


def _order(console: Console, side: str, wallet: str, price: str, amount: str) -> Locator:
    """Fill in the dialog and send it."""
    page = console.page
    page.get_by_role("button", name="Place order").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("group", name="Side").get_by_role("button", name=side).click()
    option = dialog.get_by_label("Wallet").locator("option", has_text=wallet)
    dialog.get_by_label("Wallet").select_option(value=option.first.get_attribute("value"))
    dialog.get_by_label("Price").fill(price)
    dialog.get_by_label("Amount").fill(amount)
    dialog.get_by_role("button", name=f"Place {side.lower()} order").click()
    return dialog


def test_order_is_placed_partly_filled_and_cancelled(console: Console, signum: Signum) -> None:
    market = _market(signum)
    console.sign_in(path=f"markets/{market['id']}?tab=deployment")
    page = console.page
    progress = page.get_by_role("region", name="Progress")
    orders = page.get_by_role("table", name="Orders").locator("tbody").get_by_role("row")

    _order(console, "Sell", "Treasury", "102.137", "40")
    expect(progress.get_by_text("Done", exact=True)).to_be_visible(timeout=30_000)
    newest = orders.filter(has_text="102.137")
    expect(newest.get_by_text("Open", exact=True)).to_be_visible()

    page.get_by_role("button", name="Dismiss", exact=True).click()
    _order(console, "Buy", "Kestrel", "102.137", "15.5")
    expect(progress.get_by_text("Done", exact=True)).to_be_visible(timeout=30_000)
    sold = orders.filter(has_text="102.137").filter(has_text="Sell")
    expect(sold.get_by_text("Partly filled", exact=True)).to_be_visible()
    expect(sold.get_by_text("15.5")).to_be_visible()
    trade = page.get_by_role("table", name="Trades").locator("tbody").get_by_role("row").first
    for words in ("102.137", "15.5", "Kestrel", "Treasury"):
        expect(trade).to_contain_text(words)
    total = trade.get_by_role("button", name="1,583.12 tUSD Copy exact amount")
    expect(total).to_have_attribute("title", re.compile(r"1,583\.1235"))
    expect(page.locator(".strip")).to_contain_text("Last price102.137")
    prices = page.get_by_role("region", name="Price", exact=True)
    expect(prices.get_by_role("img")).to_have_accessible_name(
        re.compile(r"Price in tUSD from .+, last 102\.137; volume")
    )
    prices.get_by_text("Show as table").click()
    today = prices.get_by_role("table", name="Prices by day").locator("tbody").get_by_role("row").first
    expect(today).to_contain_text("102.137")
    prices.get_by_role("button", name="30 days").click()
    page.wait_for_url("**period=30**")
    expect(today).to_contain_text("102.137")

    page.get_by_role("button", name="Dismiss", exact=True).click()
    sold.get_by_role("button", name="Cancel").click()
    expect(progress.get_by_text("Done", exact=True)).to_be_visible(timeout=30_000)
    expect(sold.get_by_text("Cancelled", exact=True)).to_be_visible()


def test_order_form_offers_wallet_and_price_and_checks_while_typing(console: Console, signum: Signum) -> None:
    page, dialog = _dialog(console, signum)
    wallet, price, answer = dialog.get_by_label("Wallet"), dialog.get_by_label("Price"), dialog.get_by_role("region")
    best = dialog.get_by_role("button", name=re.compile(r"^Best ask [\d.,]+$"))
    expect(dialog.get_by_text("is your organization's own order")).to_be_visible()
    expect(price).to_have_value("")
    expect(wallet).to_have_value("")  # the treasury would buy from itself
    dialog.get_by_role("button", name="Sell", exact=True).click()
    expect(wallet.locator("option:checked")).to_contain_text("Treasury")
    dialog.get_by_role("button", name="Buy", exact=True).click()
    expect(wallet).to_have_value("")
    best.click()
    offered = re.sub("Best ask |,", "", best.text_content() or "")
    expect(price).to_have_value(offered)
    pick(wallet, "Treasury")
    expect(dialog.get_by_text("Holds ")).to_contain_text("tUSD")
    dialog.get_by_label("Amount").fill("1")
    expect(answer.get_by_text("This order is allowed.")).to_be_visible()
    expect(dialog.get_by_text("with fees")).to_be_visible()

    broker = wallet.locator("option", has_text="Unverified broker").first
    expect(broker).to_contain_text("not eligible")
    wallet.select_option(value=broker.get_attribute("value"))
    expect(answer.get_by_text("The rules refuse this order.")).to_be_visible()
    price.fill("1")
    dialog.get_by_role("group", name="Side").get_by_role("button", name="Sell").click()
    expect(price).to_have_value("1")
    dialog.get_by_role("button", name="Best bid").click()
    expect(price).not_to_have_value("1")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Place order").click()
    expect(dialog.get_by_role("button", name="Place buy order")).to_be_visible()


def test_order_form_warns_of_an_own_order(console: Console, signum: Signum) -> None:
    market = _market(signum)
    path = f"/orgs/{{org}}/assets/{market['asset_id']}/markets/{market['id']}/orders"
    wallets = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    treasury = next(wallet["id"] for wallet in wallets if wallet["is_default"])
    order = {"side": "sell", "price": "104640000", "amount": str(7 * 10**18), "wallet_id": treasury}
    placed = signum.call("POST", path, order)
    signum.wait_for(placed["requestId"])
    _, dialog = _dialog(console, signum)
    answer = dialog.get_by_role("region", name="Result")
    pick(dialog.get_by_label("Wallet"), "Treasury")
    dialog.get_by_label("Price").fill("1")
    dialog.get_by_label("Amount").fill("1")
    expect(answer.get_by_text("This order is allowed.")).to_be_visible()
    expect(answer.get_by_text("This order meets your own.")).to_have_count(0)
    dialog.get_by_label("Price").fill("104.64")
    dialog.get_by_label("Amount").fill("100")  # which the treasury can pay: a refused order has no such warning
    expect(answer.get_by_text("This order meets your own.")).to_be_visible()
    dialog.get_by_label("Amount").fill("1")
    expect(answer.get_by_text("A wallet cannot trade with itself").first).to_be_visible()
    signum.wait_for(signum.call("DELETE", f"{path}/{placed['orderId']}")["requestId"])


def test_every_wallet_that_may_not_trade_says_so(console: Console, signum: Signum) -> None:
    """What the list says of each wallet is what the check of an order says."""
    market = _market(signum)
    path = f"/orgs/{{org}}/assets/{market['asset_id']}/markets/{market['id']}/order-check"
    found = signum.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    able = {
        one["id"]: signum.call("POST", path, {"address": one["address"], "side": "buy", "amount": "1"})["allowed"]
        for one in found
        if one["kind"] == "server"
    }
    assert set(able.values()) == {True, False}
    _, dialog = _dialog(console, signum)
    wallets = dialog.get_by_label("Wallet").locator("option")
    expect(wallets.filter(has_text="Treasury").first).to_be_attached()
    listed = wallets.evaluate_all("all => all.map(one => [one.value, one.textContent])")
    assert {value: "not eligible" not in text for value, text in listed if value} == able


CHOOSES = """(select, value) => {
  Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(select, value);
  select.dispatchEvent(new Event("change", {bubbles: true}));
  select.form.requestSubmit();
  return select.value;
}"""


def test_wallet_that_is_chosen_is_sent_before_the_server_has_answered(console: Console, signum: Signum) -> None:
    _, dialog = _dialog(console, signum)
    wallet, answer = dialog.get_by_label("Wallet"), dialog.get_by_role("region")
    pick(wallet, "Treasury")
    dialog.get_by_label("Price").fill("1")
    dialog.get_by_label("Amount").fill("1")
    expect(answer.get_by_text("This order is allowed.")).to_be_visible()
    broker = wallet.locator("option", has_text="Unverified broker").first.get_attribute("value")
    assert wallet.evaluate(CHOOSES, broker) == broker
    expect(answer.get_by_text("The rules refuse this order.")).to_be_visible()


def test_price_that_is_typed_replaces_the_offered_one(console: Console, signum: Signum) -> None:
    """Typed before or after the server has offered the best bid."""
    page, dialog = _dialog(console, signum)
    price = dialog.get_by_label("Price")
    dialog.get_by_role("button", name="Sell", exact=True).click()
    price.click()
    page.keyboard.type("104")
    expect(dialog.get_by_role("button", name=re.compile("^Best bid"))).to_be_visible()
    expect(price).to_have_value("104")
    dialog.get_by_role("button", name="Buy", exact=True).click()
    dialog.get_by_role("button", name="Sell", exact=True).click()
    price.click()
    page.keyboard.type("105")
    expect(price).to_have_value("105")
    pick(dialog.get_by_label("Wallet"), "Treasury")
    dialog.get_by_label("Amount").fill("1")
    expect(dialog.get_by_role("region").get_by_text("This order is allowed.")).to_be_visible()


def test_refused_order_shows_every_failing_rule(console: Console, signum: Signum) -> None:
    market = _market(signum)
    console.sign_in(path=f"markets/{market['id']}")
    dialog = _order(console, "Buy", "Unverified broker", "100", "1")
    refusals = dialog.get_by_role("list", name="Refusals").get_by_role("listitem")
    expect(refusals).to_have_count(1)
    expect(refusals).to_contain_text("is not attested. An attestation is needed to hold the token and to trade here.")
    expect(dialog.get_by_role("link", name="Fix").first).to_be_visible()
    call = refusals.get_by_text("POST http")
    expect(call).to_be_hidden()
    refusals.get_by_text("Show API call").click()
    expect(call).to_be_visible()


@pytest.mark.long
def test_order_after_fix(console: Console, signum: Signum) -> None:
    """A refused order offers its fix in place: the trader is attested, then gets test funds, and the order is sent as
    it was entered."""
    market, run = _market(signum), secrets.token_hex(3)
    made = signum.call("POST", "/orgs/{org}/wallets", {"label": f"Desk {run}"})
    body = {"organization_id": signum.organization, "name": f"Desk {run}", "country": "SWE"}
    trader = signum.call("POST", "/identity/parties", body | {"wallet_address": made["address"]})
    signum.call("POST", f"/identity/parties/{trader['id']}/verify", {"kyc_level": 2, "accredited": True})
    console.sign_in(path=f"markets/{market['id']}")
    page = console.page
    dialog = _order(console, "Buy", f"Desk {run}", "51.125", "3")
    fix = dialog.get_by_role("group", name="Next step")
    fix.get_by_role("button", name="Attest, then place the order").click()
    funds = fix.get_by_role("button", name="Get test funds, then place the order")
    expect(funds).to_be_visible(timeout=60_000)
    expect(dialog.get_by_label("Price")).to_have_value("51.125")
    funds.click()
    expect(dialog).to_be_hidden(timeout=60_000)
    expect(page.get_by_role("region", name="Progress").get_by_text("Done", exact=True)).to_be_visible(timeout=30_000)
    placed = page.get_by_role("table", name="Orders").locator("tbody").get_by_role("row").filter(has_text="51.125")
    expect(placed).to_have_count(1)
    expect(placed.get_by_text("Open", exact=True)).to_be_visible()
    (found,) = signum.call("GET", "/orgs/{org}/attestations", party_id=trader["id"])["attestations"]
    assert (found["status"], found["chain_eid"]) == ("active", SEPOLIA)
    placed.get_by_role("button", name="Cancel").click()
    expect(placed.get_by_text("Cancelled", exact=True)).to_be_visible(timeout=30_000)
    withdraw(signum, trader["id"])


def test_invalid_order_numbers_are_reported_at_their_fields(console: Console, signum: Signum) -> None:
    market = _market(signum)
    console.sign_in(path=f"markets/{market['id']}")
    dialog = _order(console, "Sell", "Treasury", "1.1234567", "-4")
    expect(dialog.get_by_text("At most 6 decimals")).to_be_visible()
    expect(dialog.get_by_text("Enter a number, such as 1250.5")).to_be_visible()
    expect(dialog.get_by_label("Price")).to_have_attribute("aria-invalid", "true")


def test_invalid_order_numbers_are_reported_when_their_field_is_left(console: Console, signum: Signum) -> None:
    _, dialog = _dialog(console, signum)
    price, amount = dialog.get_by_label("Price"), dialog.get_by_label("Amount")
    for field, invalid in ((price, "1.1234567"), (amount, "1e3"), (amount, "٣"), (amount, "0")):
        field.fill(invalid)
        field.press("Tab")
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(dialog.get_by_role("alert")).to_be_visible()
        field.fill("2")
        expect(field).to_have_attribute("aria-invalid", "false")
    amount.fill("")
    amount.press("Tab")
    expect(amount).to_have_attribute("aria-invalid", "false")


@pytest.mark.long
def test_order_of_a_revoked_trader_leads_to_its_case(console: Console, signum: Signum) -> None:
    """After a sanctions match, the dialog does not offer to attest the trader again: it names the revocation and links
    to the case, which shows it too."""
    market, run, why = _market(signum), secrets.token_hex(3), "Sanctions screening match"
    made = signum.call("POST", "/orgs/{org}/wallets", {"label": f"Desk {run}"})
    body = {"organization_id": signum.organization, "name": f"Desk {run}", "country": "SWE"}
    trader = signum.call("POST", "/identity/parties", body | {"wallet_address": made["address"]})
    signum.call("POST", f"/identity/parties/{trader['id']}/verify", {"kyc_level": 2})
    attested = signum.call(
        "POST", "/orgs/{org}/attestations", {"party_id": trader["id"], "chain_eid": market["chain_eid"]}
    )
    signum.wait_for(attested["requestId"])
    officer = signum.person("compliance_officer")
    path = f"/orgs/{{org}}/attestations/{attested['attestationId']}/revoke"
    signum.wait_for(signum.call("POST", path, {"reason": why}, person=officer)["requestId"])

    console.sign_in(path=f"markets/{market['id']}")
    dialog = _order(console, "Buy", f"Desk {run}", "100", "1")
    refusal = dialog.get_by_role("list", name="Refusals").get_by_role("listitem")
    expect(refusal).to_contain_text(re.compile(rf"was revoked on \d+ \w+ \d{{4}} by .+: {why}"))
    expect(dialog.get_by_role("button", name=re.compile("Attest"))).to_have_count(0)
    refusal.get_by_role("link", name="Review the case: Attestation").click()

    case = console.page.get_by_role("complementary", name=f"Desk {run}")
    note = case.get_by_text("Attestation revoked.").locator("..")
    expect(note).to_contain_text(why)
    expect(note).to_contain_text("Sepolia Devnet")
    attest = case.get_by_role("button", name="Attest", exact=True)
    expect(attest).not_to_have_class(re.compile("primary"))
    attest.click()
    form = console.page.get_by_role("dialog", name="Issue an attestation")
    expect(form.get_by_text("Attestation revoked.").locator("..")).to_contain_text(why)
    signum.call("POST", f"/identity/parties/{trader['id']}/reject", {"reason": "End of the test."})
