"""Weak passwords are refused, with the reason at the field."""

import pytest

from backend.sign_in.weak_passwords import COMMON, OWN, PATTERN, weakness
from tests.conftest import PASSWORD, World
from tests.users.test_accounts import forget, refused, signs_in

ADA = ("ada.lovelace@northwind.example", "Ada Lovelace")


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("1q2w3e4r5t", COMMON),
        ("Basketball", COMMON),
        ("password2026!", COMMON),
        ("P@ssw0rd123", COMMON),
        ("pass word 1 2", COMMON),
        ("!!monkey123!", COMMON),
        ("aaaaaaaaaaaa", PATTERN),
        ("abababababab", PATTERN),
        ("xyz1xyz1xyz1", PATTERN),
        ("dragondragon", PATTERN),
        ("4567890123456", PATTERN),
        ("poiuytrewqpo", PATTERN),
        ("ada.lovelace1", OWN),
        ("LovelaceAda!7", OWN),
        ("northwind-2026", OWN),
        ("signumsignum1", OWN),
    ],
)
def test_weak_password_is_detected(password: str, why: str) -> None:
    assert weakness(password, ADA) == why


@pytest.mark.parametrize(
    "password",
    ["correct horse battery", "a long new password", "kV3-tz9Qw!pe", "Lovelace keeps 4 green owls",
     "пароль из трёх слов", "dragon 8842 quarry lamp"],
)  # fmt: skip
def test_strong_password_is_accepted(password: str) -> None:
    assert weakness(password, ADA) is None


@pytest.mark.long
async def test_weak_password_is_rejected_by_every_form(world: World) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    change = {"current_password": PASSWORD, "new_password": "password2026!"}
    found = await refused(world, 400, "/auth/password/change", change, cookie=person.cookie)
    assert found.by_field() == {"new_password": COMMON}
    [link] = await forget(world, person.email)
    own = {"token": link, "password": f"{person.email.split('@')[0]}!!"}
    assert (await refused(world, 400, "/auth/password/reset", own)).by_field() == {"password": OWN}
    assert await signs_in(world, person.email, PASSWORD), "nothing has changed"
    await world.client.call("POST", "/auth/password/reset", json={"token": link, "password": "kV3-tz9Qw!pe"})
    assert await signs_in(world, person.email, "kV3-tz9Qw!pe")
