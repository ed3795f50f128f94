"""Allowed IP ranges: set for an organization and a key, with the browser's own address; a refusal gives the reason."""

import psycopg
import pytest
from playwright.sync_api import expect

from backend.core.connections.embedded import outside_url
from tests.e2e.accounts.test_factors import accessible, newcomer
from tests.e2e.conftest import Console, Signum


def restrict(signum: Signum, organization: str, *ranges: str) -> None:
    """Let an organization allow only some ranges, even if callers are locked out."""
    with psycopg.connect(outside_url(signum.home)) as connection:
        connection.execute(
            "update organizations set allowed_ip_ranges = %s where id = %s", [list(ranges), organization]
        )


@pytest.mark.long
def test_ip_ranges_are_set_with_the_current_address_and_a_refusal_shows_the_reason(
    console: Console, signum: Signum
) -> None:
    made = signum.call("POST", "/orgs", {"name": "Ranges"})["id"]
    page = console.sign_in(newcomer(signum, made, "admin")).goto("settings", made).page
    card = page.get_by_role("main")
    field = card.get_by_label("Allowed IP ranges")
    save = card.get_by_role("button", name="Save IP ranges")
    field.fill("203.0.113.7\n10.0.0.1/8")
    save.click()
    expect(card.get_by_role("alert")).to_contain_text('"10.0.0.1/8" has host bits set; the network is 10.0.0.0/8')
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("203.0.113.0/24")
    save.click()
    expect(card.get_by_role("alert")).to_contain_text("you would lose access")
    add = card.get_by_role("button", name="Add my address")
    add.click()
    add.click()
    first, own = field.input_value().split("\n")
    assert first == "203.0.113.0/24"
    expect(card).to_contain_text(f"Your address is {own}.")
    accessible(console)
    save.click()
    expect(page.get_by_text("The allowed IP ranges are saved")).to_be_visible()
    console.goto("settings", made)
    expect(field).to_have_value(f"203.0.113.0/24\n{own}")

    console.goto("api-keys", made)
    page.get_by_role("button", name="New key").first.click()
    dialog = page.get_by_role("dialog", name="New API key")
    dialog.get_by_label("Name").fill("Office key")
    dialog.get_by_label("Allowed IP ranges").fill("office")
    dialog.get_by_role("button", name="Create key").click()
    expect(dialog.get_by_role("alert")).to_contain_text('"office" is not an IP address or CIDR range')
    dialog.get_by_label("Allowed IP ranges").fill("203.0.113.7")
    dialog.get_by_role("button", name="Add my address").click()
    dialog.get_by_role("button", name="Create key").click()
    page.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_role("row").filter(has_text="Office key")).to_contain_text("From 203.0.113.7 and 1 more")

    restrict(signum, made, "203.0.113.0/24")
    console.goto("overview", made)
    expect(page.get_by_text("This organization cannot be shown")).to_be_visible()
    expect(page.get_by_text(f"Your IP address {own} is not in the allowed IP ranges of Ranges.")).to_be_visible()
    restrict(signum, made)
    console.goto("overview", made).heading("Overview")
