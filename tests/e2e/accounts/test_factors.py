"""Second factors: set up, required at sign-in and before sensitive actions, required by an organization."""

import re
import secrets
import time
from dataclasses import dataclass

import httpx
import psycopg
import pyotp
import pytest
from axe_playwright_python.sync_playwright import Axe
from eth_account import Account
from eth_account.messages import encode_defunct
from playwright.sync_api import Locator, Page, expect

from backend.core.connections.embedded import outside_url
from tests.e2e.conftest import Console, Person, Signum

pytestmark = pytest.mark.long

PASSWORD = "a long new password"


@dataclass
class Phone:
    """An authenticator app."""

    secret: str

    def code(self, steps: int = 0) -> str:
        """The current code, or that of the next step, which is accepted too."""
        return pyotp.TOTP(self.secret).at(time.time(), counter_offset=steps)


def newcomer(signum: Signum, organization: str | None = None, role: str = "viewer") -> Person:
    """A new person in an organization, so that no one else in the demo gets a factor."""
    email, place = f"fay.{secrets.token_hex(4)}@mail.example", organization or signum.organization
    signum.call("POST", f"/orgs/{place}/invitations", {"email": email, "role": role})
    token = re.search(r"/invitation\?token=(\S+)", signum.mail(email)).group(1)  # type: ignore[union-attr]
    body = {"token": token, "display_name": "Fay Factor", "password": PASSWORD}
    answer = httpx.post(f"{signum.url}/v1/invitations/accept", json=body, timeout=30, trust_env=False)
    assert answer.status_code == 200, answer.text
    return Person(email, PASSWORD, role)


def founder(signum: Signum) -> tuple[Person, str]:
    """A new admin, in an organization of their own: another admin of the demo would change who approves there."""
    place = signum.call("POST", "/orgs", {"name": f"House of Fay {secrets.token_hex(3)}"})["id"]
    return newcomer(signum, place, "admin"), place


def grow_stale(signum: Signum, person: Person) -> None:
    """Move the last proof of the person's factor six minutes back."""
    with psycopg.connect(outside_url(signum.home)) as connection:
        connection.execute(
            "update sessions s set factor_at = factor_at - interval '6 minutes' from users u "
            "where u.id = s.user_id and u.email = %s",
            [person.email],
        )


def accessible(console: Console) -> None:
    """Check that axe finds nothing."""
    found = Axe().run(console.page).response["violations"]
    assert found == [], found


def add_app(page: Page) -> tuple[Phone, list[str]]:
    """Add an authenticator app on the account page; return its recovery codes."""
    page.get_by_role("button", name="Add authenticator app").click()
    form = page.get_by_role("dialog", name="Confirm your identity")
    form.get_by_label("Password").fill(PASSWORD)
    form.get_by_role("button", name="Continue").click()
    form = page.get_by_role("dialog", name="Add an authenticator app")
    expect(form.get_by_role("img", name="QR code for your authenticator app")).to_be_visible()
    phone = Phone(form.locator("code").inner_text().replace(" ", ""))
    form.get_by_label("Code").fill("000000")
    form.get_by_role("button", name="Add app").click()
    expect(form.get_by_role("alert")).to_contain_text("The code is incorrect")
    form.get_by_label("Code").fill(phone.code())
    form.get_by_role("button", name="Add app").click()
    saved = page.get_by_role("dialog", name="Save your recovery codes")
    expect(saved.get_by_role("listitem")).to_have_count(10)
    codes = saved.get_by_role("listitem").all_inner_texts()
    saved.get_by_role("button", name="I have saved them").click()
    return phone, codes


def show_password(console: Console, person: Person, place: str) -> Page:
    """Do the first step of a sign-in, in a browser whose session has ended: others are led past the form."""
    page = console.page
    page.context.clear_cookies()
    page.goto(f"{console.signum.url}/sign-in?next=/o/{place}/account")
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password").fill(person.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/sign-in/factor?**")
    return page


def factors(page: Page) -> Locator:
    """The list on the account page."""
    return page.get_by_role("list", name="Second factors").get_by_role("listitem")


