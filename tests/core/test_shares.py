"""Long work of one caller does not use up other callers' database connections."""

import asyncio
import threading
from typing import Any
from uuid import UUID

import psycopg
import pytest
import sqlalchemy as sa

from backend.audit import verification
from backend.auth.credentials import cookie_name
from backend.auth.models import SessionRow
from backend.client import ApiProblem
from backend.core import db, fair_places
from backend.core.connections import database, pools
from backend.limits import rate_limits
from backend.server import request_guard
from backend.sign_in import service
from tests.conftest import PASSWORD, World
from tests.support.firm import Firm, refused

SHARE = pools.sizes().places["app"] // 2
"""Maximum connections of one caller."""
CONNECTIONS = pools.sizes().most("app")


async def test_requests_waiting_for_a_lock_leave_connections_to_others(world: World, database_url: str) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.found(world, "Other")
    await asyncio.gather(mine.get(""), other.get(""))  # their credentials are known from now on
    async with await psycopg.AsyncConnection.connect(database_url) as holder:
        await holder.execute("select 1 from organizations where id = %s for update", [mine.id])
        waiting = [asyncio.create_task(mine.patch("", {"name": f"Mine {n}"})) for n in range(CONNECTIONS + 5)]
        pool: Any = database.engine("app").pool
        while pool.checkedout() < SHARE:  # noqa: ASYNC110 - a count changes
            await asyncio.sleep(0.01)
        answer = await asyncio.wait_for(other.get(""), 8)
        assert answer["name"] == "Other"
        await holder.rollback()
        await asyncio.gather(*waiting)


async def test_key_with_changing_cookies_is_one_caller(world: World, database_url: str) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.found(world, "Other")
    await asyncio.gather(mine.get(""), other.get(""))
    path, body = f"/orgs/{mine.id}", {"name": "Renamed"}
    async with await psycopg.AsyncConnection.connect(database_url) as holder:
        await holder.execute("select 1 from organizations where id = %s for update", [mine.id])
        cookies = [f"{cookie_name()}={n}" for n in range(CONNECTIONS + 5)]
        waiting = [
            asyncio.create_task(world.client.call("PATCH", path, json=body, headers=mine.key, cookie=cookie))
            for cookie in cookies
        ]
        pool: Any = database.engine("app").pool
        while pool.checkedout() < SHARE:  # noqa: ASYNC110 - a count changes
            await asyncio.sleep(0.01)
        assert (await asyncio.wait_for(other.get(""), 8))["name"] == "Other"
        await holder.rollback()
        await asyncio.gather(*waiting)


async def test_exports_of_one_caller_leave_connections_to_others(world: World, database_url: str) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.found(world, "Other")
    await asyncio.gather(mine.get(""), other.get(""))
    async with await psycopg.AsyncConnection.connect(database_url) as holder:
        await holder.execute("lock table audit_log in access exclusive mode")
        waiting = [asyncio.create_task(export(mine)) for _ in range(CONNECTIONS + 5)]
        pool: Any = database.engine("app").pool
        while pool.checkedout() < SHARE:  # noqa: ASYNC110 - a count changes
            await asyncio.sleep(0.01)
        assert (await asyncio.wait_for(other.get(""), 8))["name"] == "Other"
        await holder.rollback()
        await asyncio.gather(*waiting)


async def export(firm: Firm) -> None:
    http = firm.admin.client._client()
    answer = await http.get(f"/v1{firm.base}/audit.csv", headers={"cookie": firm.admin.cookie})
    assert answer.status_code == 200


async def test_concurrent_sockets_are_answered(api: Any) -> None:
    cookie = (b"cookie", f"{cookie_name()}=x".encode())
    scope = {"type": "websocket", "headers": [cookie], "client": ("198.51.100.7", 1)}
    answers = await asyncio.gather(*(request_guard._person_of(scope) for _ in range(100)), return_exceptions=True)
    unknown = [answer for answer in answers if isinstance(answer, request_guard.Unknown)]
    assert [answer for answer in answers if answer not in unknown] == [None] * (100 - len(unknown))
    assert len(unknown) < 100


async def test_rehearsals_of_one_caller_leave_capacity_for_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, begun = asyncio.Event(), 0

    async def rehearse(caller: str) -> None:
        nonlocal begun
        with fair_places.called_by(caller):
            async with db.rehearsing():
                begun += 1
                await released.wait()

    slow = [asyncio.create_task(rehearse("one")) for _ in range(pools.sizes().most("flow") + 5)]
    while begun < pools.sizes().places["flow"] // 2:  # noqa: ASYNC110 - a count changes
        await asyncio.sleep(0.01)
    with fair_places.called_by("other"):
        async with asyncio.timeout(20), db.rehearsing() as session:
            assert await session.scalar(sa.text("select 1")) == 1
    released.set()
    await asyncio.gather(*slow)


