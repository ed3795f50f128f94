"""The Reflex app: its pages, the API it serves, and the handler of failed events."""

import logging
from urllib.parse import quote

import httpx
import reflex as rx

from app import pages  # noqa: F401  (registers them)
from app.shell import sockets
from app.shell.event_guard import Door, Malformed
from app.shell.theme import STYLES, WRAPS, hydrating
from backend import web
from backend.api import of_process
from backend.client import ApiProblem, client
from backend.core.readiness import readiness
from backend.limits.client_address import CONSOLE
from backend.live_updates import hints
from backend.server.request_guard import RequestGuard
from state.core.api import Replaced, SignedOut
from state.core.toasts import Notices

log = logging.getLogger("signum.console")


async def api(scope: web.Scope, receive: web.Receive, send: web.Send) -> None:
    """Pass a request to the API of this process, which exists only where the console is served: the build of the pages
    needs none."""
    await of_process()(scope, receive, send)


client.use(httpx.ASGITransport(app=api, raise_app_exceptions=False, client=(CONSOLE, 0)), hints.subscribed)


def on_error(exception: Exception) -> rx.event.EventSpec | None:
    """Send a signed-out user to the sign-in page, and everyone while the demo is created; apologize for others.

    What an earlier session began ends without a word. Unexpected exceptions are logged.
    """
    if isinstance(exception, Replaced):
        return None
    if isinstance(exception, SignedOut):
        page = str(exception)
        # Several calls may end so; after the first one the page is already the sign-in, which has the path.
        return None if page.startswith("/sign-in") else rx.redirect(f"/sign-in?next={quote(page, safe='')}")
    if isinstance(exception, ApiProblem) and exception.status == 503 and "demo data" in readiness().waiting:
        return rx.redirect("/sign-in")  # it shows how far the demo is; the page's organization may be deleted
    if isinstance(exception, Malformed):
        log.warning("console.event_rejected: %s", exception)
    else:
        log.error("console.event_failed", exc_info=exception)
    return Notices.apologize()


app = rx.App(
    html_lang="en",
    stylesheets=STYLES,
    head_components=[rx.el.link(rel="icon", href="/favicon.svg", type="image/svg+xml")],
    toaster=None,
    app_wraps=WRAPS,
    hydrate_fallback=hydrating,
    api_transformer=web.edge(),
    backend_exception_handler=on_error,
)
sockets.install(app)
app.add_middleware(Door())


def application() -> RequestGuard:
    """Return the console and the API as one application, behind the request guard."""
    return RequestGuard(web.front(api, app()))
