"""Transfers of the assets' tokens, as their chains tell them. The cap table is their sum."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend import db
from backend.assets.models import DeploymentRow
from backend.chain.models import TokenTransferRow
from backend.chain.outcome import Log


class Transfers:
    """The stream of `Transfer` events of every deployed token."""

    name = "transfers"

    async def contracts(self, session: db.Write, eid: int) -> dict[str, int | None]:
        """Every token on the chain."""
        found = sa.select(DeploymentRow).where(
            col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.token_address).is_not(None)
        )
        return {str(row.token_address): row.block_number for row in (await session.execute(found)).scalars()}

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> None:
        """Insert the transfers; one that is there already is left alone."""
        found = sa.select(DeploymentRow).where(
            col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.token_address).in_({log.address for log in logs})
        )
        owners = {row.token_address: row for row in (await session.execute(found)).scalars()}
        rows = [row for log in logs if (row := _row(eid, log, owners.get(log.address))) is not None]
        if rows:
            await session.execute(insert(TokenTransferRow).values(rows).on_conflict_do_nothing())

    async def rewind(self, session: db.Write, eid: int, block: int) -> set[str]:
        """Forget the transfers above a block."""
        gone = (col(TokenTransferRow.chain_eid) == eid, col(TokenTransferRow.block_number) > block)
        await session.execute(sa.delete(TokenTransferRow).where(*gone))
        return set()


def _row(eid: int, log: Log, owner: DeploymentRow | None) -> dict[str, Any] | None:
    decoded = log.decoded()
    if owner is None or decoded is None or decoded[0] != "Transfer":
        return None
    values = decoded[1]
    row = TokenTransferRow(
        organization_id=owner.organization_id,
        asset_id=owner.asset_id,
        chain_eid=eid,
        from_address=values["from"],
        to_address=values["to"],
        amount=values["value"],
        tx_hash=log.tx_hash,
        log_index=log.log_index,
        block_number=log.block_number,
    )
    return row.model_dump()
