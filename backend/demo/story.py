"""Creation of the demo, from an empty database to a running business. If it is killed, the next start continues it."""

import asyncio
from datetime import UTC, date, datetime
from typing import Any

import httpx
import sqlalchemy as sa
import structlog
from fastapi import FastAPI

from backend.auth.scopes import READS, Scope
from backend.chain.rpc import node_urls
from backend.client import SignumClient
from backend.core import db, recorded_time
from backend.core.readiness import readiness
from backend.core.settings import Settings
from backend.demo import cast, history, oversight, people, year_cast
from backend.demo.caller import Caller
from backend.demo.income import Income
from backend.demo.investors import Investors
from backend.demo.issuance import Issuance
from backend.demo.secrets_file import Notebook
from backend.demo.trading import Trading
from backend.demo.year import Year, moment, workday
from backend.http.middleware import CREATES_DEMO
from backend.organizations.models import OrganizationRow

log = structlog.get_logger()


async def ensure(settings: Settings, api: FastAPI) -> None:
    """Create the demo through the API, unless it exists already or the database has other organizations."""
    notebook = Notebook(settings.home)
    if notebook.is_finished:
        notebook.refresh(_addresses(settings))
    elif notebook.is_begun or not await _in_use():
        await _publish(_client(api), notebook, settings)
    await history.end()


def _client(api: FastAPI) -> SignumClient:
    """Return a client of the API, whom it answers also while it is closed to others."""

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        await api({**scope, CREATES_DEMO: True}, receive, send)

    return SignumClient(transport=httpx.ASGITransport(app=inside, raise_app_exceptions=False))


async def _in_use() -> bool:
    async with db.worker() as session:
        return bool(await session.scalar(sa.select(sa.exists(sa.select(OrganizationRow)))))


async def _publish(client: SignumClient, notebook: Notebook, settings: Settings) -> None:
    today, has_year = _begin(notebook)
    await history.go_to(moment(workday(today, year_cast.FOUNDED), "08:30"))
    readiness().at("Organizations", 2)
    founder = await people.founder(client, notebook)
    group = await people.group(founder)
    await people.team(client, founder, notebook, group)
    admin, officer, agent = (people.caller(client, notebook, email) for _, email, _ in cast.PEOPLE[:3])
    ids = await people.organizations(admin, group)
    readiness().at("People", 5)
    await people.local_people(client, admin, notebook, ids)
    await people.leave(admin, group)
    full = await _key(admin, notebook, group, "full", list(Scope))
    read_only = await _key(admin, notebook, group, "read_only", sorted(READS))
    issuance = Issuance(admin, officer, agent, group, full)
    await _business(issuance, today, has_year)
    await people.open_invitations(admin, group)
    notebook.finish(_content(settings, notebook, group, {"full": full, "read_only": read_only}))


def _begin(notebook: Notebook) -> tuple[date, bool]:
    """Return the day of the demo's present, and whether it has a year before: as its first start has decided."""
    if notebook.get("today") is None:
        notebook.keep("year", "yes" if recorded_time.is_in_the_past() else "no")
        notebook.keep("today", datetime.now(UTC).date().isoformat())
    return date.fromisoformat(str(notebook.get("today"))), notebook.get("year") == "yes"


async def _business(issuance: Issuance, today: date, has_year: bool) -> None:
    """Create the year, if the demo has one, and the present."""
    investors, trading, income = Investors(issuance, today), Trading(issuance), Income(issuance)
    await history.go_to(moment(workday(today, year_cast.BEGUN), "09:10"))
    readiness().at("Wallets", 8)
    await issuance.ground()
    if has_year:
        await Year(issuance, investors, trading, income, today).tell()
        await history.go_to(moment(workday(today, year_cast.INVITED), "10:20"))
        await people.expired_invitations(issuance.org)
        await history.end()
    readiness().at("Investors", 82)
    await investors.all()
    readiness().at("Assets", 85)
    await issuance.issue(today)
    readiness().at("Market and bridges", 88)
    await asyncio.gather(_traded(trading, issuance), issuance.bridges())
    if not has_year:
        await investors.revoked()
    readiness().at("Distribution", 97)
    await income.present()
    await oversight.approval(issuance)
    await oversight.webhook(issuance)


async def _traded(trading: Trading, issuance: Issuance) -> None:
    await trading.present()
    await issuance.transfers()


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
