"""The audit log: written with the change, in one chain per organization, read and verified."""

import asyncio
import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from backend.auth.scopes import Scope
from backend.client import ApiProblem, SignumClient
from backend.core import db
from backend.core.changes import Who, acting, publish
from backend.core.db import new_id
from backend.core.settings import settings
from backend.exports import csv_lists
from backend.server import runtime
from tests.conftest import Actor, World

BODY = {"name": "CI", "scopes": ["orgs:read"]}


async def entries(actor: Actor, of: UUID, /, **params: Any) -> list[dict[str, Any]]:
    """Return the log's newest page."""
    found: list[dict[str, Any]] = (await actor.call("GET", f"/orgs/{of}/audit", params=params))["audit"]
    return found


async def change(organization: UUID, *actions: str, subject: str = "1") -> None:
    """A transaction that records a change."""
    async with db.transaction(organization) as session:
        for action in actions:
            await publish(session, organization, action, ("test", subject), {"n": 1}, {"n": 2, "ö": "é\n\u2028"})


def tamper(database_url: str, statement: str, *values: object) -> None:
    """Act as a database administrator who bypasses every trigger."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute(statement.encode(), values)


async def test_audit_entry_names_actor_action_and_address(world: World, api: Any) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    headers = {"cookie": admin.cookie, "origin": settings().origin}
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        answer = await http.post(f"/v1/orgs/{acme}/api-keys", json=BODY, headers=headers)
    made = answer.json()
    key = made.pop("key")
    await world.client.call("GET", f"/orgs/{acme}", token=key)
    (entry,) = await entries(admin, acme)
    assert entry["request_id"] == answer.headers["x-request-id"]
    assert (entry["actor"], entry["actor_name"]) == (str(admin.user_id), admin.email.split("@")[0].title())
    assert (entry["credential"], entry["address"]) == ("session", "127.0.0.1")
    assert (entry["action"], entry["subject"]) == ("api_key.created", {"type": "api_key", "id": made["id"]})
    made.pop("updated_at")
    assert (entry["before"], entry["after"]) == (None, made)
    assert key not in json.dumps(entry)


async def test_audit_subject_has_its_current_or_last_name(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    await admin.call("POST", f"/orgs/{acme}/wallets", json={"label": "Treasury"})
    made = await admin.call("POST", f"/orgs/{acme}/wallets", json={"label": "Custody"})
    one = f"/orgs/{acme}/wallets/{made['id']}"
    await admin.call("PATCH", one, json={"label": "Custody of Ann"})
    assert [e["subject_name"] for e in await entries(admin, acme)] == ["Custody of Ann", "Custody of Ann", "Treasury"]
    await admin.call("DELETE", one)
    gone = [(e["action"], e["subject_name"]) for e in await entries(admin, acme)]
    assert gone[0] == ("wallet.removed", "Custody of Ann")
    no_wallets = await world.key(acme, Scope.ORGS_READ)
    log = (await world.client.call("GET", f"/orgs/{acme}/audit", headers=no_wallets))["audit"]
    assert [e["subject_name"] for e in log] == [None] * 4


async def test_audit_entry_distinguishes_key_and_token(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    tokens = await world.client.call(
        "POST", "/auth/login", json={"email": admin.email, "password": "correct horse battery"}
    )
    headers = await world.key(acme, created_by=admin.user_id)
    await world.client.call("POST", f"/orgs/{acme}/api-keys", json=BODY, headers=headers)
    await world.client.call("POST", f"/orgs/{acme}/api-keys", json=BODY, token=tokens["access_token"])
    by_token, by_key = await entries(admin, acme)
    keys = (await admin.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"]
    assert by_token["credential"] == "token"
    assert by_key["credential"] == f"key:{next(k['id'] for k in keys if k['name'] == 'test')}"
    assert by_key["actor"] == str(admin.user_id)


async def test_one_entry_is_read_by_its_number(world: World) -> None:
    acme, other = await world.organization(), await world.organization("Other")
    admin, stranger = await world.person(acme), await world.person(other)
    await change(acme, *["test.changed"] * 60)
    await change(other, "other.changed")
    (first,) = await entries(admin, acme, seq=1)
    assert (first["seq"], first["action"]) == (1, "test.changed")
    assert all(entry["seq"] > 1 for entry in await entries(admin, acme))
    assert (await entries(admin, acme, seq=61), await entries(admin, acme, seq=1, action="api_key")) == ([], [])
    (theirs,) = await entries(stranger, other, seq=1)
    assert (theirs["action"], theirs["organization_id"]) == ("other.changed", str(other))
    with pytest.raises(ApiProblem) as refused:
        await entries(stranger, acme, seq=1)
    assert refused.value.status == 403
    for wrong in ("0", "x", str(2**63)):
        with pytest.raises(ApiProblem) as invalid:
            await entries(admin, acme, seq=wrong)
        assert invalid.value.status == 400


async def fail_after_telling(organization: UUID) -> None:
    async with db.transaction(organization) as session:
        await publish(session, organization, "test.changed", ("test", "1"))
        raise ZeroDivisionError


async def test_rolled_back_change_leaves_no_audit_entry(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    with pytest.raises(ZeroDivisionError):
        await fail_after_telling(acme)
    assert await entries(admin, acme) == []
    verified = await admin.call("GET", f"/orgs/{acme}/audit/verify")
    assert verified == {"whole": True, "length": 0, "last_hash": None, "broken": None, "erased": 0, "erasures": []}


async def test_audit_chain_can_be_recomputed_from_responses(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    with acting(Who(admin.user_id, "token", "r-1", "10.0.0.1")):
        await change(acme, "test.one", "test.two")
    await change(acme, "test.three")
    last = "0" * 64
    for number, entry in enumerate(reversed(await entries(admin, acme)), 1):
        hash_ = entry.pop("hash")
        del entry["actor_name"], entry["subject_name"], entry["withheld"], entry["erased_by"]
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert (entry["seq"], entry["previous_hash"]) == (number, last)
        assert (last := hashlib.sha256(text.encode()).hexdigest()) == hash_
    verified = await admin.call("GET", f"/orgs/{acme}/audit/verify")
    assert verified == {"whole": True, "length": 3, "last_hash": last, "broken": None, "erased": 0, "erasures": []}


async def test_concurrent_changes_of_two_organizations_build_two_gapless_audit_chains(world: World) -> None:
    acme, beta = await world.organization(), await world.organization()
    admin = await world.person(acme)

    async def one(number: int) -> None:
        first, second = (acme, beta) if number % 2 else (beta, acme)
        async with db.transaction(acme, beta) as session:
            await publish(session, first, "test.changed", ("test", str(number)))
            await publish(session, second, "test.changed", ("test", str(number)))

    await asyncio.gather(*(one(n) for n in range(40)))
    log = await entries(admin, acme, limit=100)
    assert [e["seq"] for e in log] == list(range(40, 0, -1))
    assert {e["subject"]["id"] for e in log} == {str(n) for n in range(40)}
    assert (await admin.call("GET", f"/orgs/{acme}/audit/verify"))["whole"]


async def test_audit_entries_are_paged_and_filtered(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    with acting(Who(admin.user_id, "session")):
        await change(acme, "test.one", subject="a")
    await change(acme, "test.two", "tests.one", subject="b")
    middle = (await entries(admin, acme))[1]["at"]

    async def actions(**params: Any) -> list[str]:
        return [e["action"] for e in await entries(admin, acme, **params)]

    assert await actions() == ["tests.one", "test.two", "test.one"]
    assert await actions(action="test") == ["test.two", "test.one"]
    assert await actions(action="test.two") == ["test.two"]
    assert await actions(actor=str(admin.user_id)) == ["test.one"]
    assert await actions(subject="b") == ["tests.one", "test.two"]
    assert await actions(until=middle) == ["test.one"]
    assert await actions(since=middle) == ["tests.one", "test.two"]
    found, cursor = [], None
    while cursor or not found:
        page = await admin.call("GET", f"/orgs/{acme}/audit", params={"limit": 1, "cursor": cursor})
        found, cursor = [*found, *(e["seq"] for e in page["audit"])], page["nextCursor"]
    assert found == [3, 2, 1]
    for bad in (
        {"cursor": "x"},
        {"action": "T"},
        {"actor": "x"},
        {"since": "x"},
        {"subject": "\0"},
    ):
        with pytest.raises(ApiProblem) as problem:
            await entries(admin, acme, **bad)
        assert problem.value.status == 400, bad


async def test_audit_fields_outside_the_scopes_are_withheld(world: World, client: SignumClient) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    await admin.call("POST", f"/orgs/{acme}/api-keys", json=BODY)
    narrow = await world.key(acme, Scope.ORGS_READ)
    (entry,) = (await client.call("GET", f"/orgs/{acme}/audit", headers=narrow))["audit"]
    assert (entry["withheld"], entry["before"], entry["after"]) == (True, None, None)
    (whole,) = await entries(admin, acme)
    assert (whole["withheld"], whole["after"]["name"], whole["hash"]) == (False, "CI", entry["hash"])


async def test_audit_csv_has_every_entry_and_no_formula(world: World, api: Any) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    await admin.call("POST", f"/orgs/{acme}/api-keys", json=BODY)
    await change(acme, *(["test.changed"] * 620), subject="=1+1;@SUM(1)")
    headers = {"cookie": admin.cookie}
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        answer = await http.get(f"/v1/orgs/{acme}/audit.csv", headers=headers)
        some = await http.get(f"/v1/orgs/{acme}/audit.csv?action=api_key", headers=headers)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="audit.csv"'
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert [line["seq"] for line in lines] == [str(n) for n in range(621, 0, -1)]
    assert (lines[0]["subject_id"], json.loads(lines[0]["after"])) == ("'=1+1;'@SUM(1)", {"n": 2, "ö": "é\n\u2028"})
    assert [line["action"] for line in csv.DictReader(io.StringIO(some.text))] == ["api_key.created"]


@pytest.mark.parametrize("name", ["x;=1+1", "x;@SUM(1)", "a|=1", "=1+1", "\uff1d1+1"])
async def test_audit_csv_has_no_formula_after_a_separator(world: World, api: Any, name: str) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    wallet = {"label": name, "address": "0x" + "12" * 20}
    await admin.call("POST", f"/orgs/{acme}/wallets", json=wallet)
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        answer = await http.get(f"/v1/orgs/{acme}/audit.csv", headers={"cookie": admin.cookie})
    [line] = csv.DictReader(io.StringIO(answer.text))
    assert line["subject_name"] == csv_lists.cell(name)
    assert [text for text in line.values() if csv_lists.cell(text) != text] == []


async def test_audit_log_of_another_organization_is_forbidden(world: World) -> None:
    acme, beta = await world.organization(), await world.organization()
    stranger = await world.person(beta)
    for path in ("audit", "audit/verify", "audit.csv"):
        with pytest.raises(ApiProblem) as problem:
            await stranger.call("GET", f"/orgs/{acme}/{path}")
        assert problem.value.status == 403
    with pytest.raises(Exception, match="was not entered"):
        await change_elsewhere(beta, acme)


async def change_elsewhere(entered: UUID, response: UUID) -> None:
    async with db.transaction(entered) as session:
        await publish(session, response, "test.changed", ("test", "1"))


TAMPERED = {
    "changed": ("update audit_log set after = '{\"n\": 3}' where organization_id = %s and seq = 2", 2, "content"),
    "another time": (
        "update audit_log set at = at + interval '1 us' where organization_id = %s and seq = 2",
        2,
        "content",
    ),
    "taken out": ("delete from audit_log where organization_id = %s and seq = 2", 2, "missing"),
    "cut off": ("delete from audit_log where organization_id = %s and seq = 3", 3, "ends at entry 2"),
    "emptied": ("delete from audit_log where organization_id = %s", 1, "ends at entry 0"),
    "hash too": (
        "update audit_log set action = 'x.y', hash = repeat('a', 64) where organization_id = %s and seq = 3",
        3,
        "",
    ),
    "end moved": ("update audit_heads set seq = 2 where organization_id = %s", 4, "ends at entry 3"),
    "end gone": ("delete from audit_heads where organization_id = %s", 4, "ends at entry 3"),
}


@pytest.mark.parametrize("how", TAMPERED)
async def test_audit_tampering_in_the_database_is_detected(world: World, database_url: str, how: str) -> None:
    statement, seq, reason = TAMPERED[how]
    acme, beta = await world.organization(), await world.organization()
    admin, other = await world.person(acme), await world.person(beta)
    for organization in (acme, beta):
        await change(organization, "test.one", "test.two", "test.three")
    tamper(database_url, statement, acme)
    found = await admin.call("GET", f"/orgs/{acme}/audit/verify")
    assert (found["whole"], found["broken"]["seq"]) == (False, seq)
    assert reason in found["broken"]["reason"]
    assert (await other.call("GET", f"/orgs/{beta}/audit/verify"))["whole"]


@pytest.mark.parametrize("role", ["signum_app", "signum_worker", "none"])
@pytest.mark.parametrize(
    "statement",
    [
        "update audit_log set action = 'x.y'",
        "delete from audit_log",
        "truncate audit_log",
        "update audit_heads set seq = 7",
        "delete from audit_heads",
        "truncate audit_heads",
    ],
)
async def test_audit_log_is_append_only_in_the_database(
    world: World, database_url: str, role: str, statement: str
) -> None:
    acme = await world.organization()
    await change(acme, "test.one")
    with psycopg.connect(database_url) as connection:
        connection.execute(f"set role {role}".encode())
        connection.execute(f"select set_config('app.organization_ids', '{acme}', false)".encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())


async def test_audit_log_accepts_only_the_next_entry(world: World, database_url: str) -> None:
    acme = await world.organization()
    await change(acme, "test.one")
    columns = "organization_id, seq, at, credential, action, subject_type, subject_id, previous_hash, hash"
    for seq, previous in ((1, "0" * 64), (2, "0" * 64), (3, "a" * 64)):
        with psycopg.connect(database_url) as connection:
            connection.execute("set role signum_app")
            connection.execute("select set_config('app.organization_ids', %s, false)", (str(acme),))
            values = (acme, seq, previous, "b" * 64)
            with pytest.raises(psycopg.errors.RaiseException, match="does not follow"):
                connection.execute(
                    f"insert into audit_log ({columns}) values (%s, %s, now(), 'x', 'a.b', 'c', 'd', %s, %s)", values
                )


def command(database_url: str, *arguments: str) -> tuple[int, str]:
    """Run `signum audit verify` as an operator does, in a separate process; return exit code and output."""
    run = [sys.executable, "-m", "backend.cli", "audit", "verify", *arguments]
    done = subprocess.run(
        run, env=os.environ | {"DATABASE_URL": database_url}, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
async def test_operator_verifies_every_audit_chain(world: World, database_url: str) -> None:
    acme, beta = await world.organization("Acme"), await world.organization()
    for organization in (acme, beta):
        await change(organization, "test.one", "test.two")
    assert command(database_url, "--organization", str(acme)) == (0, f"intact  {acme}  Acme: 2 entries.\n")
    tamper(database_url, "update audit_log set action = 'x.y' where organization_id = %s and seq = 2", acme)
    code, output = command(database_url)
    assert (code, f"BROKEN  {acme}  Acme: broken at entry 2." in output, f"intact  {beta}" in output) == (3, True, True)
    code, output = command(database_url, "--organization", str(new_id()))
    assert (code, "has no audit log" in output) == (1, True)
