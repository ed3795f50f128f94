"""A person's steps with an authenticator app."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pyotp
import pytest
import sqlalchemy as sa

from backend.auth.models import SessionRow
from backend.client import ApiProblem
from backend.core import db
from backend.core.db import now
from tests.conftest import PASSWORD, Actor


@dataclass
class App:
    """An authenticator app on a phone, and the recovery codes that came with it."""

    secret: str
    recovery_codes: list[str] = field(default_factory=list)

    def code(self, steps: int = 0) -> str:
        """The current code, or that of the next step of 30 seconds, which is accepted too. Each works once."""
        return pyotp.TOTP(self.secret).at(now(), counter_offset=steps)


async def set_up(person: Actor, password: str | None = PASSWORD) -> App:
    """Set up an app; its current code is used up then."""
    begun = await person.call("POST", "/auth/factors/totp", json={"password": password})
    app = App(begun["secret"])
    added = await person.call("POST", "/auth/factors/totp/confirm", json={"code": app.code()})
    app.recovery_codes = added["recovery_codes"] or []
    return app


async def grow_stale(person: Actor) -> None:
    """Move the last proof of the person's factor six minutes back."""
    async with db.worker() as session:
        mine = sa.update(SessionRow).where(SessionRow.user_id == person.user_id)
        await session.execute(mine.values(factor_at=SessionRow.factor_at - timedelta(minutes=6)))


async def sign_in_was(person: Actor, ago: timedelta, *, proven: timedelta | None = None) -> None:
    """Set when the person's sessions have signed in, and when they were proven again: `proven` ago, or never."""
    at = now()
    mine = sa.update(SessionRow).where(SessionRow.user_id == person.user_id)
    times = {"signed_in_at": at - ago, "proven_at": None if proven is None else at - proven}
    async with db.worker() as session:
        await session.execute(mine.values(**times))


async def problem_of(call: Any) -> ApiProblem:
    """Return the refusal of a call."""
    with pytest.raises(ApiProblem) as refused:
        await call
    return refused.value
