"""Guessed codes end their own session or set-up, and never lock the owner out."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from eth_account import Account

from backend.core import db
from backend.factors.models import FactorRow
from backend.sign_in.known_devices import device_cookie
from tests.auth.test_guessing import Visitor
from tests.conftest import PASSWORD, Actor, World
from tests.factors.steps import App, problem_of, set_up
from tests.factors.test_first_factor import proof_of

PROOF = "/auth/factors/verify"
CONFIRM = "/auth/factors/totp/confirm"
WRONG = {"code": "000000"}


@pytest_asyncio.fixture
async def person(world: World) -> Actor:
    return await world.person(await world.organization())


@pytest_asyncio.fixture
async def app(person: Actor) -> App:
    return await set_up(person)


@pytest_asyncio.fixture
async def known_browser(api: Any, person: Actor) -> AsyncIterator[Visitor]:
    """The owner's browser: it signed in before the owner set up a factor."""
    visitor = Visitor(api, "203.0.113.5")
    assert await visitor.sign_in(person.email, PASSWORD) == "/"
    assert device_cookie() in visitor.http.cookies
    yield visitor


async def second_step(visitor: Visitor, person: Actor, code: str) -> str:
    """Return the redirect of a sign-in in a browser after password and code."""
    assert (await visitor.sign_in(person.email, PASSWORD)).startswith("/sign-in/factor")
    answer = await visitor.http.post("/session/factor", data={"code": code})
    return answer.headers["location"].partition("&")[0]


@pytest.mark.long
async def test_tenth_wrong_code_ends_the_session(world: World, person: Actor, app: App, limits: None) -> None:
    elsewhere = (await world.client.call(
        "POST", "/auth/login", json={"email": person.email, "password": PASSWORD, "code": app.recovery_codes[0]}
    ))["access_token"]  # fmt: skip
    for _ in range(9):
        assert (await problem_of(person.call("POST", PROOF, json=WRONG))).status == 400
    ended = await problem_of(person.call("POST", PROOF, json=WRONG))
    assert (ended.status, ended.detail) == (401, "This session ended after 10 incorrect codes. Sign in again.")
    assert (await problem_of(person.call("POST", PROOF, json={"code": app.code(1)}))).status == 401
    assert (await problem_of(person.call("GET", "/auth/me"))).status == 401
    await world.client.call("POST", PROOF, json={"code": app.code(1)}, token=elsewhere)


async def test_wrong_codes_sent_concurrently_get_at_most_ten_answers(
    world: World, person: Actor, app: App, limits: None
) -> None:
    problems = await asyncio.gather(*(problem_of(person.call("POST", PROOF, json=WRONG)) for _ in range(20)))
    assert sorted(problem.status for problem in problems) == [400] * 9 + [401] * 11
    assert (await problem_of(person.call("POST", PROOF, json={"code": app.code(1)}))).status == 401


@pytest.mark.long
async def test_wrong_codes_of_a_stolen_session_do_not_lock_out_the_owner(
    api: Any, world: World, person: Actor, app: App, limits: None
) -> None:
    for _ in range(5):
        await problem_of(person.call("POST", PROOF, json=WRONG))
    login = {"email": person.email, "password": PASSWORD, "code": app.code(1)}
    owner = await world.client.call("POST", "/auth/login", json=login)
    await world.client.call("DELETE", "/auth/sessions", token=owner["access_token"])
    assert (await problem_of(person.call("GET", "/auth/me"))).status == 401


@pytest.mark.long
async def test_wrong_codes_at_sign_in_are_limited_by_address_and_in_total(
    api: Any, person: Actor, app: App, limits: None
) -> None:
    thief = Visitor(api, "198.51.0.7")
    wrong = [await second_step(thief, person, f"00000{n}") for n in range(6)]
    assert wrong == ["/sign-in/factor?error=code"] * 5 + ["/sign-in/factor?error=slow"]
    many = [await second_step(Visitor(api, f"198.51.{n}.7"), person, "000000") for n in range(1, 20)]
    assert many == ["/sign-in/factor?error=code"] * 15 + ["/sign-in/factor?error=slow"] * 4
    assert await second_step(Visitor(api, "203.0.113.9"), person, app.code(1)) == "/sign-in/factor?error=slow"


