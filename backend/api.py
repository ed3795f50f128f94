"""The API: one FastAPI application below /v1, and the console's session forms beside it."""

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Response

from backend import explanations, problems
from backend.auth.routes import forms
from backend.middleware import Envelope
from backend.oauth.routes import beside
from backend.readiness import readiness
from backend.settings import settings

VERTICALS = (
    "auth",
    "organizations",
    "members",
    "invitations",
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
    "requests",
)
"""Each has `routes.router`; the order is that of the reference page."""

status = APIRouter(tags=["Status"])


@status.get("/health")
async def health() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@status.get("/ready", responses={503: {}})
async def ready(response: Response) -> dict[str, Any]:
    """Whether migrations, chains, contracts and demo data are done; 503 until then."""
    if not readiness.is_ready:
        response.status_code = 503
    return {"ready": readiness.is_ready, "waiting": readiness.waiting, "failure": readiness.failure}


def create_api() -> FastAPI:
    """The whole API."""
    api = FastAPI(
        title="Signum",
        version="1.0.0",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        description="Issue tokenized real-world assets and keep them compliant.",
    )
    v1 = APIRouter(prefix="/v1")
    v1.include_router(status)
    v1.include_router(explanations.router)
    for name in VERTICALS:
        v1.include_router(importlib.import_module(f"backend.{name}.routes").router)
    api.include_router(v1)
    api.include_router(forms)
    api.include_router(beside)
    problems.install(api)
    api.add_middleware(Envelope)
    return api


@asynccontextmanager
async def lifespan(api: FastAPI | None) -> AsyncIterator[None]:
    """What runs while the API serves: connections, signing keys, the workflow engine, the chains' watchers."""
    from backend import runtime

    async with runtime.running(settings()):
        yield
