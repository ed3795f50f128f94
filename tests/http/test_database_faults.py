"""Requests whose database does not respond."""

from http import HTTPStatus

import psycopg
import pytest

from backend.client import ApiProblem
from backend.core.connections import database
from backend.core.secret_keys.keyring import keyring
from tests.conftest import World


async def test_request_that_cannot_read_keys_is_refused_until_it_can(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = await world.person(acme := await world.organization())
    body = {"url": "https://hooks.example.com/"}
    monkeypatch.setattr(keyring(), "_read_at", float("-inf"))
    with monkeypatch.context() as away:
        away.setattr(database, "thread_connection", lambda: psycopg.connect("host=127.0.0.1 port=1"))
        with pytest.raises(ApiProblem) as refused:
            await admin.call("POST", f"/orgs/{acme}/webhooks", json=body)
    assert refused.value.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert refused.value.detail == "The database does not respond. Retry in a few seconds."
    await admin.call("POST", f"/orgs/{acme}/webhooks", json=body)
