"""An organization of an installation in other processes, made in its database."""

from dataclasses import dataclass
from uuid import UUID

from backend.client import SignumClient
from backend.core.connections import database
from tests.conftest import Actor, World


@dataclass
class Tenant:
    """An organization with an admin and a key of every scope."""

    id: UUID
    admin: Actor
    key: dict[str, str]


async def tenant_of(database_url: str, client: SignumClient) -> Tenant:
    """Create an organization in the database of an installation, which the client calls."""
    database.start(database_url)
    try:
        world = World(client)
        id_ = await world.organization("Acme")
        admin = await world.person(id_)
        return Tenant(id_, admin, await world.key(id_, created_by=admin.user_id))
    finally:
        await database.stop()
