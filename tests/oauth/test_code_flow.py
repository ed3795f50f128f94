"""Signing in with an application: the correct flow, and every incorrect one."""

import asyncio
import base64
import html
import re
from datetime import timedelta

import httpx
import pytest
import sqlalchemy as sa
from joserfc import jwt
from joserfc.jwk import KeySet

from backend.auth.models import SessionRow
from backend.auth.oauth_models import OAuthCodeRow
from backend.client import ApiProblem
from backend.core import db
from backend.oauth import rules
from tests.conftest import World
from tests.oauth.application import BASE, CALLBACK, TOKEN, Application, parameters, register


async def test_person_signs_in_with_an_application(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    query = application.request("openid email")
    asked = await application.send(person, query)
    assert asked.status_code == 302
    assert asked.headers["location"].startswith("/oauth/consent?")
    shown = await person.call("GET", "/oauth/consent", params=query)
    assert (shown["client_name"], shown["organization_name"]) == ("Portfolio", "Acme")
    assert shown["redirect_host"] == "app.example"
    assert [s["scope"] for s in shown["scopes"]] == ["openid", "email"]

    decided = await person.call("POST", "/oauth/consent", json={**query, "approve": True})
    assert decided["redirect_to"].startswith(CALLBACK + "&code=")
    back = parameters(decided["redirect_to"])
    assert (back["state"], back["iss"], back["kept"]) == ("s/1&2", BASE, "1")

    answer = await application.exchange(back["code"])
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    tokens = answer.json()
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 900, "openid email")
    keys = KeySet.import_key_set((await application.http.get("/v1/oauth/jwks")).json())
    id_token = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"]).claims
    assert (id_token["iss"], id_token["aud"], id_token["nonce"]) == (BASE, application.id, "n-1")
    assert id_token["sub"] == str(person.user_id)
    assert id_token["at_hash"] == rules.half_hash(tokens["access_token"])
    assert 0 <= id_token["iat"] - id_token["auth_time"] < 60
    access = jwt.decode(tokens["access_token"], keys, algorithms=["RS256"])
    assert (access.header["typ"], access.claims["client_id"]) == ("at+jwt", application.id)
    assert (await application.userinfo(tokens["access_token"])).json()["email"] == person.email


async def test_consent_is_not_requested_again_for_the_same_scopes(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    await application.sign_in(person, "openid email")
    again = await application.send(person, application.request("openid", prompt="none"))
    assert "code" in parameters(again.headers["location"])
    more = await application.send(person, application.request("openid profile"))
    assert more.headers["location"].startswith("/oauth/consent?")
    asked = await application.send(person, application.request("openid", prompt="consent"))
    assert asked.headers["location"].startswith("/oauth/consent?")


async def test_consent_refused_returns_an_error_to_the_application(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    decided = await person.call("POST", "/oauth/consent", json={**application.request(), "approve": False})
    assert parameters(decided["redirect_to"])["error"] == "access_denied"
    assert "code" not in parameters(decided["redirect_to"])
    silent = await application.send(person, application.request(prompt="none"))
    assert parameters(silent.headers["location"])["error"] == "consent_required"


async def test_person_without_a_session_signs_in_first(world: World, application: Application) -> None:
    away = await application.send(None, application.request())
    assert away.headers["location"].startswith("/sign-in?next=%2Fv1%2Foauth%2Fauthorize%3F")
    silent = await application.send(None, application.request(prompt="none"))
    assert parameters(silent.headers["location"])["error"] == "login_required"
    person = await world.person(application.organization)
    login = await application.send(person, application.request(prompt="login"))
    following = parameters(login.headers["location"])["next"]
    assert "prompt" not in parameters(following)
    assert parameters(following)["max_age"] == "60"
    async with db.worker() as session:
        age = sa.update(SessionRow).values(signed_in_at=db.now() - timedelta(minutes=5))
        await session.execute(age.where(SessionRow.user_id == person.user_id))
    old = await application.send(person, application.request(max_age="60"))
    assert old.headers["location"].startswith("/sign-in?")


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": None},
        {"client_id": "unknown"},
        {"client_id": "0198aaaa-0000-7000-8000-000000000000"},
        {"redirect_uri": None},
        {"redirect_uri": CALLBACK + "/"},
        {"redirect_uri": "https://app.example/callback"},
        {"redirect_uri": "https://evil.example/callback?kept=1"},
    ],
)
async def test_unregistered_redirect_uri_gets_no_redirect(
    world: World, application: Application, change: dict[str, str | None]
) -> None:
    person = await world.person(application.organization)
    answer = await application.send(person, application.request(**change))
    assert answer.status_code == 400
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"scope": "openid assets:write"}, "invalid_scope"),
        ({"scope": "nothing"}, "invalid_scope"),
        ({"scope": None}, "invalid_scope"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"prompt": "sing"}, "invalid_request"),
        ({"max_age": "-1"}, "invalid_request"),
        ({"nonce": "a\0b"}, "invalid_request"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"request": "e30."}, "request_not_supported"),
        ({"request_uri": "https://x.example"}, "request_uri_not_supported"),
    ],
)
async def test_invalid_request_is_reported_to_the_application(
    world: World, application: Application, change: dict[str, str | None], error: str
) -> None:
    person = await world.person(application.organization)
    answer = await application.send(person, application.request(**change))
    assert answer.headers["location"].startswith(CALLBACK)
    response = parameters(answer.headers["location"])
    assert (response["error"], response["state"], response["iss"]) == (error, "s/1&2", BASE)


