"""What a person does with an authenticator app."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pyotp
import pytest
import sqlalchemy as sa

from backend import db
from backend.auth.models import SessionRow
from backend.client import ApiProblem
from backend.db import now
from tests.conftest import PASSWORD, Actor


@dataclass
class App:
    """An authenticator app on a phone, and the recovery codes that came with it."""

    secret: str
    recovery_codes: list[str] = field(default_factory=list)

    def code(self, steps: int = 0) -> str:
        """The code of now, or of the next step of 30 seconds, which is taken too. Each is taken once."""
        return pyotp.TOTP(self.secret).at(now(), counter_offset=steps)


async def set_up(person: Actor, password: str | None = PASSWORD) -> App:
    """Set up an app; its code of now is used up then."""
    begun = await person.call("POST", "/auth/factors/totp", json={"password": password})
    app = App(begun["secret"])
    added = await person.call("POST", "/auth/factors/totp/confirm", json={"code": app.code()})
    app.recovery_codes = added["recovery_codes"] or []
    return app


async def grow_stale(person: Actor) -> None:
    """Six minutes pass since the person's sessions have shown a factor."""
    async with db.worker() as session:
        mine = sa.update(SessionRow).where(SessionRow.user_id == person.user_id)
        await session.execute(mine.values(factor_at=SessionRow.factor_at - timedelta(minutes=6)))


async def sign_in_was(person: Actor, ago: timedelta, *, proven: timedelta | None = None) -> None:
    """Let the person's sessions have signed in so long ago, and have been proven again `proven` ago, or never."""
    at = now()
    mine = sa.update(SessionRow).where(SessionRow.user_id == person.user_id)
    times = {"signed_in_at": at - ago, "proven_at": None if proven is None else at - proven}
    async with db.worker() as session:
        await session.execute(mine.values(**times))


async def problem_of(call: Any) -> ApiProblem:
    """What a call is refused with."""
    with pytest.raises(ApiProblem) as refused:
        await call
    return refused.value
