"""Creation of the demo, from an empty database to a running business. If it is killed, the next start continues it."""

from typing import Any

import httpx
import sqlalchemy as sa
import structlog
from fastapi import FastAPI

from backend.auth.scopes import READS, Scope
from backend.chain.rpc import node_urls
from backend.client import SignumClient
from backend.core import db
from backend.core.settings import Settings
from backend.demo import cast, oversight, people
from backend.demo.caller import Caller
from backend.demo.issuance import Issuance
from backend.demo.secrets_file import Notebook
from backend.organizations.models import OrganizationRow

log = structlog.get_logger()


async def ensure(settings: Settings, api: FastAPI) -> None:
    """Create the demo through the API, unless it exists already or the database has other organizations."""
    notebook = Notebook(settings.home)
    if notebook.is_finished:
        notebook.refresh(_addresses(settings))
        return
    if not notebook.is_begun and await _in_use():
        return
    client = SignumClient(transport=httpx.ASGITransport(app=api, raise_app_exceptions=False))
    await _publish(client, notebook, settings)


async def _in_use() -> bool:
    async with db.worker() as session:
        return bool(await session.scalar(sa.select(sa.exists(sa.select(OrganizationRow)))))


async def _publish(client: SignumClient, notebook: Notebook, settings: Settings) -> None:
    admin = await people.founder(client, notebook)
    ids = await people.organizations(admin)
    group = ids[str(cast.GROUP["name"])]
    await people.team(client, admin, notebook, ids)
    await people.open_invitations(admin, group)
    full = await _key(admin, notebook, group, "full", list(Scope))
    read_only = await _key(admin, notebook, group, "read_only", sorted(READS))
    officer = await people.sign_in(client, notebook, cast.PEOPLE[1][1])
    issuance = Issuance(admin, officer, group, full)
    await issuance.ground()
    await issuance.investors()
    await issuance.issue()
    await issuance.market()
    await issuance.transfers()
    await issuance.bridges()
    await issuance.revoked_attestation()
    await oversight.distribution(issuance)
    await oversight.approval(issuance)
    await oversight.webhook(issuance)
    notebook.finish(_content(settings, notebook, group, {"full": full, "read_only": read_only}))


async def _key(admin: Caller, notebook: Notebook, group: str, name: str, scopes: list[Scope]) -> str:
    """Return an API key; one whose secret was lost in a crash is abandoned and replaced."""
    known, attempt = notebook.get(f"key:{name}"), 0
    while known is None:
        body = {"name": f"Demo, {name.replace('_', ' ')}", "scopes": scopes}
        made = await admin.post(f"/orgs/{group}/api-keys", body, key=f"key:{name}:{attempt}")
        if made["key"]:
            known = notebook.keep(f"key:{name}", made["key"])
        attempt += 1
    return known


def _content(settings: Settings, notebook: Notebook, group: str, keys: dict[str, str]) -> dict[str, Any]:
    people_and_roles = [(email, role) for _, email, role in cast.PEOPLE] + [(e, r) for _, e, r, _ in cast.LOCALS]
    return {
        "organization_id": group,
        "users": [{"email": e, "password": notebook.password(e), "role": str(r)} for e, r in people_and_roles],
        "api_keys": keys,
        **_addresses(settings),
    }


def _addresses(settings: Settings) -> dict[str, Any]:
    """Return the addresses, which depend on the port and may change at each start."""
    eids = node_urls.embedded(settings.home) if settings.embedded_chains else settings.rpc_urls
    chains = [{"eid": eid, "rpc_url": node_urls.urls_of(eid)[0]} for eid in sorted(eids)]
    return {"base_url": settings.base_url, "chains": chains}
