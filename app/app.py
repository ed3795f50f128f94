"""The Reflex app: the pages, the API beside them, and what happens when a handler fails."""

import logging
from urllib.parse import quote

import httpx
import reflex as rx

from app import (  # noqa: F401  (each module registers its pages)
    account,
    api_keys,
    approvals,
    asset,
    assets,
    attestations,
    audit,
    bridges,
    chains,
    connections,
    consent,
    distribution,
    distribution_new,
    distributions,
    eligibility,
    home,
    invitation,
    issuer,
    market,
    market_new,
    markets,
    members,
    organizations,
    outbox,
    overview,
    parties,
    passwords,
    requests,
    settings,
    sign_in,
    sockets,
    transfers,
    wallets,
    webhooks,
)
from app.door import Door, Malformed
from app.look import STYLES, WRAPS, hydrating
from backend import web
from backend.api import create_api
from backend.auth.address import CONSOLE
from backend.client import client
from backend.request_guard import RequestGuard
from state.api import SignedOut
from state.notices import Notices

log = logging.getLogger("signum.console")
api = create_api()
client.use(httpx.ASGITransport(app=api, raise_app_exceptions=False, client=(CONSOLE, 0)))


def on_error(exception: Exception) -> rx.event.EventSpec | None:
    """A handler failed: signed out goes to the sign-in page, anything else is logged and apologized for."""
    if isinstance(exception, SignedOut):
        return rx.redirect(f"/sign-in?next={quote(str(exception), safe='')}")
    if isinstance(exception, Malformed):
        log.warning("An event did not fit its handler: %s", exception)
    else:
        log.error("A handler of the console failed", exc_info=exception)
    return Notices.apologize()


app = rx.App(
    html_lang="en",
    stylesheets=STYLES,
    head_components=[rx.el.link(rel="icon", href="/favicon.svg", type="image/svg+xml")],
    toaster=None,
    app_wraps=WRAPS,
    hydrate_fallback=hydrating,
    api_transformer=web.edge(api),
    backend_exception_handler=on_error,
)
sockets.install(app)
app.add_middleware(Door())
app.register_lifespan_task(lambda: api.router.lifespan_context(api))


def application() -> RequestGuard:
    """The console and the API, as they are served: guarded against what one address alone could exhaust."""
    return RequestGuard(app())
