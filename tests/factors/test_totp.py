"""Authenticator apps and recovery codes: set up, required at every sign-in, removed."""

import asyncio
import os
import subprocess
import sys
from datetime import timedelta

import pytest
import sqlalchemy as sa

from backend.client import ApiProblem
from backend.core import db
from backend.factors.models import FactorRow
from tests.conftest import PASSWORD, World
from tests.factors.steps import grow_stale, problem_of, set_up, sign_in_was
from tests.users.test_accounts import forget

PROOF = "/auth/factors/verify"


@pytest.mark.long
async def test_app_is_set_up_with_password_and_code(world: World) -> None:
    acme = await world.organization()
    person, other = await world.person(acme), await world.person(acme)
    await sign_in_was(person, timedelta())
    assert (await person.call("GET", "/auth/me"))["should_add_second_factor"]
    refused = await problem_of(person.call("POST", "/auth/factors/totp", json={}))
    assert (refused.status, refused.by_field()) == (400, {"password": "Enter your password to continue."})
    wrong = await problem_of(person.call("POST", "/auth/factors/totp", json={"password": "wrong"}))
    assert wrong.by_field() == {"password": "The current password is incorrect."}

    begun = await person.call("POST", "/auth/factors/totp", json={"password": PASSWORD})
    assert begun["otpauth_uri"].startswith("otpauth://totp/Signum:")
    assert (await person.call("GET", "/auth/factors"))["factors"] == []
    bad = await problem_of(person.call("POST", "/auth/factors/totp/confirm", json={"code": "000000"}))
    assert bad.by_field()["code"]

    app = await set_up(person)
    assert len(app.recovery_codes) == 10
    listed = await person.call("GET", "/auth/factors")
    assert [(f["kind"], f["name"]) for f in listed["factors"]] == [("totp", "Authenticator app")]
    assert listed["recovery_codes_left"] == 10
    assert listed["fresh_until"]
    me = await person.call("GET", "/auth/me")
    assert (me["has_second_factor"], me["should_add_second_factor"]) == (True, False)
    assert (await other.call("GET", "/auth/factors"))["factors"] == [], "other people's factors are invisible"


@pytest.mark.long
async def test_first_factor_ends_every_other_session(world: World) -> None:
    person = await world.person(await world.organization())
    elsewhere = await world.sign_in(person.email)
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    await set_up(person)
    assert (await problem_of(world.client.call("GET", "/auth/me", cookie=elsewhere))).status == 401
    assert (await problem_of(world.client.call("GET", "/auth/me", token=tokens["access_token"]))).status == 401
    assert (await person.call("GET", "/auth/me"))["has_second_factor"]


@pytest.mark.long
async def test_program_signs_in_with_password_and_code(world: World) -> None:
    person = await world.person(await world.organization())
    app = await set_up(person)
    login = {"email": person.email, "password": PASSWORD}

    missing = await problem_of(world.client.call("POST", "/auth/login", json=login))
    assert (missing.status, missing.rule) == (401, "second_factor")
    assert missing.body["resolution"]["path"] == "/auth/login"
    assert missing.type.endswith("/errors/second-factor-needed")
    wrong = await problem_of(world.client.call("POST", "/auth/login", json=login | {"code": "000000"}))
    assert wrong.status == 401

    code = app.code(1)
    tokens = await world.client.call("POST", "/auth/login", json=login | {"code": code})
    assert (await world.client.call("GET", "/auth/me", token=tokens["access_token"]))["has_second_factor"]
    again = await problem_of(world.client.call("POST", "/auth/login", json=login | {"code": code}))
    assert again.status == 401, "a code works once"


@pytest.mark.long
async def test_recovery_code_works_once(world: World) -> None:
    person = await world.person(await world.organization())
    app = await set_up(person)
    login = {"email": person.email, "password": PASSWORD, "code": app.recovery_codes[3].upper()}
    await world.client.call("POST", "/auth/login", json=login)
    assert (await problem_of(world.client.call("POST", "/auth/login", json=login))).status == 401
    assert (await person.call("GET", "/auth/factors"))["recovery_codes_left"] == 9

    renewed = (await person.call("POST", "/auth/factors/recovery-codes"))["recovery_codes"]
    old = await problem_of(person.call("POST", PROOF, json={"code": app.recovery_codes[4]}))
    assert old.status == 400
    await person.call("POST", PROOF, json={"code": renewed[0]})


@pytest.mark.long
async def test_password_reset_by_mail_does_not_replace_the_factor(world: World) -> None:
    person = await world.person(await world.organization())
    app = await set_up(person)
    link = (await forget(world, person.email))[-1]
    new = "another horse battery"
    await world.client.call("POST", "/auth/password/reset", json={"token": link, "password": new})
    login = {"email": person.email, "password": new}
    refused = await problem_of(world.client.call("POST", "/auth/login", json=login))
    assert (refused.status, refused.rule) == (401, "second_factor")
    await world.client.call("POST", "/auth/login", json=login | {"code": app.code(1)})


