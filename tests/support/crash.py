"""Accepted requests that the engine does not run, so that a test can run, kill and resume their workflows."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from backend.assets import transaction_step
from backend.chain.layerzero import relayer
from backend.chain.rpc import json_rpc
from backend.chain.transactions import execution
from backend.core import db
from backend.models import TransactionRow
from backend.requests import groups, workflows
from backend.server import sweep


@contextmanager
def unqueued() -> Iterator[None]:
    """Inside, requests are written but not started."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workflows, "enqueue", _nothing)
        patch.setattr(groups, "_enqueue", _nothing)
        yield


async def _nothing(*_: Any, **__: Any) -> None:
    return None


async def run(body: Any, on_failure: Any, organization: UUID, request_id: str) -> None:
    """Run a request's workflow to its end, as the engine does, with its timeout for a chain that does not respond."""
    with json_rpc.patience(workflows.PATIENCE):
        await workflows._run(body, on_failure, organization, UUID(request_id))


async def killed(body: Any, organization: UUID, request_id: str, moment: int) -> bool:
    """Run a workflow and kill it before (1) or after (2) its first new transaction; return False if it finished.

    Of several concurrent transactions the first counts. A kill after a transaction leaves one more than before.
    """

    async def execute(intent: Any, **options: Any) -> Any:
        is_new = await execution.find(intent.key) is None
        _die(is_new and moment == 1)
        outcome = await execution.execute(intent, **options)
        _die(is_new and moment == 2)
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transaction_step, "execute", execute)
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
    """Return labels of every transaction that was stored for an organization."""
    query = sa.select(TransactionRow.label).where(TransactionRow.organization_id == organization)
    async with db.worker() as session:
        return sorted(await session.scalars(query))


async def sent_by(signer: str, eid: int) -> int:
    """Return how many transactions of a signer were stored for a chain."""
    query = sa.select(sa.func.count()).where(TransactionRow.signer == signer, TransactionRow.chain_eid == eid)
    async with db.worker() as session:
        return int(await session.scalar(query) or 0)
