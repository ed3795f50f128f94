"""Change events: services publish a change, and the audit log and webhooks listen.

A change is published in the transaction that makes it, so that it is recorded exactly if it happens. The actor is
ambient: the guard sets it for a request, the workflow runner for a workflow; without either it is the system.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.logs import lines

SYSTEM = "system"
NOBODY = "none"
"""A request without a credential, before its sender is proven."""
OPERATOR = "operator"
"""The operator of the installation, with a command on the database itself."""


@dataclass(frozen=True)
class Who:
    """The actor behind a change.

    `actor` is the responsible person (for an API key, its creator). `credential` is `session`, `token`, `key:<id>`,
    `none`, `operator` or `system`. `grant` is the session of an application that acts for the person, `session` the
    person's own.
    """

    actor: UUID | None = None
    credential: str = SYSTEM
    request_id: str | None = None
    address: str | None = None
    grant: UUID | None = None
    session: UUID | None = None

    @property
    def key_id(self) -> UUID | None:
        """Return the API key behind the change, if any."""
        kind, _, key = self.credential.partition(":")
        return UUID(key) if kind == "key" else None

    def noted(self) -> dict[str, str | None]:
        """Return the actor as JSON, for work that continues after the request."""
        actor = str(self.actor) if self.actor else None
        return {
            "actor": actor,
            "credential": self.credential,
            "request_id": self.request_id,
            "address": self.address,
            "grant": str(self.grant) if self.grant else None,
            "session": str(self.session) if self.session else None,
        }

    @classmethod
    def of(cls, note: dict[str, Any]) -> "Who":
        """Return the actor from the JSON of `noted`; fields that are missing are the system's."""
        ids = {name: UUID(note[name]) if note.get(name) else None for name in ("actor", "grant", "session")}
        return cls(**{**note, **ids})


@dataclass(frozen=True)
class Change:
    """A change in an organization.

    `action` is an event type ("asset.updated") or has the same form. `subject` is kind and id. `before` and `after` are
    records in the API's form: JSON-ready, without secrets, and only the fields that changed (`before` is None for a
    creation).
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
# Declared at import.
_listeners: list[Listener] = []
_who: ContextVar[Who] = ContextVar("who", default=THE_SYSTEM)
_suppressed: ContextVar[bool] = ContextVar("suppressed", default=False)


def who() -> Who:
    """Return the current actor."""
    return _who.get()


@contextmanager
def acting(someone: Who) -> Iterator[None]:
    """Set the actor of all changes published inside."""
    before = _who.set(someone)
    numbered = lines.request_id.set(someone.request_id or lines.request_id.get())
    try:
        yield
    finally:
        lines.request_id.reset(numbered)
        _who.reset(before)


@contextmanager
def unlocated() -> Iterator[None]:
    """Omit the IP address from all changes published inside."""
    with acting(replace(_who.get(), address=None)):
        yield


@contextmanager
def unpublished() -> Iterator[None]:
    """Publish no changes inside, because they are rolled back."""
    before = _suppressed.set(True)
    try:
        yield
    finally:
        _suppressed.reset(before)


def proven(actor: UUID, credential: str | None = None) -> None:
    """Name the person that a request without a credential has proven to be: by a password, a link, or a signature."""
    _who.set(replace(_who.get(), actor=actor, credential=credential or _who.get().credential))


def listen(listener: Listener) -> None:
    """Call a listener for every change, in its transaction. Registering it again has no effect."""
    if listener not in _listeners:
        _listeners.append(listener)


def shown(schema: type[BaseModel], row: Any, **more: Any) -> dict[str, Any]:
    """Return a row in the form of the API's record, JSON-ready: the fields that the row has, and `more`.

    Omits `updated_at`, which changes with every update. Integers that the record declares as text become text.
    """
    names = [name for name in schema.model_fields if name != "updated_at" and hasattr(row, name)]
    values = {name: _as_text(schema, name, getattr(row, name)) for name in names} | more
    record = schema.model_construct(**values)
    record_fields: dict[str, Any] = record.model_dump(mode="json", include=set(values), by_alias=True, warnings=False)
    return record_fields


def _as_text(schema: type[BaseModel], name: str, value: Any) -> Any:
    is_text = schema.model_fields[name].annotation in (str, str | None)
    return str(value) if is_text and isinstance(value, int) and not isinstance(value, bool) else value


async def publish_change(
    session: AsyncSession,
    organization_id: UUID,
    action: str,
    subject: tuple[str, UUID | str],
    before: dict[str, Any],
    after: dict[str, Any],
) -> None:
    """Publish the fields of a record that changed; nothing if none did."""
    changed = [name for name in after if before.get(name) != after[name]]
    if changed:
        old, new = ({name: record.get(name) for name in changed} for record in (before, after))
        await publish(session, organization_id, action, subject, old, new)


async def publish_status(
    session: AsyncSession, kind: str, schema: type[BaseModel], row: Any, before: dict[str, Any]
) -> None:
    """Publish a row's new status as an action of that name ("transfer.confirmed"); nothing if the status is unchanged.

    `before` is the row as `shown` returned it earlier.
    """
    if before["status"] != row.status:
        after = shown(schema, row)
        await publish_change(session, row.organization_id, f"{kind}.{row.status}", (kind, row.id), before, after)


async def set_status(session: AsyncSession, kind: str, schema: type[BaseModel], row: Any, **values: Any) -> None:
    """Set values of a locked row, and publish its status if it is new, as `publish_status` does."""
    await set_statuses(session, kind, schema, [(row, values)])


async def set_statuses(
    session: AsyncSession, kind: str, schema: type[BaseModel], changes: Sequence[tuple[Any, Mapping[str, Any]]]
) -> None:
    """Do the same for several rows, each with its values."""
    before = [shown(schema, row) for row, _ in changes]
    for row, values in changes:
        for name, value in values.items():
            setattr(row, name, value)
    await session.flush()
    for (row, _), old in zip(changes, before, strict=True):
        await publish_status(session, kind, schema, row, old)


async def publish(
    session: AsyncSession,
    organization_id: UUID,
    action: str,
    subject: tuple[str, UUID | str],
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Publish a change in the transaction that makes it."""
    if _suppressed.get():
        return
    change = Change(organization_id, action, subject, before, after, who())
    for listener in _listeners:
        await listener(session, change)