async def test_duplicate_parameter_is_rejected(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    query = [*application.request().items(), ("scope", "openid")]
    answer = await application.http.get("/v1/oauth/authorize", params=query, headers={"cookie": person.cookie})
    assert parameters(answer.headers["location"])["error"] == "invalid_request"
    code = await application.code(person)
    body = f"grant_type=authorization_code&grant_type=refresh_token&code={code}"
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = await application.http.post(TOKEN, content=body, headers=form)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({"code": "wrong"}, 400, "invalid_grant"),
        ({"code": None}, 400, "invalid_request"),
        ({"code_verifier": "v" * 43}, 400, "invalid_grant"),
        ({"code_verifier": "short"}, 400, "invalid_grant"),
        ({"code_verifier": None}, 400, "invalid_request"),
        ({"redirect_uri": "https://app.example/callback"}, 400, "invalid_grant"),
        ({"redirect_uri": None}, 400, "invalid_request"),
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_secret": None}, 401, "invalid_client"),
        ({"client_id": None}, 401, "invalid_client"),
        ({"client_id": "a\0b"}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"grant_type": None}, 400, "invalid_request"),
        ({"grant_type": "client_credentials"}, 400, "unauthorized_client"),
        ({"code": "c" * 600}, 400, "invalid_request"),
    ],
)
async def test_code_exchanged_with_wrong_parameters_is_rejected(
    world: World, application: Application, change: dict[str, str | None], status: int, error: str
) -> None:
    person = await world.person(application.organization)
    code = await application.code(person)
    answer = await application.exchange(code, **change)
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer.json()["error_description"]
    assert answer.headers["cache-control"] == "no-store"
    assert (await application.exchange(code)).status_code == 200


