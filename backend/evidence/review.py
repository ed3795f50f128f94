"""A pack that someone sends: its contents, its verification, and both as PDF. Packs are not kept."""

import hashlib
from typing import Any, BinaryIO
from uuid import UUID

from backend.assets import records
from backend.auth.principal import Context
from backend.core import db, threads
from backend.core.changes import publish
from backend.core.threads import Work
from backend.evidence import contents, pack, report, verification
from backend.evidence.pack import Pack
from backend.evidence.schemas import EvidenceContents, EvidenceVerification
from backend.pdf import drawing

SHOWN, PRINTED = 200, 2_000
"""Records of a section that a response and a PDF have."""
REPORTED = "asset.evidence_reported"


async def read(context: Context, asset_id: UUID, file: BinaryIO) -> EvidenceContents:
    """Return the contents of a pack."""
    found = await _opened(context, asset_id, file)
    async with db.paused(context.session):
        return await threads.run(Work.FILES, contents.contents, found, SHOWN)


async def verify(context: Context, asset_id: UUID, file: BinaryIO) -> EvidenceVerification:
    """Return the checks of a pack."""
    return await verification.verified(context, asset_id, await _opened(context, asset_id, file))


async def as_pdf(context: Context, asset_id: UUID, file: BinaryIO) -> tuple[bytes, str]:
    """Return a pack with its verification as PDF, and the name of the file."""
    found = await _opened(context, asset_id, file)
    checked = await verification.verified(context, asset_id, found)
    async with db.paused(context.session), threads.turn(Work.REPORTS):
        said = await threads.run(Work.REPORTS, contents.contents, found, PRINTED)
        content = await threads.run(Work.REPORTS, drawing.draw, report.report(said, checked))
    facts = _facts(checked, hashlib.sha256(content).hexdigest())
    await publish(context.session, context.organization_id, REPORTED, ("asset", asset_id), None, facts)
    return content, f"evidence-{''.join(filter(str.isalnum, said.symbol))}-{said.made_at:%Y-%m-%d}.pdf"


def _facts(checked: EvidenceVerification, sha256: str) -> dict[str, Any]:
    """Return what the audit log keeps of a PDF: its hash, the hash of the pack, and how the verification ended."""
    counts = checked.model_dump(mode="json", include={"result", "ok", "differs", "unchecked"})
    return counts | {"pack_sha256": checked.sha256, "sha256": sha256}


async def _opened(context: Context, asset_id: UUID, file: BinaryIO) -> Pack:
    """Return the pack in a file; 404 if the organization does not have the asset."""
    await records.asset(context.session, context.organization_id, asset_id)
    async with db.paused(context.session):
        return await threads.run(Work.FILES, pack.opened, file, context.organization_id, asset_id)
