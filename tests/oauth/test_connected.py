"""Connected applications: listed, disconnected, and notified when a person's session has ended."""

import base64
import json
from datetime import timedelta
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from backend.client import ApiProblem
from backend.core.db import now
from backend.engine import queues
from backend.sign_in import backchannel_logout
from tests.conftest import PASSWORD, Actor, World
from tests.oauth.application import BASE, CALLBACK, Application, register
from tests.support.firm import refused
from tests.webhooks.receiver import Receiver

SCOPES = ["openid", "profile", "orgs:read", "api-keys:write"]
MAKES_KEYS = ["api-keys:write", "orgs:read"]


async def connected(person: Actor) -> list[dict[str, Any]]:
    """Return the person's applications."""
    found: list[dict[str, Any]] = (await person.call("GET", "/auth/applications"))["applications"]
    return found


async def asks(application: Application, person: Actor) -> bool:
    """Return whether the authorization endpoint asks for consent."""
    location = (await application.send(person, application.request())).headers["location"]
    return location.startswith("/oauth/consent?")


async def test_person_lists_and_disconnects_applications(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization("Acme")
    person, other = await world.person(acme), await world.person(acme)
    application = await register(world, http, acme, scopes=SCOPES)
    assert await connected(person) == []
    tokens = await application.sign_in(person, " ".join(SCOPES))
    body = {"name": "k", "scopes": ["orgs:read"], "expires_at": (now() + timedelta(days=9)).isoformat()}
    key = await world.client.call("POST", f"/orgs/{acme}/api-keys", json=body, token=tokens["access_token"])
    [shown] = await connected(person)
    assert (shown["id"], shown["name"], shown["organization_name"]) == (application.id, "Portfolio", "Acme")
    assert {s["scope"] for s in shown["scopes"]} == set(SCOPES)
    assert (shown["sessions"], shown["api_keys"]) == (1, 1)
    assert shown["connected_at"]
    assert shown["last_used_at"]
    assert await connected(other) == []
    path = f"/auth/applications/{application.id}"
    await refused(other, "DELETE", path, 404)
    with pytest.raises(ApiProblem) as by_itself:
        await world.client.call("DELETE", path, token=tokens["access_token"])
    assert by_itself.value.status == 403
    code = await application.code(person)
    assert await person.call("DELETE", path) is None
    assert await connected(person) == []
    assert await asks(application, person)
    assert (await application.exchange(code)).json()["error"] == "invalid_grant"
    assert (await application.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await application.userinfo(tokens["access_token"])).status_code == 401
    with pytest.raises(ApiProblem) as ended:
        await world.client.call("GET", f"/orgs/{acme}", token=key["key"])
    assert ended.value.status == 401
    log = (await person.call("GET", f"/orgs/{acme}/audit"))["audit"]
    assert {"oauth_client.disconnected", "session.ended", "api_key.revoked"} <= {e["action"] for e in log}
    await refused(person, "DELETE", path, 404)


async def test_application_with_an_ended_session_asks_for_consent_again(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    await application.sign_in(person)
    assert not await asks(application, person)
    sessions = (await person.call("GET", "/auth/sessions"))["sessions"]
    grant = next(s for s in sessions if s["kind"] == "application")
    await person.call("DELETE", f"/auth/sessions/{grant['id']}")
    assert await asks(application, person)
    assert await connected(person) == []


@pytest.mark.parametrize(
    ("registered", "sent", "is_taken"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb", True),
        ("http://127.0.0.1:8080/cb", "http://127.0.0.1:51004/cb", True),
        ("http://[::1]:8080/cb?x=1", "http://[::1]:51004/cb?x=1", True),
        ("http://localhost:8080/cb", "http://localhost:51004/cb", True),
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/other", False),
        ("http://127.0.0.1/cb", "http://127.0.0.2:51004/cb", False),
        ("http://127.0.0.1/cb", "http://localhost:51004/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004@evil.example/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:x/cb", False),
        ("https://app.example/cb", "https://app.example:8443/cb", False),
    ],
)
async def test_loopback_redirect_uri_is_accepted_with_any_port(
    world: World, http: httpx.AsyncClient, registered: str, sent: str, is_taken: bool
) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    application = await register(world, http, acme, redirect_uris=[registered], kind="public")
    answer = await application.send(person, application.request(redirect_uri=sent))
    assert answer.status_code == (302 if is_taken else 400)
    if is_taken:
        code = await application.code(person, redirect_uri=sent)
        assert (await application.exchange(code, redirect_uri=sent)).status_code == 200


async def logout_claims(http: httpx.AsyncClient, receiver: Receiver, count: int = 1) -> list[dict[str, Any]]:
    """Return the claims of the received logout tokens, once there are this many."""
    await receiver.came(count)
    keys = KeySet.import_key_set((await http.get("/v1/oauth/jwks")).json())
    claims = []
    for request in receiver.received:
        decoded = jwt.decode(parse_qs(request.body.decode())["logout_token"][0], keys, algorithms=["RS256"])
        assert decoded.header["typ"] == "logout+jwt"
        claims.append(dict(decoded.claims))
    return claims


def sid_of(tokens: dict[str, Any]) -> str:
    """Return the session that an ID token names."""
    part = tokens["id_token"].split(".")[1]
    return str(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["sid"])


@pytest.mark.parametrize("how", ["disconnect", "password", "sign_out"])
async def test_application_is_notified_of_an_ended_session(
    world: World, http: httpx.AsyncClient, receiver: Receiver, how: str
) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    application = await register(world, http, acme, backchannel_logout_uri=receiver.url)
    tokens = await application.sign_in(person)
    if how == "disconnect":
        await person.call("DELETE", f"/auth/applications/{application.id}")
    elif how == "password":
        body = {"current_password": PASSWORD, "new_password": "another battery staple"}
        await person.call("POST", "/auth/password/change", json=body)
    else:
        await person.call("POST", "/auth/logout")
    [claims] = await logout_claims(http, receiver)
    assert (claims["iss"], claims["aud"]) == (BASE, application.id)
    assert (claims["sub"], claims["sid"]) == (str(person.user_id), sid_of(tokens))
    assert claims["events"] == {"http://schemas.openid.net/event/backchannel-logout": {}}
    assert claims["exp"] - claims["iat"] == 120
    assert claims["jti"]
    assert "nonce" not in claims
    is_live = (await application.userinfo(tokens["access_token"])).status_code == 200
    assert is_live is (how == "sign_out"), "signing out of the console ends no application's session"


async def test_logout_notification_is_retried_when_the_application_does_not_answer(
    world: World, http: httpx.AsyncClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backchannel_logout, "WAITS", (timedelta(0),) * 2)
    receiver.status = 503
    acme = await world.organization()
    person = await world.person(acme)
    application = await register(world, http, acme, backchannel_logout_uri=receiver.url)
    await application.sign_in(person)
    await person.call("DELETE", f"/auth/applications/{application.id}")
    claims = await logout_claims(http, receiver, 3)
    assert len({c["sid"] for c in claims}) == 1
    assert len({c["jti"] for c in claims}) == 3


async def test_logout_notification_needs_no_slot_of_the_webhooks(
    world: World, http: httpx.AsyncClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "SLOTS", MappingProxyType({**queues.SLOTS, queues.WEBHOOKS: 0}))
    acme = await world.organization()
    person = await world.person(acme)
    hook = await person.call("POST", f"/orgs/{acme}/webhooks", json={"url": receiver.url})
    await person.call("POST", f"/orgs/{acme}/webhooks/{hook['id']}/test")
    application = await register(world, http, acme, backchannel_logout_uri=receiver.url)
    await application.sign_in(person)
    await person.call("DELETE", f"/auth/applications/{application.id}")
    assert len(await logout_claims(http, receiver)) == 1, "the test event waits for a slot"


async def test_logout_uri_must_be_public(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    body = {"name": "A", "redirect_uris": ["https://app.example/cb"]}
    for uri in ("http://app.example/logout", "https://10.0.0.1/logout", "https://app.example:22/x"):
        problem = await refused(
            admin, "POST", f"/orgs/{acme}/oauth-clients", 400, json=body | {"backchannel_logout_uri": uri}
        )
        assert problem.by_field()["backchannel_logout_uri"]


async def test_discovery_announces_backchannel_logout(http: httpx.AsyncClient) -> None:
    said = (await http.get("/v1/.well-known/openid-configuration")).json()
    assert said["backchannel_logout_supported"] is True
    assert said["backchannel_logout_session_supported"] is True
    assert "sid" in said["claims_supported"]


async def registered_with(world: World, http: httpx.AsyncClient, acme: UUID, key: str) -> Application:
    """Register an application with an API key."""
    body = {"name": "Portfolio", "redirect_uris": [CALLBACK], "scopes": ["openid", *MAKES_KEYS]}
    made = await world.client.call("POST", f"/orgs/{acme}/oauth-clients", json=body, token=key)
    return Application(http, made["id"], made["secret"], acme)


async def test_application_of_a_revoked_key_cannot_sign_in(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    key = await admin.call("POST", f"/orgs/{acme}/api-keys", json={"name": "Apps", "scopes": MAKES_KEYS})
    application = await registered_with(world, http, acme, key["key"])
    tokens = await application.sign_in(admin, "openid")
    code = await application.code(admin)
    await admin.call("DELETE", f"/orgs/{acme}/api-keys/{key['id']}")
    answer = await application.send(admin, application.request())
    assert (answer.status_code, answer.json()["detail"]) == (400, "No application has this client_id.")
    assert (await application.exchange(code)).json()["error"] == "invalid_client"
    assert (await application.refresh(tokens["refresh_token"])).json()["error"] == "invalid_client"


async def test_credentials_from_an_application_of_a_revoked_key_end_with_it(
    world: World, http: httpx.AsyncClient
) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    maker = await admin.call("POST", f"/orgs/{acme}/api-keys", json={"name": "Apps", "scopes": MAKES_KEYS})
    application = await registered_with(world, http, acme, maker["key"])
    token = (await application.sign_in(admin, "openid api-keys:write orgs:read"))["access_token"]
    body = {"name": "k", "scopes": ["orgs:read"], "expires_at": (now() + timedelta(days=9)).isoformat()}
    made = await world.client.call("POST", f"/orgs/{acme}/api-keys", json=body, token=token)
    for credential in (token, made["key"]):
        assert await world.client.call("GET", f"/orgs/{acme}", token=credential)
    await admin.call("DELETE", f"/orgs/{acme}/api-keys/{maker['id']}")
    for credential in (token, made["key"]):
        with pytest.raises(ApiProblem) as refused:
            await world.client.call("GET", f"/orgs/{acme}", token=credential)
        assert refused.value.status == 401
    listed = (await admin.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"]
    assert all(key["revoked_at"] for key in listed)
