"""Browser tests of the officer: review parties, attest them, revoke, and compare with the chain."""

import re
import secrets
from typing import Any

import pytest
from eth_utils import to_checksum_address
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import LOAD, Console, Signum

CHAIN = 30_000
"""Milliseconds that a transaction and its read-back may take on a busy machine."""


def wallet() -> str:
    """An address without an owner."""
    return "0x" + secrets.token_hex(20)


def party(signum: Signum, name: str, organization: str | None = None, **more: Any) -> dict[str, Any]:
    """A party that waits for a review."""
    body = {"organization_id": organization or signum.organization, "name": name, "country": "SWE"} | more
    made: dict[str, Any] = signum.call("POST", "/identity/parties", body)
    return made


def withdraw(signum: Signum, party_id: str) -> None:
    """Revoke a party's attestations and reject it, because other tests count the verified parties of the demo."""
    for one in signum.call("GET", "/orgs/{org}/attestations", party_id=party_id, status="active")["attestations"]:
        path = f"/orgs/{{org}}/attestations/{one['id']}/revoke"
        signum.wait_for(signum.call("POST", path, {"reason": "End of the test."})["requestId"])
    signum.call("POST", f"/identity/parties/{party_id}/reject", {"reason": "End of the test."})


def drawer(page: Page, name: str) -> Locator:
    """The open drawer."""
    return page.get_by_role("complementary", name=name)


def queue_row(page: Page, name: str) -> Locator:
    """A row of the list."""
    return page.get_by_role("row").filter(has=page.get_by_role("button", name=name, exact=True))


def option(page: Page, label: str, words: str) -> str:
    """The value of a select's option, found by a part of its label."""
    found = page.get_by_label(label).locator("option").filter(has_text=words).first
    return str(found.get_attribute("value"))


