"""Accepting an operation: its request and its workflow, in the caller's transaction."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from backend import workflows
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import tell
from backend.requests import service
from backend.requests.models import RequestRow
from backend.requests.service import Step


async def accept(
    context: Context,
    kind: str,
    title: str,
    *,
    subject: tuple[str, UUID],
    scope: Scope,
    steps: Sequence[Step],
    order: UUID | str,
    arguments: dict[str, Any] | None = None,
) -> RequestRow:
    """Write a request of the entered organization and enqueue its workflow (`kind` is the workflow's name).

    Requests of the same `order` run one after the other.
    """
    row = await service.write(
        context.session,
        organization_id=context.organization_id,
        kind=kind,
        title=title,
        subject_type=subject[0],
        subject_id=subject[1],
        scope=scope,
        steps=steps,
        created_by=context.user_id,
        arguments={"order": str(order), **(arguments or {})},
    )
    await workflows.enqueue(context.session, kind, row.organization_id, row.id, row.attempt, str(order))
    return row


async def retry(context: Context, row: RequestRow) -> RequestRow:
    """Run a failed request once more, under the same intents' keys: what had been done is not done again."""
    before = {"status": row.status, "attempt": row.attempt}
    await service.reopen(context.session, row)
    after = {"status": row.status, "attempt": row.attempt}
    await tell(context.session, row.organization_id, "request.retried", ("request", row.id), before, after)
    await workflows.enqueue(context.session, row.kind, row.organization_id, row.id, row.attempt, row.arguments["order"])
    return row
