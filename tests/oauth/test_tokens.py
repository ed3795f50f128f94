"""Uses of tokens: UserInfo, the API, client credentials, introspection, revocation, rotated keys."""

import base64
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from eth_account import Account
from joserfc import jwt
from joserfc.jwk import KeySet

from backend.attestations.models import AttestationRow
from backend.attestations.schemas import AttestationStatus
from backend.auth import tokens
from backend.auth.models import SigningKeyRow
from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.core import db
from backend.core.encryption import SECRETS
from backend.parties.models import PartyRow
from backend.users.models import UserWalletRow
from backend.users.schemas import Role
from backend.web import is_api
from tests.conftest import PASSWORD, World
from tests.oauth.application import BASE, TOKEN, Application, register

IDENTITIES = "https://localhost/claims/chain_identities"
ATTESTATIONS = "https://localhost/claims/attestations"
WALLET = Account.create().address
"""A new address: claims from another test's attestations would appear too."""


async def attested(organization: Any, person: Any, address: str) -> None:
    """A person's wallet with an active attestation, an expired one, and a revoked one."""
    async with db.worker() as session:
        session.add(UserWalletRow(user_id=person.user_id, address=address, chain_eid=40161))
        party = PartyRow(organization_id=organization, name="Ann", country="DEU", wallet_address=address)
        session.add(party)
        await session.flush()
        shown = {"organization_id": organization, "party_id": party.id, "wallet_address": address, "chain_eid": 40161,
                     "kyc_level": 2, "country": "DEU"}  # fmt: skip
        session.add(AttestationRow(**shown, uid=f"0x{1:064x}", status=AttestationStatus.ACTIVE))
        session.add(AttestationRow(**shown, uid=f"0x{2:064x}", status=AttestationStatus.REVOKED))
        over = db.now() - timedelta(days=1)
        session.add(AttestationRow(**shown, uid=f"0x{3:064x}", status=AttestationStatus.ACTIVE, expires_at=over))