@pytest.mark.long
def test_party_is_verified_attested_and_revoked(console: Console, signum: Signum) -> None:
    """An officer verifies and attests in one step; the chain agrees, also after the revocation."""
    name = f"Astrid Berg {secrets.token_hex(3)}"
    party(signum, name, wallet_address=wallet())
    console.sign_in(signum.person("compliance_officer"), "attestations").heading("Attestations")
    page = console.page
    page.get_by_role("button", name=name, exact=True).click()
    case = drawer(page, name)
    case.get_by_label("KYC level").select_option("2")
    case.get_by_label("Accredited investor").check()
    case.get_by_label("Attest on").select_option(option(page, "Attest on", "Sepolia Devnet"))
    case.get_by_label("Reason").fill("Passport and register extract checked.")
    case.get_by_role("button", name="Verify", exact=True).click()
    expect(case.get_by_text("The chain agrees.")).to_be_visible(timeout=CHAIN)
    expect(case.get_by_text("The attestation is valid on chain and matches this record.")).to_be_visible()
    expect(case.get_by_text("Level 2")).to_be_visible()
    expect(queue_row(page, name)).to_have_count(0)

    case.get_by_role("button", name="Revoke", exact=True).click()
    asked = page.get_by_role("dialog", name=re.compile("Revoke the attestation"))
    expect(asked.get_by_text("holds none of this organization's tokens")).to_be_visible(timeout=CHAIN)
    asked.get_by_label("Reason").fill("Documents withdrawn.")
    asked.get_by_role("button", name="Revoke attestation", exact=True).click()
    expect(case.get_by_text("The attestation is revoked on chain too.")).to_be_visible(timeout=CHAIN)
    expect(case.get_by_text("Documents withdrawn.")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Revoked")).click()
    expect(queue_row(page, name)).to_be_visible()


def test_revocation_dialog_lists_holdings_orders_and_waiting_requests(console: Console, signum: Signum) -> None:
    """Before an attestation is revoked, the dialog says what this stops; leaving changes nothing."""
    console.sign_in(path="attestations?show=active").heading("Attestations")
    page = console.page
    queue_row(page, "Kestrel Pension Trust").get_by_role("button", name="Kestrel Pension Trust").click()
    drawer(page, "Kestrel Pension Trust").get_by_role("button", name="Revoke", exact=True).click()
    asked = page.get_by_role("dialog", name="Revoke the attestation of Kestrel Pension Trust")
    expect(asked.get_by_text("Impact.")).to_be_visible(timeout=CHAIN)
    expect(asked.get_by_text("but cannot send, sell or receive the tokens.")).to_contain_text("NREF")
    expect(asked.get_by_text(re.compile(r"^\d+ open orders? cannot be filled\."))).to_be_visible()
    waiting = asked.get_by_text("Requests that wait for approval name this wallet.")
    expect(waiting).to_be_visible()
    expect(asked.get_by_role("listitem").filter(has_text="Forced transfer of 120 NREF")).to_be_visible()
    asked.get_by_role("button", name="Cancel").click()
    expect(drawer(page, "Kestrel Pension Trust").get_by_text("The chain agrees.")).to_be_visible(timeout=CHAIN)


@pytest.mark.long
def test_attestation_checklist_resolves_missing_prerequisites(console: Console, signum: Signum) -> None:
    """In a new organization all prerequisites are missing: each is resolved from the list, and the attestation
    follows."""
    name = f"Nils Holm {secrets.token_hex(3)}"
    made = signum.call("POST", f"/orgs/{signum.organization}/sub-orgs", {"name": f"New Vehicle {secrets.token_hex(3)}"})
    party(signum, name, made["id"])
    console.sign_in().goto("attestations", made["id"]).heading("Attestations")
    page = console.page
    page.get_by_role("button", name="Issue attestation").click()
    issue = page.get_by_role("dialog", name="Issue an attestation")
    issue.get_by_role("option", name=name).click()
    expect(issue.get_by_text("Not verified yet.")).to_be_visible()
    issue.get_by_label("Chain").select_option(option(page, "Chain", "Sepolia Devnet"))
    issue.get_by_role("button", name="Issue attestation").click()

    steps = page.get_by_role("dialog", name=f"3 steps before {name} is attested")
    expect(steps.get_by_text("1 of 4")).to_be_visible()
    expect(steps.get_by_role("listitem")).to_have_count(4)
    steps.get_by_role("button", name="Verify identity").click()
    steps.get_by_label("KYC level").select_option("2")
    steps.get_by_role("button", name="Verify", exact=True).click()
    steps = page.get_by_role("dialog", name=f"2 steps before {name} is attested")
    expect(steps.get_by_text("2 of 4")).to_be_visible(timeout=LOAD)
    steps.get_by_role("button", name="Enable chain").click()
    steps = page.get_by_role("dialog", name=f"One step before {name} is attested")
    expect(steps.get_by_text("3 of 4")).to_be_visible(timeout=LOAD)
    steps.get_by_role("button", name="Create wallet").click()
    steps.get_by_role("button", name="Register issuer").click()
    steps.get_by_role("button", name="Register", exact=True).click()
    expect(steps.get_by_text("only with your consent")).to_be_visible()
    steps.get_by_label("I agree to a one-time API key").check()
    steps.get_by_role("button", name="Register", exact=True).click()
    steps.get_by_role("button", name="Add wallet").click(timeout=CHAIN)
    steps.get_by_label("Wallet address").fill("0x12")
    steps.get_by_role("button", name="Add wallet").last.click()
    expect(steps.get_by_text("is not an EVM address")).to_be_visible()
    steps.get_by_label("Wallet address").fill(wallet())
    steps.get_by_role("button", name="Add wallet").last.click()

    expect(steps).to_be_hidden(timeout=CHAIN)
    expect(drawer(page, name).get_by_text("The chain agrees.")).to_be_visible(timeout=CHAIN)
    keys = signum.call("GET", f"/orgs/{made['id']}/api-keys")["api_keys"]
    assert [key["scopes"] for key in keys] == [["attestations:write"]]
    assert all(key["revoked_at"] for key in keys)


@pytest.mark.long
def test_party_is_registered_and_rejected(console: Console, signum: Signum) -> None:
    """A company is registered with its country's name; the officer rejects it with a reason."""
    name = f"Grey Harbour Ltd {secrets.token_hex(3)}"
    console.sign_in(signum.person("compliance_officer"), "parties").heading("Parties")
    page = console.page
    page.get_by_role("button", name="Register party").click()
    form = page.get_by_role("dialog", name="Register a party")
    form.get_by_label("Company").check()
    form.get_by_role("textbox", name="Name").fill(name)
    form.get_by_label("Country").fill("Atlantis")
    form.get_by_role("button", name="Register party").click()
    expect(form.get_by_role("alert")).to_be_visible()
    form.get_by_label("Country").fill("Cayman Islands")
    form.get_by_role("button", name="Register party").click()
    case = drawer(page, name)
    expect(case.get_by_text("Company, Cayman Islands")).to_be_visible()
    case.get_by_role("button", name="Reject").click()
    asked = page.get_by_role("dialog", name=f"Reject {name}")
    asked.get_by_label("Reason").fill("The register does not know it.")
    asked.get_by_role("button", name="Reject").click()
    expect(case.get_by_text("The register does not know it.")).to_be_visible()
    expect(queue_row(page, name).get_by_text("Rejected").last).to_be_visible()


def test_keyboard_shortcuts_move_through_the_queue(console: Console, signum: Signum) -> None:
    """J and K open the next and the previous case, Escape closes the drawer, and fields keep their letters."""
    first, second = (f"{who} {secrets.token_hex(3)}" for who in ("Ada", "Bo"))
    party(signum, first)
    party(signum, second)
    console.sign_in(path="attestations").heading("Attestations")
    page = console.page
    expect(queue_row(page, second)).to_be_visible()
    page.keyboard.press("j")
    expect(drawer(page, second)).to_be_visible()
    page.keyboard.press("j")
    expect(drawer(page, first)).to_be_visible()
    page.keyboard.press("k")
    expect(drawer(page, second)).to_be_visible()
    reason = drawer(page, second).get_by_label("Reason")
    reason.press_sequentially("jk")
    expect(reason).to_have_value("jk")
    expect(drawer(page, second)).to_be_visible()
    reason.blur()
    page.keyboard.press("Escape")
    expect(drawer(page, second)).to_be_hidden()


def test_viewer_reads_attestations_without_review_buttons(console: Console, signum: Signum) -> None:
    """A viewer reads parties, attestations and their proof, without review buttons."""
    name = f"Olle Wik {secrets.token_hex(3)}"
    party(signum, name)
    console.sign_in(signum.person("viewer"), "attestations?show=active").heading("Attestations")
    page = console.page
    expect(page.get_by_role("button", name="Issue attestation")).to_have_count(0)
    queue_row(page, "Kestrel Pension Trust").get_by_role("button", name="Kestrel Pension Trust").click()
    case = drawer(page, "Kestrel Pension Trust")
    expect(case.get_by_text("The chain agrees.")).to_be_visible(timeout=CHAIN)
    expect(case.get_by_role("button", name="Revoke")).to_have_count(0)
    console.goto("parties").heading("Parties")
    expect(page.get_by_role("button", name="Register party")).to_have_count(0)
    page.get_by_role("button", name=name, exact=True).click()
    expect(
        drawer(page, name).get_by_text(
            "Read-only. You need the role Admin or Compliance officer to verify or attest parties."
        )
    ).to_be_visible()
    expect(drawer(page, name).get_by_role("button", name="Verify")).to_have_count(0)


@pytest.mark.long
def test_attestations_of_one_party_are_told_apart_by_their_wallets(console: Console, signum: Signum) -> None:
    """A party with a second wallet has two attestations on one chain; each row has the wallet."""
    name = f"Runa Vik {secrets.token_hex(3)}"
    first, second = wallet(), signum.call("POST", "/orgs/{org}/wallets", {"label": f"Custody of {name}"})["address"]
    made = party(signum, name, wallet_address=first)
    signum.call("POST", f"/identity/parties/{made['id']}/verify", {"kyc_level": 1})
    for address in (first, second):
        signum.call("PATCH", f"/identity/parties/{made['id']}", {"wallet_address": address})
        body = {"party_id": made["id"], "chain_eid": 40161}
        signum.wait_for(signum.call("POST", "/orgs/{org}/attestations", body)["requestId"])
    console.sign_in(path="attestations?show=active").heading("Attestations")
    rows = queue_row(console.page, name)
    expect(rows).to_have_count(2)
    for address in (first, second):
        expect(rows.filter(has_text=to_checksum_address(address)[-4:])).to_have_count(1)
    withdraw(signum, made["id"])


def test_active_attestations_sort_by_expiry(console: Console, signum: Signum) -> None:
    path = "/orgs/{org}/attestations"
    found = signum.call("GET", path, status="active", sort="expires_at", order="asc", limit=100)["attestations"]
    ends = [one["expires_at"] for one in found]
    assert ends == sorted(ends, key=lambda end: end or "9999")
    page = console.sign_in(path="attestations?show=active").heading("Attestations").page
    rows = page.get_by_role("table", name="Queue").locator("tbody").get_by_role("row")
    heading = page.get_by_role("columnheader", name="Expires")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    expect(rows.first).to_contain_text(found[0]["party"]["name"])
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    page.wait_for_url("**sort=expires_at**order=desc**")
    expect(rows.first).to_contain_text(found[-1]["party"]["name"])
    page.get_by_role("group", name="Show").get_by_role("button", name=re.compile("^To decide")).click()
    expect(page.get_by_role("columnheader", name="Waiting since").get_by_role("button")).to_have_count(0)


def test_level_of_an_attestation_is_on_one_line_on_a_phone(console: Console) -> None:
    page = console.sign_in(path="attestations?show=active").heading("Attestations").page
    page.set_viewport_size({"width": 390, "height": 844})
    levels = page.get_by_role("table", name="Queue").locator("td[data-label=Level]")
    expect(levels.first).to_be_visible()
    heights = levels.evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().height)")
    assert max(heights) < 30, heights


