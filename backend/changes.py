"""The seam between what changes and whoever must know: services tell, the audit log and webhooks listen.

A change is told in the transaction that makes it, so that it is written down exactly where it happened. Who is behind
it is ambient: the guard says so for a request, the workflow runner for a workflow, and without either it is the system.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession

SYSTEM = "system"
NOBODY = "none"
"""A request without a credential, before it has proven who sends it."""
OPERATOR = "operator"
"""Whoever runs the installation, by a command on the database itself."""


@dataclass(frozen=True)
class Who:
    """Whoever is behind a change. `actor` is the person who answers for it (of a key alone, its creator), `credential`
    is `session`, `token`, `key:<id>`, `none`, `operator` or `system`."""

    actor: UUID | None = None
    credential: str = SYSTEM
    request_id: str | None = None
    address: str | None = None

    def noted(self) -> dict[str, str | None]:
        """As JSON, for what goes on after the request."""
        actor = str(self.actor) if self.actor else None
        return {
            "actor": actor,
            "credential": self.credential,
            "request_id": self.request_id,
            "address": self.address,
        }

    @classmethod
    def of(cls, note: dict[str, Any]) -> "Who":
        """From the JSON of `noted`; the system where there is none."""
        return cls(**{**note, "actor": UUID(note["actor"]) if note.get("actor") else None})


@dataclass(frozen=True)
class Change:
    """Something that has changed in an organization.

    `action` is an event type ("asset.updated") or of the same form; `subject` is kind and id; `before` and `after` are
    records as the API shows them, JSON-ready, without secrets, and only the fields that changed (created: no before).
    """

    organization_id: UUID
    action: str
    subject: tuple[str, UUID | str]
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    who: Who


THE_SYSTEM = Who()
THE_OPERATOR = Who(credential=OPERATOR)
Listener = Callable[[AsyncSession, Change], Awaitable[None]]
_listeners: list[Listener] = []
_who: ContextVar[Who] = ContextVar("who", default=THE_SYSTEM)
_untold: ContextVar[bool] = ContextVar("untold", default=False)


def who() -> Who:
    """Who is behind what happens now."""
    return _who.get()


@contextmanager
def acting(someone: Who) -> Iterator[None]:
    """Say who is behind everything that is told within."""
    before = _who.set(someone)
    try:
        yield
    finally:
        _who.reset(before)


@contextmanager
def unlocated() -> Iterator[None]:
    """Leave the address out of everything that is told within."""
    with acting(replace(_who.get(), address=None)):
        yield


@contextmanager
def untold() -> Iterator[None]:
    """Tell nobody of what is done within, because it is taken back."""
    before = _untold.set(True)
    try:
        yield
    finally:
        _untold.reset(before)


def proven(actor: UUID, credential: str | None = None) -> None:
    """Say that a request without a credential has shown whose it is: by a password, a link, a signature."""
    _who.set(replace(_who.get(), actor=actor, credential=credential or _who.get().credential))


def listen(listener: Listener) -> None:
    """Call this for every change, in its transaction. Once each, however often it is said."""
    if listener not in _listeners:
        _listeners.append(listener)


def shown(schema: type[BaseModel], row: Any, **more: Any) -> dict[str, Any]:
    """A row as the API's record of it shows it, JSON-ready: the fields that the row has itself, and `more`.

    `updated_at` is left out: it changes with everything. Whole numbers that the record has as text are text.
    """
    names = [name for name in schema.model_fields if name != "updated_at" and hasattr(row, name)]
    values = {name: _as_text(schema, name, getattr(row, name)) for name in names} | more
    record = schema.model_construct(**values)
    told: dict[str, Any] = record.model_dump(mode="json", include=set(values), by_alias=True, warnings=False)
    return told


def _as_text(schema: type[BaseModel], name: str, value: Any) -> Any:
    is_text = schema.model_fields[name].annotation in (str, str | None)
    return str(value) if is_text and isinstance(value, int) and not isinstance(value, bool) else value


async def tell_change(
    session: AsyncSession,
    organization_id: UUID,
    action: str,
    subject: tuple[str, UUID | str],
    before: dict[str, Any],
    after: dict[str, Any],
) -> None:
    """Tell what of a record has changed; nothing where nothing has."""
    changed = [name for name in after if before.get(name) != after[name]]
    if changed:
        old, new = ({name: record.get(name) for name in changed} for record in (before, after))
        await tell(session, organization_id, action, subject, old, new)


async def tell_state(
    session: AsyncSession, kind: str, schema: type[BaseModel], row: Any, before: dict[str, Any]
) -> None:
    """Tell that a row has come into another state, by an action of the state's name ("transfer.confirmed"); nothing
    where it is in the same one. `before` is the row as it was shown then."""
    if before["status"] != row.status:
        after = shown(schema, row)
        await tell_change(session, row.organization_id, f"{kind}.{row.status}", (kind, row.id), before, after)


async def tell(
    session: AsyncSession,
    organization_id: UUID,
    action: str,
    subject: tuple[str, UUID | str],
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Say that something has changed, in the transaction that changes it."""
    if _untold.get():
        return
    change = Change(organization_id, action, subject, before, after, who())
    for listener in _listeners:
        await listener(session, change)