def test_authenticator_app_is_suggested_added_and_required(console: Console, signum: Signum) -> None:
    fay, place = founder(signum)
    page = console.sign_in(fay, "members", place).heading("Members").page
    signum.set_proofs(fay, "proven_at = now()")  # as after a password, not after a click of the demo
    expect(page.get_by_role("region", name="Advice")).to_have_count(0)
    console.goto("overview", place).heading("Overview")
    page.get_by_role("region", name="Advice").get_by_role("link", name="Set up second factor").click()
    console.heading("Account")
    accessible(console)
    phone, codes = add_app(page)
    expect(factors(page)).to_have_count(1)
    expect(page.get_by_role("region", name="Advice")).to_have_count(0)
    expect(page.get_by_text("Recovery codes left: 10")).to_be_visible()
    accessible(console)

    show_password(console, fay, place)
    accessible(console)
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("The code or passkey is invalid")
    page.get_by_label("Code").fill(phone.code(1))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/account")
    console.hydrated().heading("Account")

    show_password(console, fay, place)
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/account")
    expect(page.get_by_text("Recovery codes left: 9")).to_be_visible()


def test_sensitive_action_asks_for_the_factor_and_resumes(console: Console, signum: Signum) -> None:
    fay, place = founder(signum)
    page = console.sign_in(fay, "account", place).heading("Account").page
    phone, codes = add_app(page)
    grow_stale(signum, fay)
    console.goto("api-keys", place).heading("API keys")
    page.get_by_role("button", name="New key").first.click()
    form = page.get_by_role("dialog", name="New API key")
    name = f"Nightly {secrets.token_hex(3)}"
    form.get_by_label("Name").fill(name)
    form.get_by_role("button", name="Create key").click()

    confirm = page.get_by_role("dialog", name="Confirm your identity")
    expect(confirm).to_be_visible()
    accessible(console)
    confirm.get_by_label("Code").fill("000000")
    confirm.get_by_role("button", name="Confirm").click()
    expect(confirm.get_by_role("alert")).to_contain_text("incorrect")
    confirm.get_by_label("Code").fill(phone.code(1))
    confirm.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("dialog", name=f"Copy the key of {name} now")).to_be_visible()
    page.get_by_role("button", name="I have copied it").click()

    grow_stale(signum, fay)
    page.get_by_role("button", name=f"Revoke {name}").click()
    page.get_by_role("button", name="Revoke key", exact=True).click()
    page.get_by_role("dialog", name="Confirm your identity").get_by_role("button", name="Cancel").click()
    question = page.get_by_role("dialog").filter(has_text="Revoke")
    expect(question.get_by_role("alert")).to_contain_text("This action needs a second factor")
    question.get_by_role("button", name="Revoke key", exact=True).click()
    confirm.get_by_label("Code").fill(codes[0])
    confirm.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("row").filter(has_text=name)).to_contain_text("Revoked")


def test_sensitive_action_asks_a_person_without_a_factor_for_the_password(console: Console, signum: Signum) -> None:
    fay, place = founder(signum)
    page = console.sign_in(fay, "api-keys", place).heading("API keys").page
    signum.forget_proofs(fay)
    page.get_by_role("button", name="New key").first.click()
    form = page.get_by_role("dialog", name="New API key")
    name = f"Nightly {secrets.token_hex(3)}"
    form.get_by_label("Name").fill(name)
    form.get_by_role("button", name="Create key").click()

    confirm = page.get_by_role("dialog", name="Confirm your identity")
    expect(confirm.get_by_label("Password")).to_be_visible()
    expect(confirm.get_by_label("Code")).to_have_count(0)
    accessible(console)
    confirm.get_by_label("Password").fill("a guess")
    confirm.get_by_role("button", name="Confirm").click()
    expect(confirm.get_by_role("alert")).to_contain_text("The current password is incorrect")
    confirm.get_by_label("Password").fill(PASSWORD)
    confirm.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("dialog", name=f"Copy the key of {name} now")).to_be_visible()
    page.get_by_role("button", name="I have copied it").click()

    page.get_by_role("button", name=f"Revoke {name}").click()
    page.get_by_role("button", name="Revoke key", exact=True).click()
    expect(page.get_by_role("row").filter(has_text=name)).to_contain_text("Revoked")
    expect(confirm).to_have_count(0)