def test_party_gets_its_wallet_later(console: Console, signum: Signum) -> None:
    made = party(signum, f"Late Wallet {secrets.token_hex(3)}")
    page = console.sign_in(path=f"parties?id={made['id']}").heading("Parties").page
    drawer(page, made["name"]).get_by_role("button", name="Edit party").click()
    dialog, address = page.get_by_role("dialog", name="Edit party"), to_checksum_address(wallet())
    dialog.get_by_label("Wallet address").fill("0x12")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Wallet address")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Wallet address").fill(address)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(drawer(page, made["name"])).to_contain_text(address[-4:])
    withdraw(signum, made["id"])


def test_parties_that_cannot_be_attested_lead_to_their_review(console: Console, signum: Signum) -> None:
    made = party(signum, f"Not Verified {secrets.token_hex(3)}")
    page = console.sign_in(path="parties").heading("Parties").page
    console.choose(queue_row(page, made["name"]).get_by_role("checkbox"))
    page.get_by_role("toolbar", name="Actions on selected rows").get_by_role("button", name="Attest").click()
    dialog = page.get_by_role("dialog", name="Nothing to attest")
    expect(dialog).to_contain_text(f"Only verified parties can be attested. {made['name']} has no review yet.")
    dialog.get_by_role("button", name=f"Review {made['name']}").click()
    expect(drawer(page, made["name"])).to_be_visible()
    withdraw(signum, made["id"])
