"""The evidence of an asset: its files, what is omitted and why, and the manifest that verifies them."""

import re
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa

from backend.assets import holders_at, records
from backend.assets.holders_at import Moment
from backend.auth.principal import Context
from backend.core import db
from backend.core.changes import acting, publish
from backend.core.db import now
from backend.core.errors import SignumError
from backend.evidence import sections, token_states
from backend.evidence.archive import Archive
from backend.evidence.verification import EXPORTED

ABOUT = """Evidence of {name} ({symbol}), made by Signum at {at}.

asset.json          the asset's record
chains.json         each token at its block, as read from its chain: supply in base units, version and hash of its rules
rules.json          the rules that the organization requested, and each token's rules at its block; the hash in
                    chains.json is the SHA-256 of `in_force` as JSON with sorted names and without white space
rules-history.json  every set of rules that the tokens took, with block and transaction
holders-*.csv       holders on a chain (its endpoint ID) at a block, as read from the token; base units
attestations.json   attestations of accounts that received the asset: uid, transaction, `proof` from the registry
audit.json          changes of the asset with actor and time; `GET …/audit/verify` proves that the audit log is complete
manifest.json       the SHA-256 hash of every file, and the omitted files

To verify that nothing was changed, run this in the unpacked folder:

    sha256sum --check SHA256SUMS        (on macOS: shasum -a 256 --check SHA256SUMS)

The page "Evidence" of the asset in Signum compares every file, and what the files say about the chains, with the
chains themselves.
"""
_NAMES = sa.text("""
  select o.name as organization, (select coalesce(u.display_name, u.email) from users u where u.id = :person) as person
  from organizations o where o.id = :org
""")


@dataclass(frozen=True)
class Evidence:
    """An evidence archive to write."""

    context: Context
    asset_id: UUID
    name: str
    symbol: str
    organization: str
    made_by: str | None
    made_at: datetime
    moments: list[Moment]
    silent: dict[int, str]
    """Chains that did not answer, and their errors."""

    @property
    def file_name(self) -> str:
        """For example `HBR-evidence-2026-11-20.zip`."""
        return f"{re.sub('[^A-Za-z0-9]', '_', self.symbol)}-evidence-{self.made_at:%Y-%m-%d}.zip"


async def prepare(context: Context, asset_id: UUID, block: int | None, chain_eid: int | None) -> Evidence:
    """Look up asset and blocks. With `block` or `chain_eid`, only the holders of that chain; otherwise those of each
    chain at its newest final block. A chain that does not answer is omitted, and the manifest says so. 503 if the node
    does not keep the state of the requested block."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    moments, silent = [], dict[int, str]()
    if block is not None or chain_eid is not None:
        moment = await holders_at.place(context, asset_id, block, chain_eid)
        async with db.paused(context.session):  # an archive that has begun cannot answer with an error
            await token_states.read(moment.eid, moment.token, moment.block)
        moments = [moment]
    else:
        for row in records.active(await records.deployments(context.session, asset_id)):
            try:
                moments.append(await holders_at.place(context, asset_id, None, row.chain_eid))
            except SignumError as error:
                silent[row.chain_eid] = error.detail
    organization, made_by = await _names(context)
    return Evidence(context, asset_id, asset.name, asset.symbol, organization, made_by, now(), moments, silent)


async def _names(context: Context) -> tuple[str, str | None]:
    """Return the names of the organization and of the person who makes the pack."""
    found = (await context.session.execute(_NAMES, {"org": context.organization_id, "person": context.user_id})).one()
    return found.organization, found.person


async def stream(evidence: Evidence) -> AsyncIterator[bytes]:
    """Stream the archive. Each file reflects the state at the time it is read."""
    archive, omitted = Archive(evidence.made_at), _silent(evidence)
    async for data in archive.add("README.txt", _one(_about(evidence))):
        yield data
    for section in sections.of(evidence.context, evidence.asset_id, evidence.moments):
        if section.needs not in evidence.context.scopes:
            omitted.append({"path": section.path, "reason": f"Requires the scope {section.needs}."})
            continue
        async for data in archive.add(section.path, section.pieces()):
            yield data
    async for data in archive.add("manifest.json", _one(_manifest(evidence, archive, omitted))):
        yield data
    await _note(evidence, archive)
    sums = "".join(f"{file.sha256}  {file.path}\n" for file in archive.files)
    async for data in archive.add("SHA256SUMS", _one(sums)):
        yield data
    yield archive.end()


async def _note(evidence: Evidence, archive: Archive) -> None:
    """Write the export to the audit log. The hash of the manifest covers every file, so that a pack whose files were
    changed together with its hashes is found out."""
    facts = {
        "sha256": archive.files[-1].sha256,
        "files": len(archive.files),
        "blocks": [{"chain_eid": moment.eid, "block": moment.block} for moment in evidence.moments],
    }
    async with evidence.context.in_new_transaction() as now:
        with acting(now.who):
            subject = ("asset", evidence.asset_id)
            await publish(now.session, now.organization_id, EXPORTED, subject, None, facts)


def _silent(evidence: Evidence) -> list[dict[str, Any]]:
    return [{"path": f"holders-{eid}.csv", "reason": words} for eid, words in evidence.silent.items()]


def _about(evidence: Evidence) -> str:
    return ABOUT.format(name=evidence.name, symbol=evidence.symbol, at=evidence.made_at.isoformat(timespec="seconds"))


def _manifest(evidence: Evidence, archive: Archive, omitted: list[dict[str, Any]]) -> str:
    response = {
        "asset_id": evidence.asset_id,
        "organization_id": evidence.context.organization_id,
        "made_at": evidence.made_at,
        "organization_name": evidence.organization,
        "asset_name": evidence.name,
        "asset_symbol": evidence.symbol,
        "made_by": evidence.context.user_id,
        "made_by_name": evidence.made_by,
        "blocks": [{"chain_eid": m.eid, "token_address": m.token, "block": m.block} for m in evidence.moments],
        "files": [asdict(file) for file in archive.files],
        "left_out": omitted,
    }
    return orjson.dumps(response, option=orjson.OPT_INDENT_2).decode() + "\n"


async def _one(text: str) -> AsyncIterator[str]:
    yield text
