"""An endpoint is created, tested, verified, rotated; its failed deliveries are replayed; after a 410 it is shown as
disabled."""

import re
import secrets
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import expect
from standardwebhooks.webhooks import Webhook

from tests.e2e.conftest import Console, Signum


class Inbox(ThreadingHTTPServer):
    """Stores what it receives, and responds with `status`."""

    daemon_threads = True

    def __init__(self) -> None:
        self.status, self.came = 200, list[tuple[dict[str, str], bytes]]()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://localhost:{self.server_port}/hooks"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Inbox

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.came.append(({k.lower(): v for k, v in self.headers.items()}, body))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(b"noted" if self.server.status == 200 else b"no room here")

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """A receiver on this machine."""
    server = Inbox()
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.long
def test_webhook_endpoint_is_created_tested_rotated_and_deleted(console: Console, inbox: Inbox) -> None:
    page = console.sign_in(path="webhooks").heading("Webhooks").page
    page.get_by_role("button", name="New endpoint").first.click()
    dialog = page.get_by_role("dialog", name="New endpoint")
    dialog.get_by_label("URL").fill("https://10.0.0.1/hooks")
    dialog.get_by_role("button", name="Create endpoint").click()
    expect(dialog.get_by_role("alert")).to_contain_text("not public")
    dialog.get_by_label("URL").fill(inbox.url)
    dialog.get_by_label("Description").fill("Story")
    console.choose(dialog.get_by_label("Selected events"))
    console.choose(dialog.get_by_label("wallet.created"))
    expect(dialog).to_contain_text("1 selected")
    dialog.get_by_role("button", name="Create endpoint").click()
    shown = page.get_by_role("dialog", name="Copy the signing secret now")
    secret = shown.get_by_role("textbox", name="The signing secret").input_value()
    assert secret.startswith("whsec_")
    shown.get_by_role("button", name="I have copied it").click()
    expect(shown).to_be_hidden()
    assert secret not in page.content()

    page.get_by_role("link", name=inbox.url).click()
    console.heading(inbox.url)
    page.get_by_role("button", name="Send test").click()
    log = page.get_by_role("region", name="Deliveries", exact=True)
    expect(log.get_by_role("button", name="Show the delivered delivery of webhook.test")).to_be_visible()
    headers, body = inbox.came[0]
    assert Webhook(secret).verify(body, headers)["type"] == "webhook.test"

    page.get_by_role("button", name="Rotate secret").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    fresh = shown.get_by_role("textbox", name="The signing secret").input_value()
    shown.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_text("the previous secret signs too")).to_be_visible()

    inbox.status = 500
    page.get_by_role("button", name="Send test").click()
    page.get_by_role("button", name="Show the retrying delivery").click()
    story = page.get_by_role("complementary", name="webhook.test")
    expect(story).to_contain_text("Answered 500; only 2xx is success")
    expect(story).to_contain_text("Not stored: the receiver is on this machine.")
    inbox.status = 200
    story.get_by_role("button", name="Resend").click()
    expect(story.get_by_text("Delivered")).to_be_visible()
    headers, body = inbox.came[-1]
    assert headers["webhook-id"] == inbox.came[1][0]["webhook-id"]
    for key in (secret, fresh):
        Webhook(key).verify(body, headers)
    story.get_by_role("button", name="Close").first.click()

    inbox.status = 410
    page.get_by_role("button", name="Send test").click()
    expect(page.get_by_role("button", name="Enable")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("The receiver answered 410")
    console.goto("overview")
    page.get_by_role("link", name="The webhook endpoint at localhost was disabled").click()
    console.heading(inbox.url)
    page.get_by_role("button", name="Delete endpoint").click()
    gone = page.get_by_role("dialog", name="Delete this endpoint")
    expect(gone).to_contain_text(f"Deletes {inbox.url} with its secret and log. Pending deliveries are not sent.")
    gone.get_by_role("button", name="Delete endpoint").click()
    console.heading("Webhooks")
    expect(page.get_by_role("link", name=inbox.url)).to_have_count(0)


def test_viewer_webhook_page_has_no_buttons(console: Console, signum: Signum, inbox: Inbox) -> None:
    made = signum.call("POST", "/orgs/{org}/webhooks", {"url": inbox.url})
    page = console.sign_in(signum.person("viewer"), f"webhooks/{made['id']}").heading(inbox.url).page
    expect(page.get_by_text("No deliveries yet")).to_be_visible()
    for name in ("Send test", "Edit endpoint", "Rotate secret", "Disable", "Delete"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    signum.call("DELETE", f"/orgs/{{org}}/webhooks/{made['id']}")


@pytest.mark.long
def test_disabled_endpoint_names_who_disabled_it(console: Console, signum: Signum) -> None:
    place = f"hooks.northwind.example/{secrets.token_hex(4)}"
    made = signum.call("POST", "/orgs/{org}/webhooks", {"url": f"https://{place}"})
    path = f"/orgs/{{org}}/webhooks/{made['id']}"
    signum.call("PATCH", path, {"status": "disabled"})
    page = console.sign_in(signum.person("viewer"), "webhooks").heading("Webhooks").page
    row = page.get_by_role("row").filter(has_text=place)
    expect(row).to_contain_text(re.compile(r"Disabled by Elin Halvorsen, (now|\d+ s ago)"))
    row.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(place)
    expect(page.get_by_text("Disabled by Elin Halvorsen")).to_be_visible()
    signum.call("DELETE", path)
