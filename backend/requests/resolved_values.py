"""Values that a request executes. They were resolved when it was accepted: title, steps, arguments, and the record that
it created.

A second person approves exactly these. The same call, tried again at the approval, must resolve to the same ones, and
the approved ones must still be there when the request starts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from pydantic_core import to_jsonable_python
from sqlmodel import SQLModel, col

from backend.core.db import Write
from backend.core.errors import Conflict, Denied, PrerequisitesNotMet
from backend.core.problems import resolutions
from backend.requests.models import RequestRow, RequestStepRow

CAUSE = "waits_because"
"""Name in a request's arguments: why it waits."""
COUNTED = "lineage"
"""Name in a request's arguments: the transactions that the operator pays, counted at its acceptance, by endpoint ID."""
_OTHERS = frozenset({"order", CAUSE, COUNTED})
"""Arguments that decide when a request runs, why it waits and what is counted, not what it does."""
_STATES = frozenset(
    {"id", "organization_id", "created_at", "updated_at", "request_id", "bridge_id", "status", "failure"}
)
"""Columns of a new record that identify it or show its progress. Its steps show whether a market is bridged."""
_TRIAL = "trial"


@dataclass(frozen=True)
class Resolved:
    """What a request executes, by name, as JSON. `creates`: whether it created its subject, whose columns are
    included."""

    subject_id: UUID
    creates: bool
    values: Mapping[str, Any]

    def stored(self) -> dict[str, Any]:
        """Return JSON that `check_started` compares."""
        return {"creates": self.creates, "values": dict(self.values)}


def note(session: Write, row: RequestRow) -> None:
    """Note the request that a call made in a rehearsal."""
    session.info[_TRIAL] = row


async def tried(session: Write, original: UUID) -> Resolved | None:
    """Return what the call of a rehearsal would execute; None where it made no request. `original` is the subject of
    the waiting request."""
    row: RequestRow | None = session.info.get(_TRIAL)
    return None if row is None else await of(session, row, creates=row.subject_id != original)


async def of(session: Write, row: RequestRow, *, creates: bool) -> Resolved:
    """Return what a request executes, from its rows."""
    await session.flush()
    steps = sa.select(col(RequestStepRow.title), col(RequestStepRow.chain_eid)).where(
        col(RequestStepRow.request_id) == row.id
    )
    found = (await session.execute(steps.order_by(col(RequestStepRow.position)))).all()
    values = {
        **(await _record(session, row) if creates else {}),
        **{name: value for name, value in row.arguments.items() if name not in _OTHERS},
        "title": row.title,
        "steps": [f"{step.title} ({step.chain_eid})" if step.chain_eid else step.title for step in found],
    }
    return Resolved(row.subject_id, creates, to_jsonable_python(values))


async def _record(session: Write, row: RequestRow) -> dict[str, Any]:
    """Return the columns of a request's subject; none where it is created later, from the arguments alone."""
    table = SQLModel.metadata.tables.get(f"{row.subject_type}s")
    if table is None:
        return {}
    found = (await session.execute(sa.select(table).where(table.c.id == row.subject_id))).first()
    return {} if found is None else {name: v for name, v in found._mapping.items() if name not in _STATES}


def check_same(approval_id: UUID, organization_id: UUID, requested: Resolved, now: Resolved | None) -> None:
    """Raise 409 that names each value that the call would resolve differently now."""
    if now is None:
        raise Conflict(
            "This action no longer needs a request: the requester can now do it directly. Deny it; the requester can "
            "repeat it."
        )
    changed = _changed(requested.values, now.values)
    if not changed:
        return
    differing = [(name, _shown(old), _shown(new)) for name, old, new in changed]
    do = "Deny it; the requester can send it again with the current values."
    path = f"/orgs/{organization_id}/approvals/{approval_id}/deny"
    call = resolutions.call("POST", path, do, reason=resolutions.example("Its values have changed."))
    entries = [
        {"state": name, "satisfied": False, "detail": f"Requested: {old}. Now: {new}.", "resolution": call}
        for name, old, new in differing
    ]
    facts = "; ".join(f"{name}: requested {old}, now {new}" for name, old, new in differing)
    raise PrerequisitesNotMet(entries, f"What this request would do has changed since it was made. {facts}. {do}")


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Sequence[tuple[str, Any, Any]]:
    names = dict.fromkeys([*before, *after])
    return [(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


async def refusal(session: Write, row: RequestRow, approved: Mapping[str, Any] | None) -> Conflict | None:
    """Return why an approved request may not start for the first time: its rows are not what was approved (`executes`
    of its approval)."""
    if row.attempt > 1 or approved is None:
        return None
    current = await of(session, row, creates=approved["creates"])
    changed = _changed(approved["values"], current.values)
    if not changed:
        return None
    names = ", ".join(name for name, _, _ in changed)
    fact = f"What this request would do has changed since its approval ({names})."
    return Denied(f"{fact} Nothing was sent. Send the request again.")