async def test_factor_removal_needs_a_fresh_factor(world: World) -> None:
    person = await world.person(await world.organization())
    app = await set_up(person)
    [factor] = (await person.call("GET", "/auth/factors"))["factors"]
    await grow_stale(person)
    for call in (
        person.call("DELETE", f"/auth/factors/{factor['id']}"),
        person.call("POST", "/auth/factors/recovery-codes"),
        person.call("POST", "/auth/factors/totp", json={"password": PASSWORD}),
        person.call("POST", "/auth/factors/passkeys/options", json={"password": PASSWORD}),
    ):
        refused = await problem_of(call)
        assert (refused.status, refused.rule) == (403, "fresh_factor")
    await person.call("POST", PROOF, json={"code": app.code(1)})
    await person.call("DELETE", f"/auth/factors/{factor['id']}")
    assert not (await person.call("GET", "/auth/me"))["has_second_factor"]
    assert (await person.call("GET", "/auth/factors"))["recovery_codes_left"] == 0
    await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})


async def test_factor_of_another_person_cannot_be_removed(world: World) -> None:
    acme = await world.organization()
    person, other = await world.person(acme), await world.person(acme)
    await set_up(person)
    await set_up(other)
    [factor] = (await person.call("GET", "/auth/factors"))["factors"]
    assert (await problem_of(other.call("DELETE", f"/auth/factors/{factor['id']}"))).status == 404


async def test_factor_secret_is_sealed_and_hidden_from_organizations(world: World) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    app = await set_up(person)
    secrets_kept = sa.select(FactorRow.sealed)
    async with db.transaction(acme) as session:
        assert (await session.scalars(secrets_kept)).all() == []
        await db.see_oneself(session, person.user_id)
        [sealed] = (await session.scalars(secrets_kept)).all()
    assert app.secret not in sealed
    log = str(await person.call("GET", f"/orgs/{acme}/audit"))
    assert "user.factor_added" in log
    assert app.secret not in log
    assert app.recovery_codes[0] not in log


async def test_replayed_set_up_response_omits_the_secret(world: World) -> None:
    person = await world.person(await world.organization())
    body = {"password": PASSWORD}
    first = await person.call("POST", "/auth/factors/totp", json=body, idempotency_key="one")
    again = await person.call("POST", "/auth/factors/totp", json=body, idempotency_key="one")
    assert first["secret"]
    assert (again["secret"], again["otpauth_uri"]) == (None, None)


async def test_api_key_cannot_list_second_factors(world: World) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    await set_up(person)
    key = await world.key(acme, created_by=person.user_id)
    refused = await problem_of(world.client.call("GET", "/auth/factors", headers=key))
    assert isinstance(refused, ApiProblem)
    assert refused.status == 403


@pytest.mark.long
async def test_operator_removes_the_lost_factors_of_a_person(world: World, database_url: str) -> None:
    acme = await world.organization()
    person, admin = await world.person(acme), await world.person(acme)
    await set_up(person)

    async def remove(email: str) -> tuple[int, str]:
        """Run `signum factors remove` as an operator does; return exit code and output."""
        run = [
            sys.executable,
            "-m",
            "backend.cli",
            "factors",
            "remove",
            "--email",
            email,
            "--reason",
            "Lost phone",
        ]
        environment = os.environ | {"DATABASE_URL": database_url}
        done = await asyncio.to_thread(subprocess.run, run, env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    code, said = await remove(person.email.upper())
    assert (code, "Removed 1 second factor" in said) == (0, True), said
    assert (await problem_of(person.call("GET", "/auth/me"))).status == 401, "their sessions have ended"
    await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    log = (await admin.call("GET", f"/orgs/{acme}/audit?action=user.factors_removed"))["audit"]
    assert (log[0]["credential"], log[0]["before"]) == ("operator", {"factors": 1, "reason": "Lost phone"})
    assert (await remove(admin.email))[0] == 1
    assert "No account has the address" in (await remove("unknown@example.com"))[1]


@pytest.mark.long
async def test_recovery_code_works_when_the_app_secret_cannot_be_decrypted(world: World) -> None:
    person = await world.person(await world.organization())
    app = await set_up(person)
    async with db.transaction() as session:
        await db.see_oneself(session, person.user_id)
        await session.execute(sa.update(FactorRow).values(sealed="AAAA"))
    login = {"email": person.email, "password": PASSWORD}
    closed = await problem_of(world.client.call("POST", "/auth/login", json=login | {"code": app.code(1)}))
    assert closed.status == 401
    await world.client.call("POST", "/auth/login", json=login | {"code": app.recovery_codes[0]})
