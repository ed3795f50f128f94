"""Requests whose maker may no longer make them when they start: an API key or an application's grant that was
revoked, a session that its person ended, or a person without the role that the request needs.

They end without a transaction, so that a leaked key, a stolen session or a removed colleague does nothing more.
"""

from collections.abc import Mapping

import sqlalchemy as sa

from backend.auth.scopes import ROLE_SCOPES
from backend.core.changes import Who
from backend.core.db import Write
from backend.core.errors import Conflict, Denied
from backend.requests.models import RequestRow

COMPLETIONS = frozenset({"organization.lineage", "distribution.pay"})
"""Kinds that write to the chains what was already decided. They run in any case. The change of a lineage is made, and
without it the chains would contradict the database. A payment goes to a recipient whom the distribution owes it; an
investor, who has no role in the organization's API, may have asked for it.
"""
_REFUSED = sa.text(
    "select signum_maker_refused(:key, :grant, :session, :person, :org, cast(:roles as text[]))"
).bindparams(*(sa.bindparam(name, type_=sa.Uuid()) for name in ("key", "grant", "session", "person")))
_WORDS: Mapping[str, tuple[str, str]] = {
    "key": ("API key that", "was revoked"),
    "application": ("application that", "was disconnected"),
    "session": ("session that", "was ended"),
    "role": ("person who", "lost the role that it needs"),
}


async def refusal(session: Write, row: RequestRow) -> Conflict | None:
    """Return why a request may not start: Denied before its first run. A later one fails and can be retried, because
    the earlier ones may have changed something. None where it may: a credential that has expired was not revoked."""
    maker = Who.of(row.origin)
    if row.kind in COMPLETIONS:
        return None
    roles = [str(role) for role, scopes in ROLE_SCOPES.items() if row.scope in scopes]
    ids = {"key": maker.key_id, "grant": maker.grant, "session": maker.session, "person": maker.actor}
    cause = await session.scalar(_REFUSED, {**ids, "org": row.organization_id, "roles": roles})
    if cause == "credential":
        cause = "application" if maker.grant else "key"
    return _worded(cause, row.attempt) if cause else None


def _worded(cause: str, attempt: int) -> Conflict:
    maker, end = _WORDS[cause]
    if attempt > 1:
        return Conflict(f"The {maker} retried this request {end} before it ran again. Retry it if needed.")
    return Denied(f"The {maker} made this request {end} before it started. Nothing was signed.")
