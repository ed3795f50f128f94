"""Transfers of the assets' tokens, as their chains tell them. The cap table is their sum."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from backend import db
from backend.assets.models import DeploymentRow
from backend.chain.models import TokenTransferRow
from backend.chain.outcome import Log


class Transfers:
    """The stream of `Transfer` events of every deployed token."""

    name = "transfers"

    async def contracts(self, session: db.Write, eid: int) -> dict[str, int | None]:
        """Every token on the chain."""
        found = sa.select(DeploymentRow.token_address, DeploymentRow.block_number).where(
            DeploymentRow.chain_eid == eid, DeploymentRow.token_address.is_not(None)  # type: ignore[union-attr]
        )
        return {address: block for address, block in await session.execute(found)}

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> None:
        """Insert the transfers; one that is there already is left alone."""
        found = sa.select(DeploymentRow.token_address, DeploymentRow.asset_id, DeploymentRow.organization_id).where(
            DeploymentRow.chain_eid == eid, DeploymentRow.token_address.in_({log.address for log in logs})  # type: ignore[union-attr]
        )
        owners = {address: ids for address, *ids in await session.execute(found)}
        rows = [row for log in logs if (row := _row(eid, log, owners.get(log.address))) is not None]
        if rows:
            await session.execute(insert(TokenTransferRow).values(rows).on_conflict_do_nothing())

    async def rewind(self, session: db.Write, eid: int, block: int) -> set[str]:
        """Forget the transfers above a block."""
        gone = (TokenTransferRow.chain_eid == eid, TokenTransferRow.block_number > block)
        await session.execute(sa.delete(TokenTransferRow).where(*gone))
        return set()


def _row(eid: int, log: Log, owner: Sequence[Any] | None) -> dict[str, Any] | None:
    decoded = log.decoded()
    if owner is None or decoded is None or decoded[0] != "Transfer":
        return None
    values = decoded[1]
    asset_id, organization_id = owner
    row = TokenTransferRow(
        organization_id=organization_id, asset_id=asset_id, chain_eid=eid, from_address=values["from"],
        to_address=values["to"], amount=values["value"], tx_hash=log.tx_hash, log_index=log.log_index,
        block_number=log.block_number,
    )
    return row.model_dump()
