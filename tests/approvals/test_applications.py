"""An application's request that needs a second person: its name is shown, and the request ends with the grant."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import SessionRow
from backend.core import db
from backend.core.db import now
from backend.requests.models import ApprovalRow
from tests.approvals.second_person import approve, asking, path_of, waiting
from tests.conftest import Actor, World
from tests.oauth.application import Application, register
from tests.oauth.conftest import http  # noqa: F401  (a fixture)
from tests.support.firm import Firm, refused

SCOPES = ["openid", "orgs:read", "orgs:write", "assets:read", "assets:write"]
LIFT = {"approvals": []}


async def connect(world: World, http: httpx.AsyncClient, place: UUID, person: Actor) -> tuple[Application, str]:  # noqa: F811
    """An application of an organization that a person has connected, and its access token."""
    application = await register(world, http, place, scopes=SCOPES)
    return application, (await application.sign_in(person, " ".join(SCOPES)))["access_token"]


async def ask(firm: Firm, token: str, **options: Any) -> Any:
    """Return the approval that an application's request waits for."""
    accepted = await firm.admin.client.call("POST", f"{firm.base}/approvals", json=LIFT, token=token, **options)
    return await waiting(firm, {"requestId": accepted["requestId"]})


async def end(application: Application, person: Actor, how: str) -> None:
    """End a grant in one of the ways it can end."""
    if how == "disconnected":
        await person.call("DELETE", f"/auth/applications/{application.id}")
    elif how == "removed":
        await person.call("DELETE", f"/orgs/{application.organization}/oauth-clients/{application.id}")
    else:
        async with db.worker() as session:
            mine = sa.update(SessionRow).where(col(SessionRow.client_id) == UUID(application.id))
            await session.execute(mine.values(expires_at=now() - timedelta(seconds=1)))


@pytest.mark.long
async def test_approval_of_an_application_request_shows_its_name(world: World, http: httpx.AsyncClient) -> None:  # noqa: F811
    firm, second = await asking(world, "token.pause")
    _, token = await connect(world, http, firm.id, firm.admin)
    approval = await ask(firm, token)
    assert (approval["asked_by"], approval["asked_with"]) == (str(firm.admin.user_id), "Portfolio")
    by_key = await firm.admin.client.call("POST", f"{firm.base}/approvals", json=LIFT, token=token, headers=firm.key)
    assert (await waiting(firm, by_key))["asked_with"] == "Portfolio with the API key test"
    shown = await second.call("GET", path_of(firm, approval))
    assert (shown["obstacle"], shown["plan"]["impact"]["removed"]) == (None, ["token.pause"])
    assert (await approve(firm, second, approval))["status"] == "succeeded"


@pytest.mark.parametrize("how", ["disconnected", "removed", "expired"])
async def test_request_of_an_expired_application_is_not_approved(
    world: World,
    http: httpx.AsyncClient,  # noqa: F811
    how: str,
) -> None:
    firm, second = await asking(world, "token.pause")
    application, token = await connect(world, http, firm.id, firm.admin)
    approval = await ask(firm, token)
    await end(application, firm.admin, how)
    problem = await refused(second, "POST", path_of(firm, approval, "approve"), 409)
    assert problem.detail.startswith("The application Portfolio made this request, and has since been disconnected")
    shown = await second.call("GET", path_of(firm, approval))
    assert (shown["obstacle"], shown["asked_with"]) == (problem.detail, "Portfolio")
    assert (await firm.get(""))["approvals"] == ["token.pause"]


async def test_request_of_a_parent_application_shows_its_name_in_the_child_organization(
    world: World,
    http: httpx.AsyncClient,  # noqa: F811
) -> None:
    """The approver has no access to the application's organization, and sees none of its applications."""
    top = await Firm.found(world, "Top")
    below = await Firm.found(world, "Below", parent=top.id)
    await below.patch("", {"approvals": ["token.pause"]})
    _, token = await connect(world, http, top.id, top.admin)
    approval = await ask(below, token)
    assert approval["asked_with"] == "Portfolio"
    assert (await approve(below, below.admin, approval))["status"] == "succeeded"


async def test_request_of_an_application_is_approved_within_its_scopes_only(
    world: World,
    http: httpx.AsyncClient,  # noqa: F811
) -> None:
    firm, second = await asking(world, "token.pause")
    application, token = await connect(world, http, firm.id, firm.admin)
    approval = await ask(firm, token)
    async with db.worker() as session:
        mine = sa.update(SessionRow).where(col(SessionRow.client_id) == UUID(application.id))
        await session.execute(mine.values(scope="openid orgs:read"))
    problem = await refused(second, "POST", path_of(firm, approval, "approve"), 409)
    assert "no longer has permission for it" in problem.detail


async def test_approval_with_a_deleted_grant_is_rejected(world: World, http: httpx.AsyncClient) -> None:  # noqa: F811
    firm, second = await asking(world, "token.pause")
    _, token = await connect(world, http, firm.id, firm.admin)
    approval = await ask(firm, token)
    async with db.worker() as session:
        mine = sa.update(ApprovalRow).where(col(ApprovalRow.id) == UUID(approval["id"]))
        await session.execute(mine.values(asked_grant=db.new_id()))
    assert "disconnected or expired" in (await refused(second, "POST", path_of(firm, approval, "approve"), 409)).detail