@pytest.mark.long
async def test_recovery_code_is_accepted_after_wrong_codes(api: Any, person: Actor, app: App, limits: None) -> None:
    owner = Visitor(api, "198.51.0.7")
    for n in range(6):
        await second_step(owner, person, f"00000{n}")
    assert await second_step(owner, person, app.code(1)) == "/sign-in/factor?error=slow"
    assert await second_step(owner, person, app.recovery_codes[0]) == "/"


@pytest.mark.long
async def test_known_browser_is_accepted_after_wrong_codes_elsewhere(
    api: Any, person: Actor, known_browser: Visitor, app: App, limits: None
) -> None:
    for n in range(25):
        await second_step(Visitor(api, f"198.51.{n}.7"), person, "000000")
    assert await second_step(known_browser, person, app.code(1)) == "/"


@pytest.mark.long
async def test_wrong_codes_of_a_known_browser_are_limited(
    api: Any, person: Actor, known_browser: Visitor, app: App, limits: None
) -> None:
    wrong = [await second_step(known_browser, person, f"0000{n:02}") for n in range(12)]
    assert wrong == ["/sign-in/factor?error=code"] * 10 + ["/sign-in/factor?error=slow"] * 2
    assert await second_step(known_browser, person, app.code(1)) == "/sign-in/factor?error=slow"


@pytest.mark.long
async def test_wrong_codes_of_programs_and_wallets_count_like_those_of_browsers(
    api: Any, world: World, person: Actor, limits: None
) -> None:
    account, password = Account.create(), {"email": person.email, "password": PASSWORD}
    link = await proof_of(world, account) | {"link": True, "password": PASSWORD}
    await person.call("POST", "/auth/siwe/verify", json=link)
    app, program = await set_up(person), Visitor(api, "198.51.0.7")
    for n in range(3):
        answer = await program.http.post("/v1/auth/login", json=password | {"code": f"00000{n}"})
        assert answer.status_code == 401
    for n in range(2):
        body = await proof_of(world, account) | {"code": f"00000{n}"}
        assert (await program.http.post("/v1/auth/siwe/verify", json=body)).status_code == 401
    for path, body in (
        ("/v1/auth/login", password | {"code": app.code(1)}),
        ("/v1/auth/siwe/verify", await proof_of(world, account) | {"code": app.code(1)}),
    ):
        assert (await program.http.post(path, json=body)).status_code == 429
    assert await second_step(program, person, app.code(1)) == "/sign-in/factor?error=slow"


async def test_fifth_wrong_code_ends_the_set_up(person: Actor, limits: None) -> None:
    begun = await person.call("POST", "/auth/factors/totp", json={"password": PASSWORD})
    for _ in range(4):
        wrong = await problem_of(person.call("POST", CONFIRM, json=WRONG))
        assert wrong.by_field()["code"].startswith("The code is incorrect")
    ended = await problem_of(person.call("POST", CONFIRM, json=WRONG))
    assert (ended.status, ended.detail) == (400, "The setup ended after 5 incorrect codes. Start again.")
    right = await problem_of(person.call("POST", CONFIRM, json={"code": App(begun["secret"]).code()}))
    assert (right.status, right.detail) == (400, "The setup has expired. Start again.")
    async with db.worker() as session:
        left = sa.select(FactorRow.id).where(FactorRow.user_id == person.user_id)
        assert (await session.scalars(left)).all() == []
    assert len((await set_up(person)).recovery_codes) == 10, "the owner starts again"


async def test_wrong_codes_sent_concurrently_get_at_most_five_guesses_at_a_set_up(person: Actor, limits: None) -> None:
    await person.call("POST", "/auth/factors/totp", json={"password": PASSWORD})
    problems = await asyncio.gather(*(problem_of(person.call("POST", CONFIRM, json=WRONG)) for _ in range(12)))
    guesses = [p for p in problems if p.status == 400 and p.detail.startswith("The code is incorrect")]
    assert len(guesses) == 4, [p.detail for p in problems]


async def test_set_up_of_another_person_survives_wrong_codes(world: World, person: Actor, limits: None) -> None:
    other = await world.person(await world.organization())
    begun = await other.call("POST", "/auth/factors/totp", json={"password": PASSWORD})
    await person.call("POST", "/auth/factors/totp", json={"password": PASSWORD})
    for _ in range(6):
        await problem_of(person.call("POST", CONFIRM, json=WRONG))
    await other.call("POST", CONFIRM, json={"code": App(begun["secret"]).code()})
