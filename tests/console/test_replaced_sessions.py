"""A tab whose browser has signed in again, while a call of the earlier session still runs."""

import asyncio
from typing import Any

import httpx
import pytest

from app.shell.event_guard import Owner
from backend.auth.credentials import session_secret
from backend.auth.secrets import digest
from backend.client import client
from backend.core import db
from backend.sign_in import service
from backend.users.schemas import Role
from state.core.api import Replaced, SignedOut
from tests.conftest import World
from tests.console.events import connected
from tests.console.test_conflicts import tab_of
from tests.console.test_live_pages import BELL
from tests.support.firm import Firm

pytestmark = pytest.mark.usefixtures("api")


async def test_end_of_the_earlier_session_does_not_lead_the_new_one_to_the_sign_in(world: World) -> None:
    firm = await Firm.found(world)
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    async with connected() as socket:
        tab = await tab_of(firm, socket, "overview")
        owner = digest(session_secret(officer.cookie))

        async def signs_in(answer: httpx.Response) -> None:
            if answer.status_code == 401 and tab.value(Owner, "_owner") != owner:
                await tab.begin(officer.cookie)
                while tab.value(Owner, "_owner") != owner:  # noqa: ASYNC110 (no event tells)
                    await asyncio.sleep(0.01)

        hooks: dict[str, list[Any]] = client._client().event_hooks
        client._client().event_hooks = {**hooks, "response": [*hooks["response"], signs_in]}
        async with db.transaction() as session:
            await service.end_by_cookie(session, session_secret(firm.admin.cookie))
        said = await tab.send(f"{BELL}.follow", {})
        assert any(isinstance(failure, Replaced) for failure in socket.failures)
        assert not any(isinstance(failure, SignedOut) for failure in socket.failures)
        assert "/sign-in" not in said
