"""A key is created, shown once, used, revoked."""

import httpx
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


def _status(signum: Signum, key: str, path: str) -> int:
    return httpx.get(f"{signum.url}/v1{path}", headers={"x-api-key": key}, trust_env=False).status_code


def test_api_key_is_shown_once_works_and_is_revoked(console: Console, signum: Signum) -> None:
    page = console.sign_in(path="api-keys").heading("API keys").page
    page.get_by_role("button", name="New key").first.click()
    dialog = page.get_by_role("dialog", name="New API key")
    dialog.get_by_label("Name").fill("Story key")
    console.choose(dialog.get_by_label("Attestation issuer"))
    expect(dialog).to_contain_text("3 of 16 scopes")
    console.choose(dialog.get_by_label("transfers:write"))
    expect(dialog.get_by_label("Custom")).to_be_checked()
    expect(dialog).to_contain_text("Write scopes do not include read access")
    dialog.get_by_role("button", name="Add read scopes").click()
    expect(dialog.get_by_label("transfers:read")).to_be_checked()
    dialog.get_by_role("button", name="Create key").click()
    shown = page.get_by_role("dialog", name="Copy the key of Story key now")
    key = shown.get_by_label("The new key").input_value()
    assert key.startswith("sgn_")
    assert _status(signum, key, f"/orgs/{signum.organization}/attestations") == 200
    assert _status(signum, key, f"/orgs/{signum.organization}/members") == 403
    shown.get_by_role("button", name="I have copied it").click()
    expect(shown).to_be_hidden()
    assert key not in page.content()
    page.reload()
    row = page.get_by_role("row").filter(has_text="Story key")
    expect(row).to_contain_text("5")
    assert key not in page.content()

    row.get_by_role("button", name="Revoke Story key").click()
    page.get_by_role("dialog", name="Revoke “Story key”").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("Revoked")
    assert _status(signum, key, f"/orgs/{signum.organization}/attestations") == 401


def test_api_key_form_shows_errors_at_fields(console: Console) -> None:
    page = console.sign_in(path="api-keys").page
    page.get_by_role("button", name="New key").first.click()
    dialog = page.get_by_role("dialog", name="New API key")
    dialog.get_by_label("Name").fill("<script>alert(1)</script>")
    dialog.get_by_role("button", name="Create key").click()
    expect(dialog.get_by_label("Name")).to_have_attribute("aria-invalid", "true")
    console.choose(dialog.get_by_label("Key management"))
    console.choose(dialog.get_by_label("api-keys:read"), False)
    console.choose(dialog.get_by_label("api-keys:write"), False)
    dialog.get_by_label("Name").fill("Nothing")
    dialog.get_by_role("button", name="Create key").click()
    expect(dialog.get_by_role("alert")).to_contain_text("at least one scope")


def test_api_keys_page_without_permission_shows_the_reason(console: Console, signum: Signum) -> None:
    page = console.sign_in(signum.person("viewer"), "api-keys").page
    expect(page.get_by_text("No access")).to_be_visible()
    expect(page.get_by_text("You need the role Admin")).to_be_visible()
    expect(page.get_by_role("button", name="New key")).to_have_count(0)
