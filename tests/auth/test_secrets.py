"""How secrets are made and stored."""

import re

import pytest

from backend.auth import secrets
from tests.conftest import PASSWORD


@pytest.mark.long
def test_password_is_stored_as_argon2id_with_its_own_salt() -> None:
    one, two = secrets.hash_password(PASSWORD), secrets.hash_password(PASSWORD)
    assert one != two
    found = re.match(r"\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$", one)
    assert found is not None
    memory, passes, _ = map(int, found.groups())
    assert (memory >= 19_456, passes >= 2) == (True, True), "OWASP requires at least 19 MiB and 2 passes"
    assert secrets.verify_password(PASSWORD, one)
    assert not secrets.verify_password(PASSWORD, None), "without an account every password is wrong"


@pytest.mark.parametrize("other", [PASSWORD.upper(), f"{PASSWORD} ", f" {PASSWORD}", PASSWORD[:-1]])
def test_password_is_compared_exactly_as_typed(other: str) -> None:
    assert not secrets.verify_password(other, secrets.hash_password(PASSWORD))


@pytest.mark.long
def test_long_password_counts_up_to_its_last_character() -> None:
    long = "пароль и " * 28
    stored = secrets.hash_password(f"{long}a")
    assert secrets.verify_password(f"{long}a", stored)
    assert not secrets.verify_password(f"{long}b", stored)


def test_secrets_have_enough_entropy() -> None:
    made = {secrets.token() for _ in range(100)} | {secrets.api_key() for _ in range(100)}
    assert len(made) == 200
    assert {len(one) for one in made if not secrets.is_api_key(one)} == {43}, "256 bits in base64"
    assert {len(one) for one in made if secrets.is_api_key(one)} == {42}, "32 characters of 62, a prefix and a checksum"
    assert len(secrets.nonce()) == 32, "128 bits in hexadecimal"
