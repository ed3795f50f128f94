"""Notices of requests on chains that were disabled after they were made."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from backend.auth.principal import Context
from backend.chains import new_activity
from backend.requests.schemas import ENDING, FINAL, RequestStatus, RequestStep


async def by_request(
    context: Context, rows: Sequence[Any], steps: Mapping[UUID, Sequence[RequestStep]]
) -> dict[UUID, str]:
    """Return the notices of those requests that have one, by their ID."""
    eids = {row.id: [s.chain_eid for s in steps[row.id] if s.chain_eid] for row in rows if _may_have_one(row)}
    wanted = {eid for found in eids.values() for eid in found}
    names = await new_activity.disabled_names(context, wanted) if wanted else {}
    affected = {row.id: [names[e] for e in dict.fromkeys(eids.get(row.id, ())) if e in names] for row in rows}
    return {row.id: notice(row.status, affected[row.id]) for row in rows if affected[row.id]}


def notice(status: RequestStatus, names: Sequence[str]) -> str:
    """Return the notice of a request that began, or waits for a second person, on chains disabled since then."""
    which = f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} disabled after this request was made."
    if status is RequestStatus.AWAITING_APPROVAL:
        return f"{which} It cannot be approved until {'the chain is' if len(names) == 1 else 'they are'} enabled again."
    return f"{which} It finishes; nothing new starts there."


def _may_have_one(row: Any) -> bool:
    return row.status not in FINAL and row.kind not in ENDING