def test_passkey_is_added_signs_in_and_confirms(console: Console, signum: Signum) -> None:
    fay = newcomer(signum)
    page = console.sign_in(fay, "account").heading("Account").page
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    key = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]
    page.get_by_role("button", name="Add passkey").click()
    form = page.get_by_role("dialog", name="Confirm your identity")
    form.get_by_label("Password").fill(PASSWORD)
    form.get_by_role("button", name="Continue").click()
    saved = page.get_by_role("dialog", name="Save your recovery codes")
    expect(saved.get_by_role("listitem")).to_have_count(10)
    saved.get_by_role("button", name="I have saved them").click()
    expect(factors(page)).to_have_text(re.compile("Passkey"))

    show_password(console, fay, signum.organization)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("**/account")
    console.hydrated().heading("Account")
    expect(factors(page)).to_have_count(1)

    grow_stale(signum, fay)
    page.get_by_role("button", name="New recovery codes").click()
    page.get_by_role("dialog", name="Confirm your identity").get_by_role("button", name="Use a passkey").click()
    expect(saved.get_by_role("listitem")).to_have_count(10)
    saved.get_by_role("button", name="I have saved them").click()

    cdp.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": True})
    cdp.send("WebAuthn.clearCredentials", {"authenticatorId": key})
    cdp.send("WebAuthn.setAutomaticPresenceSimulation", {"authenticatorId": key, "enabled": True})
    show_password(console, fay, signum.organization)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("No passkey was used")


def test_person_without_a_password_signs_with_their_wallet(console: Console, signum: Signum) -> None:
    fay, place = founder(signum)
    account, stranger = Account.create(), Account.create()
    page = console.page
    wallets = [stranger, account]
    page.expose_function("accounts", lambda: [wallets[0].address.lower()])
    page.expose_function(
        "sign", lambda text: "0x" + wallets[0].sign_message(encode_defunct(hexstr=text)).signature.hex()
    )
    page.add_init_script(
        "window.ethereum = {request: ({method, params}) =>"
        " method === 'personal_sign' ? window.sign(params[0]) : window.accounts()}"
    )
    console.sign_in(fay, "api-keys", place).heading("API keys")
    with psycopg.connect(outside_url(signum.home)) as connection:
        connection.execute("update users set password_hash = null where email = %s", [fay.email])
        connection.execute(
            "insert into user_wallets (id, created_at, updated_at, user_id, address) "
            "select gen_random_uuid(), now(), now(), id, %s from users where email = %s",
            [account.address, fay.email],
        )
    signum.forget_proofs(fay)
    page.get_by_role("button", name="New key").first.click()
    page.get_by_role("dialog", name="New API key").get_by_label("Name").fill("By wallet")
    page.get_by_role("button", name="Create key").click()
    form = page.get_by_role("dialog", name="Confirm your identity")
    accessible(console)
    form.get_by_role("button", name="Sign with wallet").click()
    expect(form.get_by_role("alert")).to_contain_text("This wallet is not linked to your account")
    wallets.pop(0)
    form.get_by_role("button", name="Sign with wallet").click()
    expect(page.get_by_role("dialog", name="Copy the key of By wallet now")).to_be_visible()
    page.get_by_role("button", name="I have copied it").click()

    wallets.insert(0, stranger)
    console.goto("account", place).heading("Account")
    page.get_by_role("button", name="Add authenticator app").click()
    accessible(console)
    form.get_by_role("button", name="Sign with wallet").click()
    expect(form.get_by_role("alert")).to_contain_text("This wallet is not linked to your account")
    wallets.pop(0)
    form.get_by_role("button", name="Sign with wallet").click()
    expect(page.get_by_role("dialog", name="Add an authenticator app")).to_be_visible()


def test_organization_that_requires_a_factor_guides_members_to_set_one_up(console: Console, signum: Signum) -> None:
    place = signum.call("POST", "/orgs", {"name": f"Strict House {secrets.token_hex(3)}"})["id"]
    boss, fay = newcomer(signum, place, "admin"), newcomer(signum, place)
    page = console.sign_in(boss).goto("settings", place).heading("Settings").page
    rules = page.get_by_role("region", name="Signing in")
    rules.get_by_label("Second factor required").check()
    rules.get_by_role("button", name="Save sign-in rules").click()
    expect(rules.get_by_role("alert")).to_contain_text("You have no second factor")
    console.goto("account", place).heading("Account")
    add_app(page)
    console.goto("settings", place).heading("Settings")
    rules.get_by_label("Second factor required").check()
    rules.get_by_role("button", name="Save sign-in rules").click()
    expect(page.get_by_text("The sign-in rules are saved")).to_be_visible()

    page.context.clear_cookies()
    console.sign_in(fay).goto("members", place)
    expect(page.get_by_text("Set up a second factor first")).to_be_visible()
    accessible(console)
    page.get_by_role("main").get_by_role("link", name="Set up second factor").last.click()
    console.heading("Account")
    add_app(page)
    console.goto("members", place).heading("Members")
