"""What the assets' tokens say on their chains: transfers, whose sum is the cap table, the rules they took, whether they
are paused, and which markets may settle."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend import db
from backend.assets.models import DeploymentRow, RuleSetRow
from backend.chain.models import TokenTransferRow
from backend.chain.outcome import Log
from backend.chain.rule_sets import TokenRules


class Transfers:
    """The stream of `Transfer`, `RulesSet`, `Paused`, `Unpaused` and `VenueSet` events of every deployed token."""

    name = "transfers"

    async def contracts(self, session: db.Write, eid: int) -> dict[str, int | None]:
        """Every token on the chain."""
        found = sa.select(col(DeploymentRow.token_address), col(DeploymentRow.block_number)).where(
            col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.token_address).is_not(None)
        )
        return {str(at): created for at, created in await session.execute(found)}

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> None:
        """Insert transfers and rules, of which what is there already is left alone; set the state of each token."""
        found = sa.select(DeploymentRow).where(
            col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.token_address).in_({log.address for log in logs})
        )
        owners = {row.token_address: row for row in (await session.execute(found)).scalars()}
        rows = [row for log in logs if (row := _row(eid, log, owners.get(log.address))) is not None]
        for kind in (TokenTransferRow, RuleSetRow):
            if values := [row.model_dump() for row in rows if isinstance(row, kind)]:
                await session.execute(insert(kind).values(values).on_conflict_do_nothing())
        for log in logs:
            if log.address in owners:
                _note_state(owners[log.address], log)
        await session.flush()

    async def rewind(self, session: db.Write, eid: int, block: int) -> set[str]:
        """Forget what was said above a block; a token whose state was, is read again from its beginning."""
        for kind in (TokenTransferRow, RuleSetRow):
            gone = (col(kind.chain_eid) == eid, col(kind.block_number) > block)
            await session.execute(sa.delete(kind).where(*gone))
        changed = (col(DeploymentRow.chain_eid) == eid, col(DeploymentRow.state_block) > block)
        reset = sa.update(DeploymentRow).where(*changed).values(paused=False, venues=[], state_block=None)
        return set(await session.scalars(reset.returning(col(DeploymentRow.token_address))))


def _note_state(row: DeploymentRow, log: Log) -> None:
    name, values = log.decoded() or ("", {})
    if name in ("Paused", "Unpaused"):
        row.paused = name == "Paused"
    elif name == "VenueSet":
        others = [venue for venue in row.venues if venue != values["venue"]]
        row.venues = [*others, values["venue"]] if values["allowed"] else others
    else:
        return
    row.state_block = log.block_number


def _row(eid: int, log: Log, owner: DeploymentRow | None) -> TokenTransferRow | RuleSetRow | None:
    decoded = log.decoded()
    if owner is None or decoded is None or decoded[0] not in ("Transfer", "RulesSet"):
        return None
    name, values = decoded
    place: dict[str, Any] = {
        "organization_id": owner.organization_id,
        "asset_id": owner.asset_id,
        "chain_eid": eid,
        "tx_hash": log.tx_hash,
        "log_index": log.log_index,
        "block_number": log.block_number,
    }
    if name == "RulesSet":
        return RuleSetRow(version=values["version"], rules=TokenRules.of_abi(values["rules"]).as_dict(), **place)
    return TokenTransferRow(from_address=values["from"], to_address=values["to"], amount=values["value"], **place)
