"""What the document says of each operation's credentials, scopes and refusals is what its guard does.

Derived here once more, from what an operation declares, so that neither the document nor its writer can forget one.
"""

from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from limits import RateLimitItemPerMinute

from backend import runtime
from backend.api import create_api
from backend.auth import rate_limit
from backend.auth.needs import ANY_ORGANIZATION, OPEN, Needs
from backend.auth.route import GuardedRoute
from backend.settings import settings
from tests.openapi.operations import CASES, Case

UNGUARDED = {"get_health", "get_readiness", "explain_error"}
"""They ask for nothing, count nothing and read nothing of a request."""
OPTIONAL = {"token": "client", "revoke": "client", "introspect": "client", "accept_invitation": "accessToken"}
"""Open operations that look at a credential of their own where one is sent."""


def declared() -> dict[tuple[str, str], Needs]:
    """What the guard of each path and method asks."""
    found = {}
    for route in iter_route_contexts(create_api().routes):
        if isinstance(route.original_route, GuardedRoute) and route.include_in_schema:
            found |= {(str(route.path_format), m.lower()): route.endpoint.__needs__ for m in route.methods or ()}
    return found


NEEDS = declared()
GUARDED = [c for c in CASES if str(c) not in UNGUARDED]


def needs_of(case: Case) -> Needs:
    return NEEDS[case.path, case.method]


def choices(needs: Needs) -> set[frozenset[tuple[str, frozenset[str]]]]:
    """Every set of credentials that opens an operation, each with the scopes that it must have."""
    if needs.identity:
        return {frozenset({("accessToken", frozenset({str(needs.identity)}))})}
    each = [{str(s)} for s in needs.scopes] or [set()]
    held = [frozenset(one | ({str(a)} if a else set())) for one in each for a in (needs.action or (None,))]
    people = ("session",) if needs.browser else ("accessToken", "session")
    if needs.both:
        return {frozenset({(person, scopes), ("apiKey", scopes)}) for person in people for scopes in held}
    alone = people if needs.person or needs.browser else (*people, "apiKey")
    return {frozenset({(kind, scopes)}) for kind in alone for scopes in held}


def refusals(case: Case, needs: Needs) -> set[str]:
    """The statuses that the guard, the limits and the reading of a request can end with."""
    found = {"400", "413", "429", "500", "503"}
    if needs.organization != OPEN:
        found |= {"401", "403"}
    if case.method in ("post", "patch", "put"):
        found |= {"409", "415", "422"}  # 409 and 422 of the Idempotency-Key, too
    if any(p.get("in") == "path" and p["name"] != needs.organization for p in case.entry.get("parameters", [])):
        found.add("404")
    return found


def test_only_what_asks_for_nothing_has_no_guard() -> None:
    assert {(c.path, c.method) for c in GUARDED} == NEEDS.keys()
    assert {str(c) for c in CASES} - {str(c) for c in GUARDED} == UNGUARDED


@pytest.mark.parametrize("case", GUARDED, ids=str)
def test_its_security_is_what_the_guard_asks(case: Case) -> None:
    needs, told = needs_of(case), case.entry["security"]
    if needs.organization == OPEN:
        kinds = {name for choice in told for name in choice}
        assert OPTIONAL[str(case)] in kinds if str(case) in OPTIONAL else not told
        assert {} in told or not told
        return
    assert {frozenset((name, frozenset(scopes)) for name, scopes in c.items()) for c in told} == choices(needs)
    scopes = {s for choice in told for held in choice.values() for s in held}
    assert all(f"`{scope}`" in case.entry["description"] for scope in scopes)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_documents_every_status_that_its_way_in_can_end_with(case: Case) -> None:
    needed = {"413", "500"} if str(case) in UNGUARDED else refusals(case, needs_of(case))
    assert needed - case.entry["responses"].keys() == set()


@pytest.mark.parametrize("case", [c for c in GUARDED if c.method == "get" and "{" not in c.path], ids=str)
async def test_every_read_is_counted(api: Any, limits: None, monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    """Also where no credential is needed: by the caller's address then."""
    monkeypatch.setitem(rate_limit.PER_PRINCIPAL, "testnet", RateLimitItemPerMinute(1))
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        statuses = [(await http.get(case.path)).status_code for _ in range(2)]
    assert statuses[1] == (429 if needs_of(case).organization == OPEN else 401)


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_body_that_is_too_large_is_refused_whatever_the_method(api: Any, case: Case) -> None:
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        answer = await http.request(case.method, case.path, headers={"content-length": str(2**31)}, content=b"{}")
    assert answer.status_code == 413


def test_an_operation_of_any_organization_names_none_in_its_path() -> None:
    for (path, _), needs in NEEDS.items():
        assert ("{orgId}" in path) == (needs.organization not in (OPEN, ANY_ORGANIZATION)), path


def test_what_depends_on_the_action_says_so() -> None:
    found = {str(c) for c in GUARDED if needs_of(c).action}
    assert found == {"retry_request", "approve_request", "deny_request"}
