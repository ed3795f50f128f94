"""Inviting people: any text is pasted, its addresses are checked while typing, and invited together."""

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


def _addresses(count: int, of: str) -> list[str]:
    return [f"{of}{number:02}@investors.example" for number in range(count)]


def test_eligibility_check_takes_more_addresses_than_one_call_of_the_api(console: Console) -> None:
    page = console.sign_in(path="eligibility").heading("Invite people").page
    box, rows = page.get_by_label("Addresses to check"), page.get_by_role("row").filter(has_text="investors.example")
    many = _addresses(52, "many")
    box.fill(
        "Dear all, please add: " + "; ".join(f"Name <{address}>" for address in many[:25]) + "\n" + "\t".join(many[25:])
    )
    expect(page.get_by_role("status").filter(has_text="52 addresses")).to_be_visible()
    expect(rows).to_have_count(52)
    expect(page.get_by_role("button", name="Invite 52 people")).to_be_enabled()

    box.fill(", ".join(many[:51]))
    expect(rows).to_have_count(51)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_eligibility_check_shows_the_obstacle_of_each_address(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="eligibility").page
    member = signum.person("viewer").email
    page.get_by_label("Addresses to check").fill(f"{member} broken@@mail.example new@mail.example {member.upper()}")
    row = page.get_by_role("row")
    expect(row.filter(has_text=member)).to_contain_text("already a member")
    expect(row.filter(has_text="broken@@mail.example")).to_contain_text("not an email address")
    expect(row.filter(has_text="broken@@mail.example").get_by_role("checkbox")).to_be_disabled()
    expect(row.filter(has_text="new@mail.example")).to_contain_text("No account has this address")
    expect(page.get_by_text("One address is listed more than once")).to_be_visible()
    page.get_by_role("button", name="Errors 2").click()
    expect(row.filter(has_text="new@mail.example")).to_have_count(0)


def test_eligibility_check_shows_and_applies_organization_requirements(console: Console, signum: Signum) -> None:
    asks = {"kyc_required": True, "min_kyc_level": 2, "allowed_email_domains": ["bank.example"], "seats": 40}
    strict = signum.call("POST", "/orgs", {"name": "Strict Holdings"})["id"]
    signum.call("PATCH", f"/orgs/{strict}", {"member_requirements": asks})
    page = console.sign_in().goto("eligibility", strict).page
    required = page.get_by_role("region", name="Requirements of Strict Holdings")
    expect(required).to_contain_text("KYC level 2 or higher")
    expect(required).to_contain_text("bank.example")
    page.get_by_label("Addresses to check").fill("a@bank.example b@other.example")
    expect(page.get_by_role("row").filter(has_text="a@bank.example")).to_contain_text(
        "No verified identity is on record."
    )
    expect(page.get_by_role("row").filter(has_text="b@other.example")).to_contain_text(
        "is not a domain that this organization allows"
    )
    expect(required).to_contain_text(re.compile(r"39 of \d+ seats left"))


def test_eligible_addresses_are_invited_together(console: Console, signum: Signum) -> None:
    club = signum.call("POST", "/orgs", {"name": "Invited Club"})["id"]
    signum.call("POST", f"/orgs/{club}/invitations", {"email": "twice@investors.example"})
    page = console.sign_in().goto("eligibility", club).page
    page.get_by_label("Addresses to check").fill("one@investors.example two@investors.example twice@investors.example")
    console.choose(page.get_by_label("Invite twice@investors.example"))
    page.get_by_label("Role").select_option("viewer")
    page.get_by_role("button", name="Invite 3 people").click()
    row = page.get_by_role("row")
    expect(row.filter(has_text="one@investors.example")).to_contain_text("Invited")
    expect(row.filter(has_text="twice@investors.example")).to_contain_text("Refused")
    toast = page.get_by_role("status").filter(has_text="2 invitations created")
    expect(toast).to_contain_text("No mail server is set, so no email was sent.")
    listed = signum.call("GET", f"/orgs/{club}/invitations")["invitations"]
    assert {(i["email"], i["role"]) for i in listed if i["email"] != "twice@investors.example"} == {
        ("one@investors.example", "viewer"),
        ("two@investors.example", "viewer"),
    }


def test_invitations_wait_for_the_password_and_resume(console: Console, signum: Signum) -> None:
    club = signum.call("POST", "/orgs", {"name": "Proven Club"})["id"]
    admin = signum.person()
    page = console.sign_in(admin).goto("eligibility", club).page
    page.get_by_label("Addresses to check").fill("one@investors.example two@investors.example")
    expect(page.get_by_role("row").filter(has_text="two@investors.example")).to_be_visible()
    signum.forget_proofs(admin)
    page.get_by_role("button", name="Invite 2 people").click()
    confirm = page.get_by_role("dialog", name="Confirm your identity")
    confirm.get_by_label("Password").fill(admin.password)
    confirm.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("status").filter(has_text="2 invitations created")).to_be_visible()
    assert len(signum.call("GET", f"/orgs/{club}/invitations")["invitations"]) == 2
