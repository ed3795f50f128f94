"""An invitation is opened from the email: by a new person, by one with an account, too late, by the wrong one."""

import re
import secrets

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum

PASSWORD = "a long new password"


def invite(signum: Signum, email: str, office: str | None = None) -> str:
    """Invite a person as a viewer; return the path of the email's link."""
    org = office or signum.organization
    signum.call("POST", f"/orgs/{org}/invitations", {"email": email, "role": "viewer"})
    return re.search(r"/invitation\?token=\S+", signum.mail(email)).group()  # type: ignore[union-attr]


def accessible(console: Console) -> None:
    """Check that axe finds nothing."""
    found = Axe().run(console.page).response["violations"]
    assert found == [], found


@pytest.mark.long
def test_new_person_joins_by_the_mailed_invitation(console: Console, signum: Signum) -> None:
    email = f"nora.{secrets.token_hex(3)}@mail.example"
    path = invite(signum, email)
    page = console.sign_in(path="members?tab=invitations").page
    page.get_by_role("link", name="View emails").click()
    console.heading("Outbox")
    expect(page.get_by_text("the operator can show it on the server with signum outbox --to EMAIL.")).to_have_count(1)
    page.get_by_role("searchbox", name="Find a recipient").fill(email)
    mail = page.get_by_role("listitem").filter(has_text="To ")
    expect(mail).to_have_count(1)
    expect(mail).to_contain_text(email)
    text = mail.get_by_text(re.compile("Only the recipient may read|Accept here"))
    expect(text).not_to_be_visible()
    mail.get_by_text("You are invited to").click()
    expect(text).to_be_visible()
    expect(mail.get_by_text("/invitation?token=")).not_to_be_visible()
    expect(mail.get_by_role("link")).to_have_count(0)
    accessible(console)
    page.goto(signum.url + path)
    expect(page.get_by_text("This invitation is for someone else")).to_be_visible()
    page.get_by_role("button", name="Sign out and continue").click()
    expect(page.get_by_label("Email")).to_have_value(email)
    assert [cookie["name"] for cookie in page.context.cookies()] == ["signum_device"]
    accessible(console)

    page.get_by_label("Your name").fill("Nora New")
    page.get_by_label("Password").fill("short")
    page.get_by_role("button", name="Create account and join").click()
    expect(page.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert")).to_contain_text("5 of 10")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account and join").click()
    page.wait_for_url(f"**/o/{signum.organization}/overview")
    console.hydrated().heading("Overview")
    expect(page.get_by_role("button", name="Account: Nora New")).to_be_visible()


@pytest.mark.long
def test_existing_person_signs_in_and_accepts_the_invitation(console: Console, signum: Signum) -> None:
    guest = signum.person("viewer")
    office = signum.call("POST", "/orgs", {"name": f"Guest Office {secrets.token_hex(2)}"})["id"]
    page = console.page
    page.goto(signum.url + invite(signum, guest.email, office))
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Email").fill(guest.email)
    page.get_by_label("Password").fill(guest.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/invitation?token=**")
    expect(page.get_by_text(f"You are signed in as {guest.email}")).to_be_visible()
    accessible(console)
    page.get_by_role("button", name="Accept and join").click()
    page.wait_for_url(f"**/o/{office}/overview")
    console.heading("Overview")


@pytest.mark.long
def test_invitation_link_works_once_and_an_unknown_link_is_rejected(console: Console, signum: Signum) -> None:
    page = console.page
    page.goto(f"{signum.url}/invitation?token=made-up")
    expect(page.get_by_role("alert")).to_contain_text(
        "This invitation cannot be opened. The link is incomplete or no longer valid."
    )
    page.goto(f"{signum.url}/invitation")
    expect(page.get_by_role("alert")).to_contain_text(
        "This invitation cannot be opened. The link is incomplete or no longer valid."
    )

    email = f"late.{secrets.token_hex(3)}@mail.example"
    path = invite(signum, email)
    page.goto(signum.url + path)
    expect(page.get_by_label("Email")).to_have_value(email)
    made = next(
        one for one in signum.call("GET", "/orgs/{org}/invitations")["invitations"] if one["email"] == email
    )  # fmt: skip
    signum.call("DELETE", f"/orgs/{{org}}/invitations/{made['id']}")
    page.get_by_label("Your name").fill("Late")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account and join").click()
    expect(page.get_by_role("alert")).to_contain_text("revoked")
    page.reload()
    expect(page.get_by_text("It was revoked")).to_be_visible()


def test_viewer_cannot_read_mail(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "outbox").heading("Outbox").page
    expect(page.get_by_text("No access")).to_be_visible()
