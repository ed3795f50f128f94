"""Every operation of the document with every single scope, from a foreign organization, anonymously and as a client.

Generated from the document, so a new operation cannot be forgotten. Undocumented responses fail in
`tests.support.openapi_guard`.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from backend.auth.credentials import cookie_name
from backend.auth.scopes import Scope
from backend.auth.secrets import api_key
from backend.client import SignumClient
from backend.core.settings import settings
from backend.server import runtime
from backend.users.schemas import Role
from tests.conftest import World
from tests.openapi.operations import CASES, DOCUMENT, Case

WRONG = [
    {"x-api-key": api_key()},
    {"x-api-key": "sgn_none"},
    {"authorization": f"Bearer {api_key()}"},
    {"authorization": "Bearer eyJhbGciOiJub25lIn0.e30."},
    {"authorization": "Basic YTpi"},
    {"cookie": f"{cookie_name()}=none", "origin": settings().origin},
]
"""Invalid credentials."""
GUARDED = [c for c in CASES if not c.is_open]
SCOPED = [c for c in GUARDED if c.alternatives]
BOUND = [c for c in GUARDED if c.names_organization]


@dataclass
class Ground:
    """One organization with a key of each scope and an admin; a foreign one with a key and an admin; a client."""

    http: httpx.AsyncClient
    organization: UUID
    admin: dict[str, str]
    client: dict[str, str]
    foreigner: dict[str, str]
    keys: dict[Scope, dict[str, str]]
    full_key: dict[str, str]
    foreign_key: dict[str, str]

    async def call(self, case: Case, *credentials: dict[str, str], organization: UUID | None = None) -> httpx.Response:
        """Return the response to a case with some credentials."""
        headers = {k: v for given in credentials for k, v in given.items()}
        answer = await self.http.request(**case.request(organization or self.organization), headers=headers)
        assert answer.status_code < 500, answer.text
        assert str(answer.status_code) in case.entry["responses"], f"{case}: {answer.status_code} {answer.text}"
        return answer


@pytest_asyncio.fixture(scope="module")
async def ground(api: Any, client: SignumClient) -> AsyncIterator[Ground]:
    """Created once."""
    world = World(client)
    own, foreign = await world.organization("Own"), await world.organization("Foreign")

    async def session(organization: UUID, role: Role) -> dict[str, str]:
        return {"cookie": (await world.person(organization, role)).cookie, "origin": settings().origin}

    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        yield Ground(
            http,
            own,
            await session(own, Role.ADMIN),
            await session(own, Role.CLIENT),
            await session(foreign, Role.ADMIN),
            {scope: await world.key(own, scope) for scope in Scope},
            await world.key(own),
            await world.key(foreign),
        )


def kind(answer: httpx.Response) -> str:
    """Return the last part of a problem's type."""
    return str(answer.json()["type"]).rsplit("/", 1)[-1]


@pytest.mark.parametrize("case", SCOPED, ids=str)
async def test_operation_is_opened_only_by_its_scope(ground: Ground, case: Case) -> None:
    person = [] if case.takes_key else [ground.admin]
    for scope, key in ground.keys.items():
        answer = await ground.call(case, key, *person)
        if {scope} in case.alternatives:
            assert answer.status_code != 401
            assert answer.status_code != 403 or kind(answer) != "insufficient-scope", scope
            continue
        assert (answer.status_code, kind(answer)) == (403, "insufficient-scope"), scope
        assert answer.json()["scope"] in set().union(*case.alternatives) - {scope}
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("case", GUARDED, ids=str)
async def test_operation_without_a_valid_credential_is_a_401(ground: Ground, case: Case) -> None:
    wrong = [[one] for one in WRONG] + [[ground.admin, WRONG[0]], [ground.full_key, WRONG[3]]]
    attempts = [[], *wrong] if not case.wants_both else [[], *wrong, [ground.full_key], [ground.admin]]
    for credentials in attempts:
        answer = await ground.call(case, *credentials)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("case", [c for c in GUARDED if not c.takes_key and not c.wants_both], ids=str)
async def test_key_alone_is_refused_where_a_person_is_required(ground: Ground, case: Case) -> None:
    assert (await ground.call(case, ground.full_key)).status_code == (401 if case.wants_token else 403)


@pytest.mark.parametrize("case", BOUND, ids=str)
async def test_foreign_and_unknown_organization_get_the_same_refusal(ground: Ground, case: Case) -> None:
    keys, people = [ground.foreign_key], [ground.foreigner]
    attempts = [keys, people] if case.takes_key else [keys + people]
    for credentials in attempts:
        answers = [await ground.call(case, *credentials, organization=o) for o in (ground.organization, uuid4())]
        assert [(a.status_code, kind(a)) for a in answers] == [(403, "about:blank")] * 2
        assert answers[0].json()["detail"] == answers[1].json()["detail"]


@pytest.mark.parametrize("case", BOUND, ids=str)
async def test_client_role_is_refused_by_organization_operations(ground: Ground, case: Case) -> None:
    keys = [ground.full_key] if case.wants_both else []
    assert (await ground.call(case, ground.client, *keys)).status_code == 403


@pytest.mark.parametrize("case", [c for c in GUARDED if not c.names_organization], ids=str)
async def test_operation_without_an_organization_reveals_none_to_a_client(ground: Ground, case: Case) -> None:
    if case.method == "get":
        answer = await ground.call(case, ground.client)
        if answer.headers["content-type"].startswith("text/csv"):
            assert str(ground.organization) not in answer.text
            return
        assert answer.status_code != 200 or answer.json().get("organizations") in (None, []) or str(case) == "get_me"


@pytest.mark.parametrize("case", [c for c in CASES if c.is_open], ids=str)
async def test_open_operation_needs_no_credential(ground: Ground, case: Case) -> None:
    answer = await ground.call(case)
    assert answer.status_code != 403
    assert "www-authenticate" not in answer.headers or str(answer.status_code) == "401"


def test_matrix_covers_every_operation() -> None:
    walked = {str(c) for c in [*GUARDED, *(c for c in CASES if c.is_open)]}
    known = {e["operationId"] for item in DOCUMENT["paths"].values() for e in item.values()}
    assert walked == known
    assert set().union(*(s for c in SCOPED for s in c.alternatives)) == set(Scope)
