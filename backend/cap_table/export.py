"""The cap table as PDF. Who exported which numbers is in the audit log, with the hash of the file."""

import hashlib
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import records
from backend.auth.principal import Context
from backend.cap_table import report, service
from backend.cap_table.schemas import CapTable
from backend.cap_table.service import Question
from backend.core import db, threads
from backend.core.changes import publish
from backend.core.threads import Work
from backend.organizations.models import OrganizationRow
from backend.pdf import drawing

MOST = 2_000
"""Holders of a PDF; of more, it has the largest."""


async def as_pdf(context: Context, asset_id: UUID, asked: Question) -> tuple[bytes, str]:
    """Return the cap table at a time as PDF, and the name of the file. The same blocks, names and time give the same
    bytes."""
    table = await service.read(context, asset_id, asked, service.LIST.whole(None, MOST))
    asset = await records.asset(context.session, context.organization_id, asset_id)
    name = sa.select(col(OrganizationRow.name)).where(col(OrganizationRow.id) == context.organization_id)
    made = report.report(table, asset.name, str(await context.session.scalar(name)))
    async with db.paused(context.session), threads.turn(Work.REPORTS):
        content = await threads.run(Work.REPORTS, drawing.draw, made)
    subject = ("asset", asset_id)
    facts = exported(table, hashlib.sha256(content).hexdigest())
    await publish(context.session, context.organization_id, "asset.cap_table_exported", subject, None, facts)
    return content, f"cap-table-{table.symbol}-{table.as_of:%Y-%m-%d}.pdf"


def exported(table: CapTable, sha256: str) -> dict[str, Any]:
    """Return what the audit log keeps of an export."""
    shown = table.model_dump(mode="json", include={"as_of", "compare_with", "total", "symbol"})
    blocks = [{"chain_eid": chain.chain_eid, "block": chain.block} for chain in table.chains]
    return shown | {"blocks": blocks, "holders": len(table.holders), "sha256": sha256}
