"""Limits on the requests and transactions of a tenant that the operator signs and pays for."""

from uuid import UUID

from limits import RateLimitItem

from backend.core.db import Write, is_rehearsal
from backend.core.roots import origin_of, root_of
from backend.limits import rate_limits

_Counted = tuple[RateLimitItem, tuple[str, str], int]
"""A limit, the name it is counted under, and the cost."""


async def count(session: Write, organization_id: UUID, transactions: int) -> None:
    """Count a request and the transactions that the operator signs and pays for; nothing if `transactions` is 0, or in
    a rehearsal.

    Raises TooManyRequests, and counts nothing, where an organization, its whole hierarchy, or the new hierarchies of an
    origin would exceed their daily share.
    """
    if is_rehearsal(session):
        return
    root = str(await root_of(session, organization_id))
    requests: list[_Counted] = [
        (rate_limits.OPERATOR_PAID, ("operator paid", str(organization_id)), 1),
        (rate_limits.OPERATOR_PAID_IN_ALL, ("operator paid below", root), 1),
    ]
    counted = await _of(session, organization_id, root, transactions)
    await _spend([*requests, *counted], transactions)


async def count_more(session: Write, organization_id: UUID, transactions: int) -> None:
    """Count transactions that a request needs in addition to those counted when it was accepted."""
    root = str(await root_of(session, organization_id))
    await _spend(await _of(session, organization_id, root, transactions), transactions)


async def _of(session: Write, organization_id: UUID, root: str, transactions: int) -> list[_Counted]:
    """Return the limits of a number of transactions. New hierarchies also count for their origin, and all together."""
    counted: list[_Counted] = [
        (rate_limits.OPERATOR_PAID_TRANSACTIONS, ("operator pays", str(organization_id)), transactions),
        (rate_limits.OPERATOR_PAID_TRANSACTIONS_IN_ALL, ("operator pays below", root), transactions),
    ]
    if origin := await origin_of(session, organization_id):
        of_one, of_all = ("operator pays origin", str(origin)), ("operator pays", "new roots")
        counted.append((rate_limits.OPERATOR_PAID_TRANSACTIONS_OF_ORIGIN, of_one, transactions))
        counted.append((rate_limits.OPERATOR_PAID_TRANSACTIONS_OF_NEW, of_all, transactions))
    return counted


async def _spend(counted: list[_Counted], transactions: int) -> None:
    """Count all, or none where a limit would be exceeded."""
    if transactions <= 0:
        return
    for ask in (rate_limits.check, rate_limits.hit):
        for limit, names, cost in counted:
            await ask(limit, *names, cost=cost)
