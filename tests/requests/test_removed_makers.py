"""A request does not start after its person lost the role for it, or ended the session that made it."""

from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.bindings import token
from backend.core import db
from backend.core.db import now
from backend.core.settings import settings
from backend.models import SessionRow
from backend.users.schemas import Role
from tests.approvals.second_person import path_of, waiting
from tests.conftest import PASSWORD, Actor, World
from tests.controls.issuer import WHY, Issuer, issuer
from tests.oauth.application import Application, register
from tests.oauth.conftest import http  # noqa: F401  (a fixture)
from tests.requests.test_revoked_makers import SCOPES, ended, mint, minted
from tests.support.crash import unqueued
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT

pytestmark = pytest.mark.long

ROLE = "The person who made this request lost the role that it needs before it started. Nothing was signed."
APPLICATION = "The application that made this request was disconnected before it started. Nothing was signed."
SESSION = "The session that made this request was ended before it started. Nothing was signed."


async def asked(firm: Issuer, person: Actor) -> str:
    """Ask a mint as a person; the engine does not run it."""
    body = {"chain_eid": SEPOLIA, "to_address": (await firm.treasury())["address"], "amount": str(UNIT), "reason": WHY}
    with unqueued():
        return str((await person.call("POST", f"{firm.base}{firm.control('mint')}", json=body))["requestId"])


async def colleague(world: World, firm: Issuer) -> tuple[Actor, str]:
    """Return another admin, and the path of their membership."""
    person = await world.person(firm.id)
    members = (await firm.get("/members"))["members"]
    mine = next(m for m in members if m["user"]["id"] == str(person.user_id))
    return person, f"/members/{mine['id']}"


async def outcome(firm: Issuer, request: str) -> tuple[str, str | None]:
    found = await ended(firm, request)
    return found["status"], (found["problem"] or {}).get("detail")


async def test_mint_of_a_removed_member_and_of_a_key_they_made_is_denied(world: World) -> None:
    firm = await issuer(world)
    person, membership = await colleague(world, firm)
    key = await person.call("POST", f"{firm.base}/api-keys", json={"name": "Robot", "scopes": SCOPES})
    requests = [await asked(firm, person), await mint(world, firm, key["key"])]
    await firm.delete(membership)
    assert [await outcome(firm, request) for request in requests] == [("denied", ROLE)] * 2
    assert await minted(firm) == 0


async def test_mint_of_a_member_whose_new_role_lacks_it_is_denied(world: World) -> None:
    firm = await issuer(world)
    person, membership = await colleague(world, firm)
    key = await person.call("POST", f"{firm.base}/api-keys", json={"name": "Robot", "scopes": SCOPES})
    requests = [await asked(firm, person), await mint(world, firm, key["key"])]
    await firm.patch(membership, {"role": Role.MEMBER})
    assert [await outcome(firm, request) for request in requests] == [("denied", ROLE)] * 2


async def test_mint_of_a_member_whose_new_role_includes_it_is_executed(world: World) -> None:
    firm = await issuer(world)
    person, membership = await colleague(world, firm)
    request = await asked(firm, person)
    await firm.patch(membership, {"role": Role.COMPLIANCE_OFFICER})
    assert await outcome(firm, request) == ("succeeded", None)


async def test_mint_approved_before_its_person_was_removed_is_denied(world: World) -> None:
    firm = await issuer(world)
    person, membership = await colleague(world, firm)
    second = await world.person(firm.id)
    await firm.patch("", {"approvals": ["token.mint"]})
    first, later = [await asked(firm, person) for _ in range(2)]
    for request in (first, later):
        approval = await waiting(firm, {"requestId": request})
        with unqueued():
            await second.call("POST", path_of(firm, approval, "approve"))
    assert await outcome(firm, first) == ("succeeded", None)
    removal = await firm.delete(membership)
    await second.call("POST", path_of(firm, await waiting(firm, removal), "approve"))
    await firm.succeed(removal["requestId"])
    assert await outcome(firm, later) == ("denied", ROLE)


