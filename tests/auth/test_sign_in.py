"""Signing in and out, with every credential."""

from typing import Any

import httpx
import pytest

from backend.auth.scopes import Scope, scopes_of
from backend.client import ApiProblem
from backend.core.settings import settings
from backend.server import runtime
from backend.users.schemas import Role
from tests.conftest import PASSWORD, World


async def test_person_signs_in_and_out(world: World) -> None:
    acme = await world.organization("Acme")
    person = await world.person(acme)
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    assert tokens["user"]["email"] == person.email
    assert [o["id"] for o in tokens["organizations"]] == [str(acme)]

    me = await world.client.call("GET", "/auth/me", token=tokens["access_token"])
    assert me["org_id"] == str(acme)
    assert me["organizations"][0]["scopes"] == sorted(scopes_of([Role.ADMIN]))

    await world.client.call("POST", "/auth/logout", token=tokens["access_token"])
    with pytest.raises(ApiProblem) as refused:
        await world.client.call("GET", "/auth/me", token=tokens["access_token"])
    assert refused.value.status == 401


async def test_unknown_person_and_wrong_password_get_the_same_response(world: World) -> None:
    person = await world.person(await world.organization())
    answers = []
    for email in (person.email, "unknown@example.com"):
        with pytest.raises(ApiProblem) as refused:
            await world.client.call("POST", "/auth/login", json={"email": email, "password": "wrong"})
        answers.append((refused.value.status, refused.value.detail))
    assert answers[0] == answers[1] == (401, "Incorrect email or password.")


async def test_refresh_token_reuse_ends_the_session(world: World) -> None:
    person = await world.person(await world.organization())
    first = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    second = await world.client.call("POST", "/auth/refresh", json={"refresh_token": first["refresh_token"]})
    with pytest.raises(ApiProblem):
        await world.client.call("POST", "/auth/refresh", json={"refresh_token": first["refresh_token"]})
    with pytest.raises(ApiProblem) as refused:
        await world.client.call("GET", "/auth/me", token=second["access_token"])
    assert refused.value.status == 401


async def test_cookie_from_another_origin_cannot_change_anything(world: World) -> None:
    person = await world.person(await world.organization())
    with pytest.raises(ApiProblem) as refused:
        await world.client.call(
            "POST", "/auth/logout", headers={"cookie": person.cookie, "origin": "https://evil.example"}
        )
    assert refused.value.status == 403
    await person.call("POST", "/auth/logout")
    with pytest.raises(ApiProblem) as ended:
        await person.call("GET", "/auth/me")
    assert ended.value.status == 401


async def test_api_key_reaches_only_its_organization_with_its_scopes(world: World) -> None:
    mine, other = await world.organization("Mine"), await world.organization("Other")
    key = await world.key(mine, Scope.ORGS_READ)
    assert (await world.client.call("GET", f"/orgs/{mine}/requests", headers=key))["requests"] == []
    with pytest.raises(ApiProblem) as foreign:
        await world.client.call("GET", f"/orgs/{other}/requests", headers=key)
    assert (foreign.value.status, foreign.value.type) == (403, "about:blank")
    narrow = await world.key(mine, Scope.ASSETS_READ)
    with pytest.raises(ApiProblem) as lacking:
        await world.client.call("GET", f"/orgs/{mine}/requests", headers=narrow)
    assert lacking.value.type.endswith("/errors/insufficient-scope")


async def test_client_role_reaches_no_staff_operation(world: World) -> None:
    acme = await world.organization()
    person = await world.person(acme, Role.CLIENT)
    with pytest.raises(ApiProblem) as refused:
        await person.call("GET", f"/orgs/{acme}/requests")
    assert refused.value.status == 403


async def test_role_reaches_descendants_but_not_ancestors(world: World) -> None:
    top = await world.organization("Top")
    below = await world.organization("Below", top)
    admin, local = await world.person(top), await world.person(below)
    assert (await admin.call("GET", f"/orgs/{below}/requests"))["requests"] == []
    with pytest.raises(ApiProblem) as refused:
        await local.call("GET", f"/orgs/{top}/requests")
    assert refused.value.status == 403


@pytest.mark.parametrize("credential", ["sgn_wrong", "not-a-token"])
async def test_invalid_credential_is_a_401(world: World, credential: str) -> None:
    acme = await world.organization()
    with pytest.raises(ApiProblem) as refused:
        await world.client.call("GET", f"/orgs/{acme}/requests", token=credential)
    assert refused.value.status == 401


@pytest.mark.parametrize(
    ("wanted", "target"),
    [("/invitation?token=a", "/invitation?token=a"), ("//evil.example", "/sign-in"), ("https://evil", "/sign-in"),
     ("/\\evil", "/sign-in"), ("", "/sign-in")],
)  # fmt: skip
async def test_sign_out_redirects_to_own_pages_only(api: Any, world: World, wanted: str, target: str) -> None:
    person = await world.person(await world.organization())
    headers = {"cookie": person.cookie, "origin": settings().origin}
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        answer = await http.post("/session/end", data={"next": wanted}, headers=headers)
    assert (answer.status_code, answer.headers["location"]) == (303, target)
    with pytest.raises(ApiProblem):
        await person.call("GET", "/auth/me")


@pytest.mark.parametrize(
    ("said", "page", "target"),
    [
        ("/", "/sign-in?next=%2Foauth%2Fconsent%3Fscope%3Dopenid", "/oauth/consent?scope=openid"),
        ("/o/1/members", "/sign-in?next=%2Foauth%2Fconsent", "/o/1/members"),
        ("/", "/sign-in?next=%2F%2Fevil.example", "/"),
        ("/", "/sign-in?next=https%3A%2F%2Fevil.example", "/"),
        ("/", "/sign-in", "/"),
    ],
)
async def test_sign_in_before_the_page_script_runs_redirects_to_the_target(
    api: Any, world: World, said: str, page: str, target: str
) -> None:
    """The form gets its target once the page's script runs; before that its own URL has it."""
    person = await world.person(await world.organization())
    headers = {"origin": settings().origin, "referer": f"{settings().origin}{page}"}
    form = {"email": person.email, "password": PASSWORD, "next": said}
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        answer = await http.post("/session", data=form, headers=headers)
    assert (answer.status_code, answer.headers["location"]) == (303, target)
