"""The document's credentials, scopes and refusals of each operation match its guard.

Derived here again, from the declaration of an operation, so that neither the document nor its generator can miss one.
"""

from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from limits import RateLimitItemPerMinute

from backend.api import create_api
from backend.auth.guard import GuardedRoute
from backend.auth.permissions import ANY_ORGANIZATION, OPEN, Needs
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.server import runtime
from tests.openapi.operations import CASES, Case

UNGUARDED = {"get_health", "get_readiness", "explain_error"}
"""Operations that need no credential, count nothing and read nothing of a request."""
OPTIONAL = {"token": "client", "revoke": "client", "introspect": "client", "accept_invitation": "accessToken"}
"""Open operations that read a credential if one is sent."""


def declared() -> dict[tuple[str, str], Needs]:
    """Return the requirements of the guard of each path and method."""
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
    """Every set of credentials that opens an operation, each with its required scopes."""
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
    """The statuses that the guard, the limits and the reading of a request can produce."""
    found = {"400", "413", "429", "500", "503"}
    if needs.organization != OPEN:
        found |= {"401", "403"}
    if case.method in ("post", "patch", "put"):
        found |= {"415", "422"}
    if case.method in ("post", "patch"):
        found |= {"409"}  # also 409 and 422 of the Idempotency-Key; a PUT repeats itself without one
    if any(p.get("in") == "path" and p["name"] != needs.organization for p in case.entry.get("parameters", [])):
        found.add("404")
    return found


def test_unguarded_operations_are_the_listed_ones() -> None:
    assert {(c.path, c.method) for c in GUARDED} == NEEDS.keys()
    assert {str(c) for c in CASES} - {str(c) for c in GUARDED} == UNGUARDED


@pytest.mark.parametrize("case", GUARDED, ids=str)
def test_security_scheme_matches_the_guard(case: Case) -> None:
    needs, response = needs_of(case), case.entry["security"]
    if needs.organization == OPEN:
        kinds = {name for choice in response for name in choice}
        assert OPTIONAL[str(case)] in kinds if str(case) in OPTIONAL else not response
        assert {} in response or not response
        return
    assert {frozenset((name, frozenset(scopes)) for name, scopes in c.items()) for c in response} == choices(needs)
    scopes = {s for choice in response for held in choice.values() for s in held}
    assert all(f"`{scope}`" in case.entry["description"] for scope in scopes)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_guard_responses_are_documented(case: Case) -> None:
    needed = {"413", "500"} if str(case) in UNGUARDED else refusals(case, needs_of(case))
    assert needed - case.entry["responses"].keys() == set()


@pytest.mark.parametrize("case", [c for c in GUARDED if c.method == "get" and "{" not in c.path], ids=str)
async def test_reads_are_rate_limited(api: Any, limits: None, monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    """Also without a credential: by the client's address then."""
    monkeypatch.setitem(rate_limits.PER_PRINCIPAL, "testnet", RateLimitItemPerMinute(1))
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        statuses = [(await http.get(case.path)).status_code for _ in range(2)]
    assert statuses[1] == (429 if needs_of(case).organization == OPEN else 401)


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_oversized_body_is_rejected_for_every_method(api: Any, case: Case) -> None:
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        answer = await http.request(case.method, case.path, headers={"content-length": str(2**31)}, content=b"{}")
    assert answer.status_code == 413


def test_operation_for_any_organization_has_no_organization_in_its_path() -> None:
    for (path, _), needs in NEEDS.items():
        assert ("{orgId}" in path) == (needs.organization not in (OPEN, ANY_ORGANIZATION)), path


def test_operations_that_depend_on_the_action_are_the_listed_ones() -> None:
    found = {str(c) for c in GUARDED if needs_of(c).action}
    assert found == {"retry_request", "approve_request", "deny_request", "comment_on_approval"}
