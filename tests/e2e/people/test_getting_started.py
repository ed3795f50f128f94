"""Getting started: an empty organization reaches its first market from the card of its overview."""

import pytest

from tests.e2e.conftest import Console, Signum
from tests.e2e.people.first_market import reach_wizard


@pytest.mark.long
def test_empty_organization_reaches_a_market_from_its_overview(console: Console, signum: Signum) -> None:
    fresh = signum.call("POST", "/orgs", {"name": "Fresh Field"})["id"]
    page = console.sign_in().goto("overview", fresh).heading("Overview").page
    reach_wizard(page, "Sepolia Devnet")
