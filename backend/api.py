"""The API: one FastAPI application under /v1, and the console's session forms beside it."""

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Response

from backend import openapi
from backend.auth import callers
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.demo_people.routes import forms as demo_forms
from backend.exports import csv_lists
from backend.http import problems
from backend.http.middleware import Envelope
from backend.http.sections import Section
from backend.http.traced import Traced
from backend.http.uploads import Uploads
from backend.limits import rate_limits
from backend.metrics.requests import Measured
from backend.oauth.routes import beside
from backend.sign_in.routes import forms
from backend.status import checks, error_pages
from backend.status.schemas import Health, Ready

ROUTES = (
    "sign_in.routes",
    "sign_in.factor_routes",
    "preferences.routes",
    "organizations.routes",
    "setup.routes",
    "insight.routes",
    "insight.price_routes",
    "drafts.routes",
    "saved_views.routes",
    "notifications.routes",
    "moves.routes",
    "members.routes",
    "memberships.routes",
    "investors.routes",
    "investor_records.routes",
    "investor_trading.routes",
    "invitations.routes",
    "mail.routes",
    "api_keys.routes",
    "oauth.routes",
    "wallets.routes",
    "test_funds.routes",
    "chains.routes",
    "parties.routes",
    "issuers.routes",
    "attestations.routes",
    "compliance.routes",
    "assets.routes",
    "cap_table.routes",
    "markets.routes",
    "bridges.routes",
    "distributions.routes",
    "controls.routes",
    "daily_limits.routes",
    "evidence.routes",
    "transfers.routes",
    "activity.routes",
    "accounts.routes",
    "webhooks.routes",
    "requests.routes",
    "live_updates.routes",
    "audit.routes",
    "search.routes",
    "approvals.routes",
    "devnet.routes",
    "attempts.routes",
    "demo_people.routes",
)
"""Modules with a `router`, in the order of the reference page."""

# Declared at import.
status = APIRouter(tags=["Status"])


@status.get("/health")
async def get_health() -> Health:
    """Check that the process responds."""
    return Health()


@status.get("/ready", responses={503: {"model": Ready, "description": "Not ready yet."}})
async def get_readiness(response: Response) -> Ready:
    """Get the readiness of the process: 503 until migrations, chains, contracts and demo data are done, and while the
    database does not respond, the disk is full or read-only, or the workflow engine makes no progress."""
    ready = await checks.ready()
    if not ready.ready:
        response.status_code = 503
    return ready


def create_api() -> FastAPI:
    """Return the whole API."""
    api = FastAPI(
        title="Signum",
        version="1.0.0",
        openapi_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    own = settings()
    runtime.part(rate_limits.Counts)  # a REDIS_URL that cannot be used ends the start, not the first request
    api.state.uploads = Uploads(own.home, own.upload_bytes_each, own.upload_bytes)
    for router in (status, error_pages.router, *(importlib.import_module(f"backend.{name}").router for name in ROUTES)):
        section = Section(prefix="/v1")
        section.include_router(router)
        section.include_router(csv_lists.siblings(router))
        api.include_router(section)
    api.include_router(forms)
    api.include_router(demo_forms)
    api.include_router(beside)
    problems.install(api)
    openapi.install(api)
    api.add_middleware(Envelope, name_of=callers.name_of)
    api.add_middleware(Traced)
    api.add_middleware(Measured)
    return api


def of_process() -> FastAPI:
    """Return the API of this process."""
    return runtime.part(create_api)


@asynccontextmanager
async def lifespan(api: FastAPI | None) -> AsyncIterator[None]:
    """Run the services behind the API: connections, signing keys, the workflow engine, the indexer."""
    from backend.server.runtime import running

    async with running(settings(), api):
        yield
