"""An application requests access: the page names it and its scopes, and a refusal refuses."""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.conftest import Console, Person, Signum

CALLBACK = "https://desk.example/signed-in"
WORDS = {
    "openid": "Confirm your identity",
    "profile": "See your name",
    "email": "See your email address",
    "assets:read": "See the organization's assets",
}


@dataclass
class Application:
    """An external application: it registers, sends people here, and waits for them at its redirect URI."""

    signum: Signum
    page: Page
    client: dict[str, Any]
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(8))

    @classmethod
    def registered(cls, console: Console) -> "Application":
        """An application with more registered scopes than it requests; the browser answers its redirect URI."""
        body = {"name": "Portfolio Desk", "redirect_uris": [CALLBACK], "scopes": [*WORDS, "kyc:status"]}
        made = console.signum.call("POST", "/orgs/{org}/oauth-clients", body)

        def answer(route: Route) -> None:
            route.fulfill(status=200, content_type="text/html", body="<h1>Back at the desk</h1>")

        console.page.route(f"{CALLBACK}*", answer)
        return cls(console.signum, console.page, made)

    def ask(self, *scopes: str) -> None:
        """Send the browser to the authorization endpoint."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")
        query = {
            "client_id": self.client["id"], "redirect_uri": CALLBACK, "response_type": "code", "state": self.state,
            "scope": " ".join(scopes), "code_challenge": challenge, "code_challenge_method": "S256",
            "prompt": "consent",
        }  # fmt: skip
        self.page.goto(f"{self.signum.url}/v1/oauth/authorize?{urlencode(query)}")

    def response(self) -> dict[str, str]:
        """Return the parameters with which the browser came back."""
        expect(self.page.get_by_role("heading", name="Back at the desk")).to_be_visible()
        response = dict(parse_qsl(urlsplit(self.page.url).query))
        assert self.page.url.startswith(CALLBACK)
        assert (response.pop("state"), response.pop("iss")) == (self.state, f"{self.signum.url}/v1")
        return response

    def tokens(self, code: str) -> httpx.Response:
        """Exchange a code for tokens, once."""
        return self.token(
            {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": self.verifier}
        )

    def token(self, form: dict[str, str]) -> httpx.Response:
        """Send a token request."""
        credentials = (self.client["id"], self.client["secret"])
        return httpx.post(f"{self.signum.url}/v1/oauth/token", data=form, auth=credentials, trust_env=False)

    def claims(self, token: str) -> dict[str, Any]:
        """UserInfo."""
        headers = {"authorization": f"Bearer {token}"}
        answer = httpx.get(f"{self.signum.url}/v1/oauth/userinfo", headers=headers, trust_env=False)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


def sign_in(page: Page, person: Person) -> None:
    """Sign in with the form to which the application's request has led."""
    page.wait_for_url("**/sign-in?next=**")
    expect(page.get_by_text("An application requests access to your account.")).to_be_visible()
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password").fill(person.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/oauth/consent?**", wait_until="commit")


@pytest.mark.long
def test_consent_page_shows_the_request_and_records_the_decision(console: Console, signum: Signum) -> None:
    page, person = console.page, signum.person("viewer")
    desk = Application.registered(console)
    desk.ask(*WORDS)
    sign_in(page, person)
    console.heading("Portfolio Desk requests access")
    organization = signum.call("GET", "/orgs/{org}")["name"]
    card = page.get_by_role("main")
    for said in (person.email, organization, "desk.example", *WORDS.values()):
        expect(card.get_by_text(said).first).to_be_visible()
    expect(card.get_by_role("listitem")).to_have_count(len(WORDS))
    expect(card).not_to_contain_text("attested")
    page.get_by_role("button", name="Deny").click()
    response = desk.response()
    assert (response["error"], "code" in response) == ("access_denied", False)

    desk.ask("openid", "email")
    expect(page.get_by_role("listitem")).to_have_count(2)
    page.get_by_role("button", name="Allow").click()
    code = desk.response()["code"]
    tokens = desk.tokens(code)
    assert tokens.status_code == 200, tokens.text
    claims = desk.claims(tokens.json()["access_token"])
    assert (claims.pop("email"), claims.pop("email_verified")) == (person.email, True)
    assert claims.keys() == {"sub"}
    assert desk.tokens(code).status_code == 400, "a code works once"
    console.errors[:] = [e for e in console.errors if CALLBACK not in e]


def test_consent_page_rejects_an_unknown_application(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="overview").page
    page.goto(f"{signum.url}/oauth/consent?client_id=01a1f8e2-303b-70e2-a3f5-e4f52c84bc2c&redirect_uri={CALLBACK}")
    expect(page.get_by_role("alert")).to_contain_text("No application has this client_id")
    expect(page.get_by_role("button", name="Allow")).to_have_count(0)