async def test_claims_follow_the_scopes(world: World, application: Application) -> None:
    person = await world.person(application.organization, Role.CLIENT)
    await attested(await world.organization("Issuer"), person, WALLET)
    response = {}
    for scope in ("openid", "openid profile", "openid email", "openid chains:read", "openid kyc:status"):
        token = (await application.sign_in(person, scope))["access_token"]
        answers = [await application.userinfo(token, method) for method in ("GET", "POST")]
        assert [a.status_code for a in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()
        response[scope] = answers[0].json()
    sub = {"sub": str(person.user_id)}
    assert response["openid"] == sub
    assert response["openid profile"] == sub | {"name": person.email.split("@")[0].title(), "picture": None}
    assert response["openid email"] == sub | {"email": person.email, "email_verified": True}
    wallet = {"address": WALLET, "chain_eid": 40161, "vm_type": "evm"}
    assert response["openid chains:read"] == sub | {IDENTITIES: [wallet]}
    statements = response["openid kyc:status"].pop(ATTESTATIONS)
    assert response["openid kyc:status"] == sub
    assert [(s["uid"], s["kyc_level"], s["country"], s["schema"]) for s in statements] == [
        (f"0x{1:064x}", 2, "DEU", "kyc")
    ]


async def test_userinfo_requires_a_personal_token_with_openid(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    key = await world.key(application.organization)
    for headers in ({}, key, {"authorization": f"Bearer {key['x-api-key']}"}, {"cookie": person.cookie},
                    {"authorization": "Bearer x"}):  # fmt: skip
        for method in ("GET", "POST"):
            sent = headers | {"origin": "http://localhost:8000", "host": "localhost:8000"}
            answer = await application.http.request(method, "/v1/oauth/userinfo", headers=sent)
            assert answer.status_code == 401, headers
            assert answer.headers["www-authenticate"].startswith("Bearer")
    without = (await application.sign_in(person, "orgs:read"))["access_token"]
    refused = await application.userinfo(without)
    assert refused.status_code == 403
    assert 'error="insufficient_scope", scope="openid"' in refused.headers["www-authenticate"]
    own = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    claims = await world.client.call("GET", "/oauth/userinfo", token=own["access_token"])
    assert claims["email"] == person.email


async def test_id_token_is_not_accepted_as_an_access_token(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    answer = await application.sign_in(person)
    assert "id_token" in answer
    assert (await application.userinfo(answer["id_token"])).status_code == 401
    none = await application.sign_in(person, "orgs:read")
    assert "id_token" not in none


async def test_application_is_limited_to_the_granted_scopes_and_organization(
    world: World, application: Application
) -> None:
    acme = application.organization
    below, beside = await world.organization("Below", acme), await world.organization("Beside")
    person = await world.person(acme)
    async with db.worker() as session:
        await session.execute(
            sa.text("insert into members (id, organization_id, user_id, role, status, created_at, updated_at) "
                    "values (gen_random_uuid(), :o, :u, 'admin', 'active', now(), now())"),
            {"o": beside, "u": person.user_id},
        )  # fmt: skip
    token = (await application.sign_in(person, "openid orgs:read"))["access_token"]

    async def status(method: str, path: str, **options: Any) -> int:
        try:
            await world.client.call(method, path, token=token, **options)
        except ApiProblem as problem:
            return problem.status
        return 200

    assert await status("GET", f"/orgs/{acme}") == 200
    assert await status("GET", f"/orgs/{below}") == 200
    assert await status("GET", f"/orgs/{beside}") == 403
    assert await status("GET", f"/orgs/{acme}/assets") == 403
    assert await status("GET", "/identity/parties") == 403
    assert await status("PATCH", f"/orgs/{acme}", json={"description": "x"}) == 403
    listed = await world.client.call("GET", "/orgs", token=token)
    assert [o["id"] for o in listed["organizations"]] == [str(acme)]
    for method, path in (("GET", "/auth/me"), ("POST", "/auth/logout"), ("POST", "/orgs")):
        assert await status(method, path, **({"json": {"name": "New"}} if path == "/orgs" else {})) == 403


async def test_role_lost_by_the_person_is_lost_to_the_application(world: World, application: Application) -> None:
    viewer = await world.person(application.organization, Role.CLIENT)
    token = (await application.sign_in(viewer, "openid orgs:read"))["access_token"]
    with pytest.raises(ApiProblem) as refused:
        await world.client.call("GET", f"/orgs/{application.organization}", token=token)
    assert refused.value.status == 403
    assert (await application.userinfo(token)).status_code == 200


async def test_client_credentials_issue_a_token(world: World, http: httpx.AsyncClient) -> None:
    acme, other = await world.organization(), await world.organization()
    key = (await world.key(acme, Scope.ORGS_READ, Scope.ASSETS_READ))["x-api-key"]
    form = {"grant_type": "client_credentials", "client_id": str(acme), "client_secret": key}
    answer = await http.post(TOKEN, data=form | {"scope": "orgs:read"})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["scope"], "refresh_token" in body, "id_token" in body) == ("orgs:read", False, False)
    token = body["access_token"]
    assert (await world.client.call("GET", f"/orgs/{acme}", token=token))["id"] == str(acme)
    for path in (f"/orgs/{other}", f"/orgs/{acme}/assets", "/auth/me"):
        with pytest.raises(ApiProblem) as refused:
            await world.client.call("GET", path, token=token)
        assert refused.value.status == 403
    assert (await http.get("/v1/oauth/userinfo", headers={"authorization": f"Bearer {token}"})).status_code == 401
    all_of_it = (await http.post(TOKEN, data=form)).json()
    assert all_of_it["scope"] == "assets:read orgs:read"
    basic = base64.b64encode(f"{acme}:{key}".encode()).decode()
    by_basic = await http.post(
        TOKEN, data={"grant_type": "client_credentials"}, headers={"authorization": f"Basic {basic}"}
    )
    assert by_basic.status_code == 200

    wide = await http.post(TOKEN, data=form | {"scope": "orgs:write"})
    assert wide.json()["error"] == "invalid_scope"
    wrong = key[:-1] + ("y" if key.endswith("x") else "x")
    for change in ({"client_id": str(other)}, {"client_secret": wrong}, {"client_id": ""}):
        refused_form = await http.post(TOKEN, data=form | change)
        assert (refused_form.status_code, refused_form.json()["error"]) == (401, "invalid_client")
    async with db.worker() as session:
        await session.execute(sa.text("update api_keys set revoked_at = now() where organization_id = :o"), {"o": acme})
    with pytest.raises(ApiProblem) as ended:
        await world.client.call("GET", f"/orgs/{acme}", token=token)
    assert ended.value.status == 401


@pytest.mark.long
async def test_introspection_reports_active_tokens(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    made = await application.sign_in(person, "openid email")
    other = await register(world, application.http, await world.organization(), name="Other")
    own = {"client_id": application.id, "client_secret": application.secret or ""}
    foreign = {"client_id": other.id, "client_secret": other.secret or ""}
    key = (await world.key(application.organization))["x-api-key"]
    by_key = {"client_id": str(application.organization), "client_secret": key}

    async def ask(token: str, who: dict[str, str]) -> httpx.Response:
        return await application.http.post("/v1/oauth/introspect", data=who | {"token": token})

    access = (await ask(made["access_token"], own)).json()
    assert access["active"] is True
    assert (access["scope"], access["client_id"]) == ("openid email", application.id)
    assert (access["sub"], access["iss"]) == (str(person.user_id), BASE)
    assert (await ask(made["refresh_token"], own)).json()["active"] is True
    assert (await ask(made["access_token"], by_key)).json()["active"] is True
    for token, who in (
        (made["access_token"], foreign),
        (made["refresh_token"], foreign),
        ("made up", own),
        (made["id_token"], own),
    ):
        assert (await ask(token, who)).json() == {"active": False}
    login = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    for token in (login["access_token"], login["refresh_token"]):
        assert (await ask(token, by_key)).json() == {"active": False}
    assert (await ask(made["access_token"], {"client_id": application.id})).status_code == 401
    await application.refresh(made["refresh_token"])
    assert (await ask(made["refresh_token"], own)).json() == {"active": False}
    missing = await application.http.post("/v1/oauth/introspect", data=own)
    assert (missing.status_code, missing.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
async def test_revocation_ends_every_token_of_the_grant(world: World, application: Application, which: str) -> None:
    person = await world.person(application.organization)
    made = await application.sign_in(person)
    other = await register(world, application.http, application.organization, name="Other")

    async def end(token: str, by: Application) -> httpx.Response:
        form = {"client_id": by.id, "client_secret": by.secret or "", "token": token}
        return await application.http.post("/v1/oauth/revoke", data=form)

    assert (await end(made[which], other)).json()["error"] == "invalid_grant"
    assert (await application.userinfo(made["access_token"])).status_code == 200
    assert (await end(made[which], application)).status_code == 200
    assert (await application.userinfo(made["access_token"])).status_code == 401
    assert (await application.refresh(made["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await end(made[which], application)).status_code == 200
    assert (await end("made up", application)).status_code == 200


async def test_removed_application_loses_its_tokens(world: World, application: Application) -> None:
    acme = application.organization
    person, admin = await world.person(acme), await world.person(acme)
    made = await application.sign_in(person)
    viewer = await world.person(acme, Role.VIEWER)
    for path in (f"/orgs/{acme}/oauth-clients", f"/orgs/{acme}/oauth-clients/{application.id}"):
        with pytest.raises(ApiProblem) as refused:
            await viewer.call("GET" if path.endswith("clients") else "DELETE", path)
        assert refused.value.status == 403
    with pytest.raises(ApiProblem) as missing:
        await admin.call("DELETE", f"/orgs/{acme}/oauth-clients/{acme}")
    assert missing.value.status == 404
    await admin.call("DELETE", f"/orgs/{acme}/oauth-clients/{application.id}")
    assert (await application.userinfo(made["access_token"])).status_code == 401
    assert (await application.refresh(made["refresh_token"])).json()["error"] == "invalid_client"
    assert (await application.send(person, application.request())).status_code == 400
    listed = (await admin.call("GET", f"/orgs/{acme}/oauth-clients"))["oauth_clients"]
    assert [(c["id"], c["revoked_at"] is None, "secret" in c) for c in listed] == [(application.id, False, False)]


@pytest.mark.parametrize(
    "uri",
    ["http://app.example/cb", "javascript:alert(1)", "https://app.example/cb#x", "https://*.example/cb", "/cb", "x",
     "https://user@app.example/cb", "https://", "https://app.example/ cb", "data:text/html,x", "https://[x"],
)  # fmt: skip
async def test_unsafe_redirect_uri_is_rejected(world: World, uri: str) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    with pytest.raises(ApiProblem) as refused:
        await admin.call("POST", f"/orgs/{acme}/oauth-clients", json={"name": "A", "redirect_uris": [uri]})
    assert refused.value.status == 400
    assert refused.value.by_field()["redirect_uris"]
    assert (await admin.call("GET", f"/orgs/{acme}/oauth-clients"))["oauth_clients"] == []


async def test_application_cannot_be_wider_than_its_creator(world: World, http: httpx.AsyncClient) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.API_KEYS_WRITE, Scope.ORGS_READ)
    body = {"name": "A", "redirect_uris": ["com.example.app:/cb"], "scopes": ["openid", "orgs:read"]}
    made = await http.post(f"/v1/orgs/{acme}/oauth-clients", json=body, headers=key)
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    wide = await http.post(
        f"/v1/orgs/{acme}/oauth-clients", json=body | {"scopes": ["openid", "orgs:write"]}, headers=key
    )
    assert wide.status_code == 403
    assert wide.json()["scope"] == "orgs:write"


async def test_discovery_document_is_complete(http: httpx.AsyncClient) -> None:
    found = [await http.get(p) for p in ("/v1/.well-known/openid-configuration", "/.well-known/openid-configuration")]
    assert found[0].json() == found[1].json()
    document = found[0].json()
    assert document["issuer"] == BASE
    assert document["code_challenge_methods_supported"] == ["S256"]
    for name in ("authorization", "token", "userinfo", "revocation", "introspection"):
        path = document[f"{name}_endpoint"].removeprefix(BASE)
        assert (await http.get(f"/v1{path}")).status_code != 404
    keys = (await http.get("/v1" + document["jwks_uri"].removeprefix(BASE))).json()["keys"]
    assert all(k["alg"] == "RS256" and k["use"] == "sig" and k["kid"] and "d" not in k for k in keys)
    assert is_api("/.well-known/openid-configuration")


async def test_private_signing_keys_are_sealed(application: Application) -> None:
    async with db.worker() as session:
        rows = (await session.execute(sa.text("select id, to_jsonb(k)::text as kept from signing_keys k"))).all()
    published = (await application.http.get("/v1/oauth/jwks")).json()["keys"]
    assert rows
    for kept in (row.kept for row in rows):
        assert not any(f'"{part}"' in kept for part in ("d", "p", "q", "dp", "dq", "qi"))
    assert {k["kid"] for k in published} <= {kid for row in rows for kid in re.findall(r'"kid": "([^"]+)"', row.kept)}


async def test_unreadable_signing_key_is_skipped_without_an_outage(
    world: World, application: Application, caplog: pytest.LogCaptureFixture
) -> None:
    """As after the loss of a data key, or a foreign key written into the table."""
    person = await world.person(application.organization)
    before = await application.sign_in(person)
    async with db.worker() as session:
        current = sa.select(SigningKeyRow).where(SigningKeyRow.retired_at.is_(None))
        lost = list((await session.execute(current)).scalars())
        for row in lost:
            row.sealed = SECRETS.seal_text("{}", "another purpose")
        await session.flush()
        await tokens.load_keys(session)
    after = await application.sign_in(person)
    kid = jwt.decode(after["id_token"], KeySet.import_key_set({"keys": tokens.published()})).header["kid"]
    assert kid not in {row.kid for row in lost}
    assert (await application.userinfo(after["access_token"])).status_code == 200
    assert (await application.userinfo(before["access_token"])).status_code == 401
    assert f"the signing key {lost[-1].kid} cannot be decrypted" in caplog.text
    async with db.worker() as session:
        await tokens.load_keys(session)
        assert await session.scalar(sa.select(SigningKeyRow.kid).where(SigningKeyRow.kid == kid)) == kid
        await session.execute(sa.delete(SigningKeyRow).where(SigningKeyRow.kid.in_([row.kid for row in lost])))
    assert tokens.published()[0]["kid"] == kid


async def test_signing_key_rotation_keeps_sessions_valid(world: World, application: Application) -> None:
    person = await world.person(application.organization)
    before = await application.sign_in(person)
    async with db.worker() as session:
        kid = await tokens.rotate(session)
    async with db.worker() as session:
        await tokens.load_keys(session)
    published = (await application.http.get("/v1/oauth/jwks")).json()
    assert published["keys"][0]["kid"] == kid
    assert len(published["keys"]) >= 2
    after = await application.sign_in(person)
    assert jwt.decode(after["id_token"], KeySet.import_key_set(published)).header["kid"] == kid
    for made in (before, after):
        assert (await application.userinfo(made["access_token"])).status_code == 200
    async with db.worker() as session:
        over = sa.update(SigningKeyRow).where(SigningKeyRow.retired_at.is_not(None))
        await session.execute(over.values(retired_at=db.now() - timedelta(seconds=1)))
        await tokens.load_keys(session)
    assert [k["kid"] for k in (await application.http.get("/v1/oauth/jwks")).json()["keys"]] == [kid]
    assert (await application.userinfo(before["access_token"])).status_code == 401
    assert (await application.userinfo(after["access_token"])).status_code == 200
