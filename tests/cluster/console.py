"""The console behind the proxy: the main job, in Chromium."""

import asyncio
import re
from collections import Counter

from playwright.sync_api import Page, WebSocket, expect, sync_playwright

from tests.cluster import proxy
from tests.cluster.findings import Differs
from tests.cluster.installation import WEB, Cluster
from tests.cluster.tenants import Tenant, Tenants
from tests.conftest import PASSWORD
from tests.e2e.conftest import LOAD
from tests.e2e.people.first_market import CHAIN_TIME, reach_wizard
from tests.nodes.stories.comparison import Tables
from tests.support.browser import FLAGS, chromium


async def main_job(cluster: Cluster, tenants: Tenants) -> str:
    """A person signs in and takes an empty organization to its first market, through the proxy."""
    tenant, log = await tenants.tenant(), proxy.log(cluster.layout)
    before = len(log.read_text().splitlines())
    faults, sockets = await asyncio.to_thread(_in_browser, cluster.layout.origin, tenant)
    tables = Tables(cluster.layout.database)
    query = "select status from markets where organization_id = %s"
    markets = [row["status"] for row in await asyncio.to_thread(tables.rows, query, tenant.id)]
    served = _served(cluster, log.read_text().splitlines()[before:])
    seen = f"market {markets}; {sockets} sockets; requests to {served}; errors in the browser {faults or 'none'}"
    if markets != ["active"] or faults or len(served) != len(WEB):
        raise Differs(seen)
    return seen


def _in_browser(origin: str, tenant: Tenant) -> tuple[list[str], int]:
    faults: list[str] = []
    sockets: list[WebSocket] = []
    expect.set_options(timeout=LOAD)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        context = browser.new_context(
            ignore_https_errors=True, viewport={"width": 1440, "height": 960}, reduced_motion="reduce", locale="en-US"
        )
        page = context.new_page()
        page.set_default_timeout(LOAD)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("websocket", lambda socket: sockets.append(socket))
        _story(page, origin, tenant)
        browser.close()
    return faults, len(sockets)


def _story(page: Page, origin: str, tenant: Tenant) -> None:
    page.goto(f"{origin}/sign-in")
    page.get_by_label("Email").fill(tenant.admin.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"**/o/{tenant.id}/**")
    page.goto(f"{origin}/o/{tenant.id}/overview")
    expect(page.get_by_role("heading", level=1, name="Overview", exact=True)).to_be_visible(timeout=LOAD)
    reach_wizard(page, "Sepolia")
    page.get_by_role("radio", name=re.compile("^Sepolia")).click()
    for _ in range(3):
        page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Deploy market").click()
    page.wait_for_url(re.compile(r"/markets/[0-9a-f-]{36}"))
    page.get_by_role("tab", name="Deployment").click(timeout=CHAIN_TIME)  # an active market has it
    expect(page.get_by_text("The market is active.")).to_be_visible()


def _served(cluster: Cluster, lines: list[str]) -> dict[str, int]:
    """Return how many requests each web process has answered."""
    names = {f"127.0.0.1:{cluster.layout.ports[name]}": name for name in WEB}
    return dict(Counter(names.get(line.split()[0].rstrip(","), line.split()[0]) for line in lines))