async def test_retry_by_a_removed_member_fails_and_is_retried_by_another_person(world: World) -> None:
    firm = await issuer(world)
    person, membership = await colleague(world, firm)
    request = await asked(firm, person)
    await firm.owner_call(token.pause(firm.token_at))
    assert (await outcome(firm, request))[0] == "failed"
    await firm.owner_call(token.unpause(firm.token_at))
    with unqueued():
        await person.call("POST", f"{firm.base}/requests/{request}/retry")
    await firm.delete(membership)
    found = await ended(firm, request)
    assert (found["status"], found["can_retry"]) == ("failed", True)
    assert "who retried this request lost the role" in found["problem"]["detail"]
    assert (await firm.retry(request, 3))["status"] == "succeeded"


async def session_of(person: Actor) -> str:
    sessions = (await person.call("GET", "/auth/sessions"))["sessions"]
    return str(next(s["id"] for s in sessions if s["current"]))


async def again(world: World, person: Actor) -> Actor:
    """Return the person in another browser."""
    return Actor(person.user_id, person.email, await world.sign_in(person.email), world.client)


async def sign_out(http: httpx.AsyncClient, person: Actor, **form: str) -> None:  # noqa: F811
    headers = {"cookie": person.cookie, "origin": settings().origin}
    assert (await http.post("/session/end", data=form, headers=headers)).status_code == 303


@pytest.mark.parametrize("end", ["everywhere", "everywhere_by_cookie", "one", "password", "sign_out_and_everywhere"])
async def test_mint_of_a_session_that_its_person_ended_is_denied(
    world: World,
    http: httpx.AsyncClient,  # noqa: F811
    end: str,
) -> None:
    firm = await issuer(world)
    thief, _ = await colleague(world, firm)
    person = await again(world, thief)
    requests = [await asked(firm, thief) for _ in range(2)]
    if end == "sign_out_and_everywhere":
        await sign_out(http, thief)
    if end == "one":
        await person.call("DELETE", f"/auth/sessions/{await session_of(thief)}")
    elif end == "password":
        new = {"current_password": PASSWORD, "new_password": "Quiet-Harbour-Lantern-27"}
        await person.call("POST", "/auth/password/change", json=new)
    elif end == "everywhere_by_cookie":
        await sign_out(http, person, everywhere="yes")
    else:
        await person.call("DELETE", "/auth/sessions")
    assert [await outcome(firm, request) for request in requests] == [("denied", SESSION)] * 2
    assert await minted(firm) == 0


async def test_mint_of_a_session_that_was_signed_out_is_executed(world: World, http: httpx.AsyncClient) -> None:  # noqa: F811
    firm = await issuer(world)
    person, _ = await colleague(world, firm)
    other = await again(world, person)
    requests = [await asked(firm, who) for who in (person, other)]
    await sign_out(http, person)
    await other.call("POST", "/auth/logout")
    assert [await outcome(firm, request) for request in requests] == [("succeeded", None)] * 2


async def test_mint_of_an_expired_session_is_executed(world: World) -> None:
    firm = await issuer(world)
    person, _ = await colleague(world, firm)
    request = await asked(firm, person)
    async with db.worker() as session:
        mine = sa.update(SessionRow).where(col(SessionRow.user_id) == person.user_id)
        await session.execute(mine.values(expires_at=now()))
    assert await outcome(firm, request) == ("succeeded", None)


async def granted(
    world: World,
    http: httpx.AsyncClient,  # noqa: F811
    firm: Issuer,
    person: Actor,
) -> tuple[Application, Any]:
    """Return an application and its tokens."""
    scopes = ["openid", *SCOPES]
    application = await register(world, http, firm.id, scopes=scopes)
    return application, await application.sign_in(person, " ".join(scopes))


@pytest.mark.parametrize("end", ["revocation", "reuse"])
async def test_mint_of_a_grant_that_its_application_ended_is_executed_until_its_person_ends_all(
    world: World,
    http: httpx.AsyncClient,  # noqa: F811
    end: str,
) -> None:
    firm = await issuer(world)
    person, _ = await colleague(world, firm)
    application, tokens = await granted(world, http, firm, person)
    requests = [await mint(world, firm, tokens["access_token"]) for _ in range(2)]
    if end == "revocation":
        form = {"client_id": application.id, "client_secret": application.secret, "token": tokens["refresh_token"]}
        assert (await http.post("/v1/oauth/revoke", data=form)).status_code == 200
    else:
        answers = [await application.refresh(tokens["refresh_token"]) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 400]
    assert await outcome(firm, requests[0]) == ("succeeded", None)
    await person.call("DELETE", "/auth/sessions")
    assert await outcome(firm, requests[1]) == ("denied", APPLICATION)
