"""Who a request counts for before its credential is looked up."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from starlette.requests import HTTPConnection

from backend.auth import callers
from backend.auth.principal import Context
from backend.core.runtime import runtime


def request(key: str, address: str = "198.51.100.7") -> HTTPConnection:
    headers = [(b"x-api-key", key.encode())]
    return HTTPConnection({"type": "http", "headers": headers, "client": (address, 1)})


class Known(Context):
    """A context of a person, without a transaction."""

    def __init__(self, user_id: UUID) -> None:
        self._user = user_id

    @property
    def user_id(self) -> UUID:
        return self._user

    session: Any = None


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: Any) -> None:
        return None

    monkeypatch.setattr(callers.db, "count_for", nothing)
    runtime.reset(callers.KnownCallers)


async def test_known_credential_counts_for_its_person() -> None:
    person = uuid4()
    assert callers.name_of(request("a")) == "from 198.51.100.7"
    await callers.count(request("a"), Known(person))
    assert callers.name_of(request("a")) == f"user {person}"


async def test_credential_from_an_unknown_place_counts_for_its_network() -> None:
    await callers.count(request("a"), Known(uuid4()))
    assert callers.name_of(request("a", "203.0.113.9")) == "from 203.0.113.9"


async def test_expired_credential_is_forgotten_by_every_caller() -> None:
    for person in (uuid4(), uuid4()):
        await callers.count(request("a"), Known(person))
    callers.forget(request("a"))
    assert callers.name_of(request("a")) == "from 198.51.100.7"
    assert not runtime.part(callers.KnownCallers).digests


async def test_callers_are_remembered_by_a_limited_number_of_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "MOST_EACH", 2)
    monkeypatch.setattr(callers, "MOST", 3)
    many, one = uuid4(), uuid4()
    await callers.count(request("other"), Known(one))
    for key in "abcd":
        await callers.count(request(key), Known(many))
    assert callers.name_of(request("other")) == f"user {one}"
    assert [callers.name_of(request(key)).startswith("user") for key in "abcd"] == [False, False, True, True]
