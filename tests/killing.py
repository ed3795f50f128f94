"""Requests that are accepted but not run by the engine, so that a test can run, kill and run again their workflows."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from backend import db, sweep, workflows
from backend.assets import writing
from backend.chain import relayer, rpc, transactions
from backend.models import TransactionRow


@contextmanager
def unqueued() -> Iterator[None]:
    """Inside, requests are written and not begun."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workflows, "enqueue", _nothing)
        yield


async def _nothing(*_: Any, **__: Any) -> None:
    return None


async def run(body: Any, on_failure: Any, organization: UUID, request_id: str) -> None:
    """Run a request's workflow to its end, as the engine does: with its patience for a chain that does not answer."""
    with rpc.patience(workflows.PATIENCE):
        await workflows._run(body, on_failure, organization, UUID(request_id))


async def killed(body: Any, organization: UUID, request_id: str, moment: int) -> bool:
    """Run a workflow and kill it before (1) or after (2) its first new transaction; False where it ended.

    Of several at once, the first to come there counts: what is killed after one has got further by one.
    """

    async def execute(intent: Any, **options: Any) -> Any:
        is_new = await transactions.find(intent.key) is None
        _die(is_new and moment == 1)
        outcome = await transactions.execute(intent, **options)
        _die(is_new and moment == 2)
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "execute", execute)
        patch.setattr(relayer, "execute", execute)
        patch.setattr(sweep, "once", _nothing)  # it would end a request that no worker has
        try:
            await run(body, None, organization, request_id)
        except asyncio.CancelledError:
            return True
    return False


def _die(now: bool) -> None:
    if now:
        raise asyncio.CancelledError


async def sent(organization: UUID) -> list[str]:
    """Labels of every transaction that was stored for an organization."""
    query = sa.select(TransactionRow.label).where(TransactionRow.organization_id == organization)
    async with db.worker() as session:
        return sorted(await session.scalars(query))


async def sent_by(signer: str, eid: int) -> int:
    """How many transactions of a signer were stored for a chain."""
    query = sa.select(sa.func.count()).where(TransactionRow.signer == signer, TransactionRow.chain_eid == eid)
    async with db.worker() as session:
        return int(await session.scalar(query) or 0)
