"""Limit how many requests and transactions of a tenant the operator pays for on public chains."""

from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from limits import RateLimitItem

from backend import db
from backend.auth import rate_limit
from backend.db import Write

NEW = timedelta(days=30)
"""How long a root organization is new."""
_Counted = tuple[RateLimitItem, tuple[str, str], int]
"""A limit, who it is counted for, and how much."""


async def count(session: Write, organization_id: UUID, transactions: int) -> None:
    """Count a request and the transactions for which the operator signs and pays; nothing where there are none. Raises
    TooManyRequests, and counts nothing, where an organization or its whole hierarchy would exceed its share of the
    day."""
    root = await _root(session, organization_id)
    requests: list[_Counted] = [
        (rate_limit.OPERATOR_PAID, ("operator paid", str(organization_id)), 1),
        (rate_limit.OPERATOR_PAID_IN_ALL, ("operator paid below", root), 1),
    ]
    await _spend([*requests, *_of(organization_id, root, transactions)], transactions)


async def count_more(session: Write, organization_id: UUID, transactions: int) -> None:
    """Count transactions that a request needs beyond those that were counted when it was accepted."""
    await _spend(_of(organization_id, await _root(session, organization_id), transactions), transactions)


def _of(organization_id: UUID, root: str, transactions: int) -> list[_Counted]:
    counted: list[_Counted] = [
        (rate_limit.OPERATOR_PAID_TRANSACTIONS, ("operator pays", str(organization_id)), transactions),
        (rate_limit.OPERATOR_PAID_TRANSACTIONS_IN_ALL, ("operator pays below", root), transactions),
    ]
    if db.now() - db.made_at(UUID(root)) < NEW:
        counted.append((rate_limit.OPERATOR_PAID_TRANSACTIONS_OF_NEW, ("operator pays", "new roots"), transactions))
    return counted


async def _root(session: Write, organization_id: UUID) -> str:
    text = sa.text("select id from signum_path(:id) order by height desc limit 1")
    return str(await session.scalar(text, {"id": organization_id}))


async def _spend(counted: list[_Counted], transactions: int) -> None:
    """All or nothing."""
    if transactions <= 0:
        return
    for ask in (rate_limit.check, rate_limit.hit):
        for limit, names, cost in counted:
            await ask(limit, *names, cost=cost)
