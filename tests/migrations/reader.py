"""Reads a migrated database through the API, in a process of its own: `python -m tests.migrations.reader URL`.

Prints one JSON object: the lists that an admin of the oldest organization gets, by name.
"""

import asyncio
import json
import sys
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend import models
from backend.api import create_api
from backend.auth.credentials import cookie_name
from backend.client import SignumClient
from backend.core import db
from backend.core.connections import database
from backend.models import MemberRow, OrganizationRow, UserRow
from backend.server.runtime import local_transport
from backend.sign_in.service import open_browser
from backend.users.schemas import Role

assert models
LISTS = ("assets", "requests", "audit", "members", "wallets", "webhooks")


async def read(url: str) -> dict[str, Any]:
    """Return the lists."""
    database.start(url)
    try:
        async with db.worker() as session:
            oldest = sa.select(OrganizationRow).order_by(col(OrganizationRow.created_at)).limit(1)
            organization = (await session.scalars(oldest)).one()
            admins = sa.select(UserRow).join(MemberRow, col(MemberRow.user_id) == col(UserRow.id))
            of_it = col(MemberRow.organization_id) == organization.id, col(MemberRow.role) == Role.ADMIN
            admin = (await session.scalars(admins.where(*of_it).limit(1))).one()
        async with db.transaction() as session:
            cookie = f"{cookie_name()}={await open_browser(session, admin, 'tests', '127.0.0.1')}"
        client = SignumClient(transport=local_transport(create_api()))
        paths = {name: f"/orgs/{organization.id}/{name}" for name in LISTS}
        paths["parties"] = f"/identity/parties?organization_id={organization.id}"
        answers = {name: await client.call("GET", path, cookie=cookie) for name, path in paths.items()}
        return {name: next(v for v in answer.values() if isinstance(v, list)) for name, answer in answers.items()}
    finally:
        await database.stop()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(read(sys.argv[1])), default=str))  # noqa: T201 - the result
