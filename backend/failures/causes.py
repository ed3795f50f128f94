"""Whether the cause of a request's failure is still there, as its chain says now."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.assets import records
from backend.assets.transfer_check import Read
from backend.chain.bindings import market, token
from backend.chain.errors import RpcError
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.core.errors import SignumError
from backend.failures.service import asset_id_of
from backend.markets.models import MarketRow, OrderRow
from backend.requests.schemas import Request, StepStatus

NEEDED: Final[Mapping[str, frozenset[str]]] = {
    "EnforcedPause": frozenset(),
    "TransferRestricted": frozenset({"from", "to", "amount"}),
    "PathPaused": frozenset({"eid"}),
    "MarketRestricted": frozenset({"account", "amount"}),
}
"""The refusals that a read can repeat, with the arguments that it takes."""
PATIENCE = 2.0
"""Seconds that a chain has to say whether it would still refuse."""


async def is_gone(session: AsyncSession, request: Request) -> bool:
    """Return whether a contract no longer refuses what it refused; False where no chain can say so."""
    refusal, eid = (request.problem or {}).get("revert"), _failed_on(request)
    subject = request.subject
    asset_id = await asset_id_of(session, subject.type, subject.id, subject.asset_id)
    if not refusal or eid is None or asset_id is None:
        return False
    rows = await records.deployments(session, asset_id)
    # also a token whose own deployment ended with a refused packet
    at = next((row.token_address for row in rows if row.chain_eid == eid), None)
    read = await _asked(session, at, refusal, request) if at else None
    if read is None:
        return False
    try:
        async with db.paused(session), asyncio.timeout(PATIENCE):
            (answer,) = await (await connect(eid)).read_many([read])
    except (SignumError, RpcError, TimeoutError):
        return False
    return _allows(answer, refusal)


def _failed_on(request: Request) -> int | None:
    return next((step.chain_eid for step in request.steps if step.status is StepStatus.FAILED), None)


async def _asked(session: AsyncSession, at: str, refusal: Mapping[str, Any], request: Request) -> Read | None:
    """Return the read that says whether a refusal would happen again; None where no read does."""
    given = refusal["arguments"]
    needed = NEEDED.get(refusal["error"])
    if needed is None or not given.keys() >= needed or ("amount" in needed and refusal["code"] is None):
        return None  # a node may know less of a refusal than its contract says
    if refusal["error"] == "EnforcedPause":
        return token.NAME, at, "paused"
    if refusal["error"] == "TransferRestricted":
        return token.transfer_codes(at, given["from"], given["to"], int(given["amount"]))
    if refusal["error"] == "PathPaused":
        return token.NAME, at, "pathOf", int(given["eid"])
    return await _order(session, request, given["account"], int(given["amount"]))


async def _order(session: AsyncSession, request: Request, account: str, amount: int) -> Read | None:
    query = sa.select(col(MarketRow.market_address), col(OrderRow.side)).join(
        MarketRow, col(MarketRow.id) == col(OrderRow.market_id)
    )
    row = (await session.execute(query.where(col(OrderRow.id) == request.subject.id))).one_or_none()
    return market.order_codes(row.market_address, account, row.side, amount) if row else None


def _allows(answer: Any, refusal: Mapping[str, Any]) -> bool:
    """Return whether an answer lacks the rule that refused: a pause, the state of a path, or a list of codes."""
    if refusal["error"] in ("EnforcedPause", "PathPaused"):
        is_paused = answer if isinstance(answer, bool) else answer[0]
        return not is_paused
    return refusal["code"] not in answer
