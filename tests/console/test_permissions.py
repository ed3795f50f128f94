"""The console offers what a person's roles permit, and says who can do the rest."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from backend.auth.scopes import ROLE_SCOPES, Scope
from backend.client import ApiProblem
from backend.core import db
from backend.organizations.schemas import Access
from backend.users.models import MemberRow
from backend.users.schemas import Role
from state.core.refusals import explained
from state.core.session import holders
from tests.conftest import Actor, World
from tests.console.events import Socket, Tab, connected

SESSION = "reflex___state____state.state___core___session____session"
STAFF = [role for role in Role if role is not Role.CLIENT]


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


async def entered(socket: Socket, person: Actor, organization: UUID) -> str:
    """Open an organization in a new tab; return what the browser gets."""
    tab = Tab(socket, uuid4().hex, f"/o/{organization}/overview", {"org_id": str(organization)})
    return await tab.connect(person.cookie) + await tab.send(f"{SESSION}.enter", {})


def access(name: str | None, role: Role) -> Access:
    return Access.model_construct(display_name=name, role=role)


def test_explanation_names_the_roles_and_at_most_two_people() -> None:
    people = [access("Elin", Role.ADMIN), access("Ana", Role.VIEWER), access(None, Role.ADMIN)]
    people += [access("Priya", Role.COMPLIANCE_OFFICER), access("Bo", Role.ADMIN)]
    said = holders({Scope.ASSETS_WRITE, Scope.API_KEYS_WRITE}, people)
    assert said[Scope.ASSETS_WRITE] == "You need the role Admin or Compliance officer for this. Elin or Priya can help."
    assert said[Scope.API_KEYS_WRITE] == "You need the role Admin for this. Elin or Bo can help."


def test_explanation_without_people_names_the_roles() -> None:
    assert holders({Scope.TRANSFERS_WRITE}, []) == {"transfers:write": "You need the role Admin or Member for this."}


@pytest.mark.parametrize("role", STAFF)
async def test_session_has_the_scopes_of_the_role(world: World, socket: Socket, role: Role) -> None:
    acme = await world.organization("Acme")
    await world.person(acme)
    person = await world.person(acme, role)
    said = await entered(socket, person, acme)
    for scope in Scope:
        # A scope is in the list of scopes, or has an explanation; never both.
        assert (f'"{scope}": "You need the role' not in said) == (scope in ROLE_SCOPES[role]), scope
    assert socket.failures == []


async def test_roles_of_a_person_in_two_organizations_add_up(world: World, socket: Socket) -> None:
    top = await world.organization("Top")
    below = await world.organization("Below", parent=top)
    person = await world.person(top, Role.MEMBER)
    async with db.worker() as session:
        session.add(MemberRow(organization_id=below, user_id=person.user_id, role=Role.COMPLIANCE_OFFICER))
    said = await entered(socket, person, below)
    assert '"wallets:write": "You need the role Admin for this.' in said
    for scope in (Scope.TRANSFERS_WRITE, Scope.ASSETS_WRITE):
        assert f'"{scope}": "You need' not in said


def test_refusal_for_a_missing_scope_names_the_role_and_no_scope() -> None:
    lacking = {"status": 403, "type": "https://x.example/errors/insufficient-scope", "scope": "api-keys:read"}
    said = explained(ApiProblem({**lacking, "title": "Forbidden", "detail": "The credential lacks the scope."}))
    assert said == "You need the role Admin or Compliance officer for this."


def test_other_refusals_keep_their_text() -> None:
    assert explained(ApiProblem({"status": 403, "title": "Forbidden", "detail": "Not from here."})) == "Not from here."
    assert explained(ApiProblem({"status": 403, "title": "Forbidden"})) == "Forbidden"
