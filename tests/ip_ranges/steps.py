"""Callers at a chosen address."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx

from backend.client import SignumClient
from backend.core import db
from backend.models import OrganizationRow
from tests.conftest import Actor

OFFICE = "203.0.113.7"
HOME = "198.51.100.9"


def client_at(api: Any, address: str) -> SignumClient:
    """A client whose connections come from an address."""
    return SignumClient(transport=transport_at(api, address))


def transport_at(api: Any, address: str) -> httpx.ASGITransport:
    """Connections that come from an address."""
    return httpx.ASGITransport(app=api, raise_app_exceptions=False, client=(address, 4711))


def at(api: Any, address: str, person: Actor) -> Actor:
    """A person who calls from an address."""
    return replace(person, client=client_at(api, address))


async def restrict(organization: UUID, *ranges: str) -> None:
    """Let an organization allow only some ranges, even if callers are locked out."""
    async with db.worker() as session:
        (await session.get_one(OrganizationRow, organization)).allowed_ip_ranges = list(ranges)
