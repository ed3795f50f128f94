"""How states convert the API's responses."""

from uuid import uuid4

import pytest

from backend.requests.schemas import Request
from state.core.api import _field
from state.core.session import initials, safe_path
from state.requests.views import request_view


@pytest.mark.parametrize("path", ["/", "/o/1/assets?x=1", "/sign-in"])
def test_safe_path_keeps_own_paths(path):
    assert safe_path(path) == path


@pytest.mark.parametrize("path", ["", "//evil", "/\\evil", "https://evil", "javascript:alert(1)", "/a\nb"])
def test_safe_path_replaces_unsafe_paths_by_home(path):
    assert safe_path(path) == "/"


@pytest.mark.parametrize(
    ("name", "letters"), [("Northwind Real Estate", "NR"), ("acme", "A"), ("", "?"), ("a@b.c", "AB")]
)
def test_initials_are_derived_from_names(name, letters):
    assert initials(name) == letters


@pytest.mark.parametrize(
    ("pointer", "name"),
    [("/symbol", "symbol"), ("#/symbol", "symbol"), ("/rules/blocked_countries/0", "blocked_countries"), ("", "form")],
)
def test_validation_error_belongs_to_its_field(pointer, name):
    assert _field({"pointer": pointer}) == name


def test_request_view_shows_its_current_step():
    times = {"started_at": None, "finished_at": None, "chain_eid": None, "detail": None}
    steps = [
        {"name": "a", "title": "Lock", "status": "succeeded", "tx_hash": "0x1", **times},
        {"name": "b", "title": "Carry over", "status": "running", "tx_hash": None, **times},
    ]
    record = {
        "id": uuid4(), "organization_id": uuid4(), "kind": "market.deploy", "title": "Deploy", "status": "running",
        "steps": steps, "problem": None, "subject": {"type": "market", "id": uuid4()}, "can_retry": False,
        "created_by": None, "scope": "assets:write",
        "created_at": "2026-01-31T12:00:00Z", "updated_at": "2026-01-31T12:00:00Z",
    }  # fmt: skip
    request = request_view(Request.model_validate(record))
    assert (request.line, request.done_steps, request.percent) == ("Step 2 of 2, Carry over", 1, 75)
    assert request.steps[1].tx_hash == ""
