"""An application that people sign in with, as an external developer would write it."""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from backend.core.settings import settings
from tests.conftest import Actor, World

CALLBACK = "https://app.example/callback?kept=1"
TOKEN = "/v1/oauth/token"


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def parameters(location: str) -> dict[str, str]:
    """Return the query of a URL."""
    return {k: v[0] for k, v in parse_qs(urlsplit(location).query).items()}


@dataclass
class Application:
    """A registered application and its data of one attempt."""

    http: httpx.AsyncClient
    id: str
    secret: str | None
    organization: Any
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def request(self, scope: str = "openid", **more: str | None) -> dict[str, str]:
        """An authorization request; None removes a parameter."""
        query: dict[str, str | None] = {
            "client_id": self.id,
            "redirect_uri": CALLBACK,
            "response_type": "code",
            "scope": scope,
            "state": "s/1&2",
            "nonce": "n-1",
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
        }
        return {k: v for k, v in (query | more).items() if v is not None}

    async def send(self, person: Actor | None, query: dict[str, str]) -> httpx.Response:
        """A person's browser at the authorization endpoint."""
        headers = {"cookie": person.cookie} if person else {}
        return await self.http.get("/v1/oauth/authorize", params=query, headers=headers)

    async def code(self, person: Actor, scope: str = "openid", **more: str | None) -> str:
        """Return the code after a person has consented."""
        decided = await person.call("POST", "/oauth/consent", json={**self.request(scope, **more), "approve": True})
        return parameters(decided["redirect_to"])["code"]

    async def token(self, **form: str | None) -> httpx.Response:
        """Send a token request with this application's credentials."""
        own = {"client_id": self.id, "client_secret": self.secret, "redirect_uri": CALLBACK}
        sent = {k: v for k, v in (own | form).items() if v is not None}
        return await self.http.post(TOKEN, data=sent)

    async def exchange(self, code: str, /, **form: str | None) -> httpx.Response:
        """Exchange a code for tokens."""
        own = {"grant_type": "authorization_code", "code": code, "code_verifier": self.verifier}
        return await self.token(**own | form)

    async def sign_in(self, person: Actor, scope: str = "openid") -> dict[str, Any]:
        """Run the whole flow and return the token endpoint's response."""
        answer = await self.exchange(await self.code(person, scope))
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def refresh(self, token: str, **form: str | None) -> httpx.Response:
        """Exchange a refresh token for tokens."""
        return await self.token(**{"grant_type": "refresh_token", "refresh_token": token} | form)

    async def userinfo(self, token: str, method: str = "GET") -> httpx.Response:
        """Read UserInfo with an access token."""
        return await self.http.request(method, "/v1/oauth/userinfo", headers={"authorization": f"Bearer {token}"})


async def register(world: World, http: httpx.AsyncClient, organization: Any, **more: Any) -> Application:
    """Register an application, as an admin of its organization does."""
    admin = await world.person(organization)
    scopes = ["openid", "profile", "email", "kyc:status", "chains:read", "orgs:read", "assets:read"]
    body = {"name": "Portfolio", "redirect_uris": [CALLBACK], "scopes": scopes} | more
    made = await admin.call("POST", f"/orgs/{organization}/oauth-clients", json=body)
    return Application(http, made["id"], made["secret"], organization)


BASE = settings().base_url
