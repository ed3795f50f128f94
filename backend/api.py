"""The API: one FastAPI application below /v1, and the console's session forms beside it."""

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Response

from backend import explanations, exports, openapi, problems
from backend.auth.routes import forms
from backend.middleware import Envelope
from backend.oauth.routes import beside
from backend.readiness import readiness
from backend.settings import settings
from backend.status.notes import notes
from backend.status.schemas import Health, Ready
from backend.uploads import Uploads

VERTICALS = (
    "auth",
    "factors",
    "organizations",
    "members",
    "memberships",
    "invitations",
    "mail",
    "api_keys",
    "oauth",
    "wallets",
    "chains",
    "parties",
    "issuers",
    "attestations",
    "compliance",
    "assets",
    "markets",
    "bridges",
    "distributions",
    "controls",
    "daily_limits",
    "evidence",
    "transfers",
    "webhooks",
    "requests",
    "audit",
    "search",
    "approvals",
    "devnet",
)
"""Each has `routes.router`; the order is that of the reference page."""

status = APIRouter(tags=["Status"])


@status.get("/health")
async def get_health() -> Health:
    """The process answers."""
    return Health()


@status.get("/ready", responses={503: {"model": Ready, "description": "Not ready yet."}})
async def get_readiness(response: Response) -> Ready:
    """Whether migrations, chains, contracts and demo data are done; 503 until then."""
    if not readiness.is_ready:
        response.status_code = 503
    return Ready(
        ready=readiness.is_ready,
        waiting=list(readiness.waiting),
        failure=readiness.failure,
        notes=await notes(),
    )


def create_api() -> FastAPI:
    """The whole API."""
    api = FastAPI(
        title="Signum",
        version="1.0.0",
        openapi_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    own = settings()
    api.state.uploads = Uploads(own.home, own.upload_bytes_each, own.upload_bytes)
    v1 = APIRouter(prefix="/v1")
    v1.include_router(status)
    v1.include_router(explanations.router)
    for name in VERTICALS:
        router = importlib.import_module(f"backend.{name}.routes").router
        v1.include_router(router)
        v1.include_router(exports.siblings(router))
    api.include_router(v1)
    api.include_router(forms)
    api.include_router(beside)
    problems.install(api)
    openapi.install(api)
    api.add_middleware(Envelope)
    return api


@asynccontextmanager
async def lifespan(api: FastAPI | None) -> AsyncIterator[None]:
    """What runs while the API serves: connections, signing keys, the workflow engine, the chains' watchers."""
    from backend import runtime

    async with runtime.running(settings()):
        yield