async def test_steps_of_one_hierarchy_leave_connections_to_others(world: World) -> None:
    mine, other = await world.organization("Mine"), await world.organization("Other")
    below, released, begun = await world.organization("Below", mine), asyncio.Event(), 0

    async def hold(organization: UUID) -> None:
        nonlocal begun
        async with db.step(organization):
            begun += 1
            await released.wait()
            async with db.step(organization) as nested:
                assert await nested.scalar(sa.text("select 1")) == 1

    most = pools.sizes().places["step"] // 2
    slow = [asyncio.create_task(hold(organization)) for organization in [mine, below] * pools.sizes().most("flow")]
    while begun < most:  # noqa: ASYNC110 - a count changes
        await asyncio.sleep(0.01)
    async with db.step(other) as session:
        assert await session.scalar(sa.text("select 1")) == 1
    assert begun == most
    released.set()
    await asyncio.gather(*slow)


async def test_request_statements_and_locks_time_out(api: Any) -> None:
    async with db.transaction() as session:
        assert await session.scalar(sa.text("show statement_timeout")) == "30s"
        assert await session.scalar(sa.text("show lock_timeout")) == "10s"
    async with db.step() as session:
        assert await session.scalar(sa.text("show statement_timeout")) == "0"
        assert await session.scalar(sa.text("show lock_timeout")) == "10s"


async def test_long_log_is_hashed_without_a_connection(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Firm.found(world, "Logged")
    await firm.patch("", {"name": "Logged twice"})
    monkeypatch.setattr(verification, "PART", 1)
    seen = []
    take, pool = verification._Walk.take, database.engine("app").pool

    def count(self: Any, rows: Any) -> None:
        seen.append(pool.checkedout())  # type: ignore[attr-defined]
        take(self, rows)

    monkeypatch.setattr(verification._Walk, "take", count)
    found = await firm.get("/audit/verify")
    assert found["whole"] is True
    assert found["length"] > 0
    assert seen
    assert set(seen) == {0}


async def test_log_verification_runs_one_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Firm.found(world, "Logged")
    await firm.patch("", {"name": "Logged twice"})
    begun, released = threading.Event(), threading.Event()
    take = verification._Walk.take

    def wait(self: Any, rows: Any) -> None:
        begun.set()
        released.wait(60)
        take(self, rows)

    monkeypatch.setattr(verification._Walk, "take", wait)
    first = asyncio.create_task(firm.get("/audit/verify"))
    await asyncio.to_thread(begun.wait, 60)
    await refused(firm.admin, "GET", f"{firm.base}/audit/verify", 429)
    released.set()
    assert (await first)["whole"] is True


async def test_log_verification_is_rate_limited(world: World, limits: None) -> None:
    firm = await Firm.found(world, "Logged")
    for _ in range(rate_limits.AUDIT_VERIFICATIONS.amount):
        await firm.get("/audit/verify")
    await refused(firm.admin, "GET", f"{firm.base}/audit/verify", 429)


@pytest.mark.long
async def test_newest_session_ends_the_oldest_above_the_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_OPEN", 2)
    person = await world.person(await world.organization())
    body = {"email": person.email, "password": PASSWORD}
    async with db.worker() as session:
        await session.execute(sa.delete(SessionRow).where(SessionRow.user_id == person.user_id))
    tokens = [(await world.client.call("POST", "/auth/login", json=body))["refresh_token"] for _ in range(3)]
    with pytest.raises(ApiProblem) as ended:
        await world.client.call("POST", "/auth/refresh", json={"refresh_token": tokens[0]})
    assert ended.value.status == 401
    for secret in tokens[1:]:
        await world.client.call("POST", "/auth/refresh", json={"refresh_token": secret})


@pytest.mark.long
async def test_session_creation_is_rate_limited(world: World, limits: None) -> None:
    person = await world.person(await world.organization())
    body = {"email": person.email, "password": PASSWORD}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rate_limits, "SIGN_INS", type(rate_limits.SIGN_INS)(3))
        for _ in range(3):
            await world.client.call("POST", "/auth/login", json=body)
        with pytest.raises(ApiProblem) as refusal:
            await world.client.call("POST", "/auth/login", json=body)
    assert refusal.value.status == 429