async def test_code_reuse_ends_the_session_of_the_first_use(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    code = await application.code(person)
    tokens = (await application.exchange(code)).json()
    again = await application.exchange(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert (await application.userinfo(tokens["access_token"])).status_code == 401
    assert (await application.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


async def test_code_sent_concurrently_works_once(world: World, application: Application) -> None:
    code = await application.code(await world.person(application.organization))
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*(application.exchange(code) for _ in range(20)))
    assert sorted(a.status_code for a in answers) == [200] + [400] * 19


async def test_code_expires_after_a_minute_or_with_the_session(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    late, left = await application.code(person), await application.code(person)
    async with db.worker() as session:
        rows = (await session.execute(sa.select(OAuthCodeRow).order_by(sa.desc("created_at")).limit(2))).scalars().all()
        assert all(50 < (r.expires_at - r.created_at).total_seconds() <= 61 for r in rows)
        rows[1].expires_at = db.now() - timedelta(seconds=1)
    assert (await application.exchange(late)).json()["error"] == "invalid_grant"
    await person.call("POST", "/auth/logout")
    assert (await application.exchange(left)).json()["error"] == "invalid_grant"


async def test_code_and_refresh_token_are_bound_to_their_application(world: World, application: Application) -> None:
    other = await register(world, application.http, application.organization, name="Other")
    other.verifier = application.verifier
    person = await world.person(application.organization)
    code = await application.code(person)
    assert (await other.exchange(code)).json()["error"] == "invalid_grant"
    tokens = (await application.exchange(code)).json()
    assert (await other.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    own = await application.http.post("/v1/auth/refresh", json={"refresh_token": tokens["refresh_token"]})
    assert own.status_code == 401
    assert (await application.refresh(tokens["refresh_token"])).status_code == 200


async def test_public_application_authenticates_with_pkce_only(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    uri = "http://127.0.0.1:7777/callback"
    public = await register(world, http, acme, kind="public", redirect_uris=[uri])
    assert public.secret is None
    person = await world.person(acme)
    code = await public.code(person, redirect_uri=uri)
    stolen = await public.exchange(code, redirect_uri=uri, code_verifier="x" * 50)
    assert stolen.json()["error"] == "invalid_grant"
    assert (await public.exchange(code, redirect_uri=uri, client_secret="made up")).status_code == 401
    tokens = (await public.exchange(code, redirect_uri=uri)).json()
    assert (await public.refresh(tokens["refresh_token"])).status_code == 200
    again = await public.send(person, public.request(redirect_uri=uri))
    assert again.headers["location"].startswith("/oauth/consent?")


async def test_client_authenticates_with_http_basic(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    code = await application.code(person)
    basic = base64.b64encode(f"{application.id}:{application.secret}".encode()).decode()
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
    form |= {"code_verifier": application.verifier}
    wrong = {"authorization": "Basic " + base64.b64encode(f"{application.id}:no".encode()).decode()}
    refused = await application.http.post(TOKEN, data=form, headers=wrong)
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assert refused.headers["www-authenticate"].startswith("Basic")
    broken = await application.http.post(TOKEN, data=form, headers={"authorization": "Basic !"})
    assert broken.status_code == 401
    two = form | {"client_secret": application.secret or ""}
    both = await application.http.post(TOKEN, data=two, headers={"authorization": f"Basic {basic}"})
    assert (both.status_code, both.json()["error"]) == (400, "invalid_request")
    right = await application.http.post(TOKEN, data=form, headers={"authorization": f"Basic {basic}"})
    assert right.status_code == 200


async def test_refresh_token_rotates_and_its_reuse_ends_the_family(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    first = await application.sign_in(person, "openid email")
    second = (await application.refresh(first["refresh_token"])).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert second["id_token"]
    wide = await application.refresh(second["refresh_token"], scope="openid profile")
    assert wide.json()["error"] == "invalid_scope"
    narrow = (await application.refresh(second["refresh_token"], scope="openid")).json()
    assert narrow["scope"] == "openid"
    assert "email" not in (await application.userinfo(narrow["access_token"])).json()
    whole = (await application.refresh(narrow["refresh_token"])).json()
    assert whole["scope"] == "openid email"

    reused = await application.refresh(first["refresh_token"])
    assert (reused.status_code, reused.json()["error"]) == (400, "invalid_grant")
    assert (await application.refresh(whole["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await application.userinfo(whole["access_token"])).status_code == 401
    assert (await person.call("GET", "/auth/me"))["user"]["email"] == person.email


async def test_body_that_is_not_a_form_is_rejected(application: Application) -> None:
    for content, kind in (
        (b'{"grant_type":"x"}', "application/json"),
        (b"\xff=1", None),
        (b"a=%ff", None),
        (b"a", None),
    ):
        headers = {"content-type": kind or "application/x-www-form-urlencoded"}
        answer = await application.http.post(TOKEN, content=content, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    empty = await application.http.post(TOKEN)
    assert (empty.status_code, empty.json()["error"]) == (400, "invalid_request")


async def test_consent_requires_the_browser_of_the_person(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    body = {**application.request(), "approve": True}
    tokens = await application.sign_in(person)
    for options in (
        {"token": tokens["access_token"]},
        {"headers": {"cookie": person.cookie, "origin": "https://evil.example"}},
        {"headers": await world.key(application.organization)},
    ):
        with pytest.raises(ApiProblem) as refused:
            await world.client.call("POST", "/oauth/consent", json=body, **options)
        assert refused.value.status == 403


async def test_consent_page_posts_a_form_and_redirects(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    asked = await application.send(person, application.request())
    query = asked.headers["location"].partition("?")[2]
    own = {"cookie": person.cookie, "origin": BASE.removesuffix("/v1")}

    async def post(decision: str, headers: dict[str, str], sent: str = query) -> httpx.Response:
        return await application.http.post("/oauth/decide", data={"query": sent, "decision": decision}, headers=headers)

    agreed = await post("approve", own)
    assert agreed.status_code == 200
    assert "form-action 'none'" in agreed.headers["content-security-policy"]
    target = html.unescape(re.findall(r'content="0;url=([^"]+)"', agreed.text)[0])
    assert target.startswith(CALLBACK)
    assert (await application.exchange(parameters(target)["code"])).status_code == 200
    refused = await post("deny", own)
    assert "error=access_denied" in refused.text
    assert "code=" not in refused.text
    assert (await post("approve", own | {"origin": "https://evil.example"})).status_code == 403
    away = await post("approve", {"origin": own["origin"]})
    assert (away.status_code, away.headers["location"][:14]) == (303, "/sign-in?next=")
    evil = query.replace("app.example", "evil.example")
    assert (await post("approve", own, evil)).status_code == 400
    assert (await post("approve", own, "")).status_code == 400
    for odd in (f"client_id={'x' * 600}", f"{query}&state={'x' * 7_000}", "client_id=%00", f"{query}&client_id=x"):
        wrong = await post("approve", own, odd)
        assert (wrong.status_code, wrong.headers["content-type"]) == (400, "application/problem+json")
