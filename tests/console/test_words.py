"""What states make of the API's answers."""

import pytest

from state.api import _field
from state.requests import request_of
from state.session import initials, safe_path


@pytest.mark.parametrize("path", ["/", "/o/1/assets?x=1", "/sign-in"])
def test_a_path_of_ours_is_kept(path):
    assert safe_path(path) == path


@pytest.mark.parametrize("path", ["", "//evil", "/\\evil", "https://evil", "javascript:alert(1)", "/a\nb"])
def test_anything_else_leads_home(path):
    assert safe_path(path) == "/"


@pytest.mark.parametrize(
    ("name", "letters"), [("Northwind Real Estate", "NR"), ("acme", "A"), ("", "?"), ("a@b.c", "AB")]
)
def test_initials(name, letters):
    assert initials(name) == letters


@pytest.mark.parametrize(
    ("pointer", "name"),
    [("/symbol", "symbol"), ("#/symbol", "symbol"), ("/rules/blocked_countries/0", "blocked_countries"), ("", "form")],
)
def test_a_finding_belongs_to_a_field(pointer, name):
    assert _field({"pointer": pointer}) == name


def test_a_request_says_where_it_is():
    steps = [
        {"name": "a", "title": "Lock", "status": "succeeded", "tx_hash": "0x1"},
        {"name": "b", "title": "Carry over", "status": "running", "tx_hash": None},
    ]
    request = request_of(
        {
            "id": "1", "kind": "market.deploy", "title": "Deploy", "status": "running", "steps": steps, "problem": None,
            "subject": {"type": "market", "id": "2"}, "created_at": "x", "updated_at": "y", "can_retry": False,
        }
    )  # fmt: skip
    assert (request.line, request.done_steps, request.percent) == ("Step 2 of 2, Carry over", 1, 75)
    assert request.steps[1].tx_hash == ""
