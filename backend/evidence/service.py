"""The evidence of an asset: what goes in, what is left out and why, and the manifest that all of it is checked by."""

import re
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from backend.assets import holders_at, records
from backend.assets.holders_at import Moment
from backend.auth.principal import Context
from backend.db import now
from backend.errors import SignumError
from backend.evidence import sections
from backend.evidence.archive import Archive

ABOUT = """Evidence of {name} ({symbol}), made by Signum at {at}.

asset.json          the asset's record
rules.json          the rules that were asked for, and those that each token has in force, read from its chain
rules-history.json  every set of rules that the tokens took, with block and transaction
holders-*.csv       who held how much on a chain (its endpoint id) at a block, as the token itself says; base units
attestations.json   attestations of whoever has received the asset: uid, transaction, `proof` as the registry says now
audit.json          who changed the asset, when and what; `GET …/audit/verify` proves that the log they are of is whole
manifest.json       the SHA-256 hash of every file, and what was left out

To check that nothing was changed, in the folder this was unpacked to:

    sha256sum --check SHA256SUMS        (on macOS: shasum -a 256 --check SHA256SUMS)
"""


@dataclass(frozen=True)
class Evidence:
    """What is about to be written."""

    context: Context
    asset_id: UUID
    name: str
    symbol: str
    made_at: datetime
    moments: list[Moment]
    silent: dict[int, str]
    """Chains that did not answer, and their words."""

    @property
    def file_name(self) -> str:
        """Such as `HBR-evidence-2026-11-20.zip`."""
        return f"{re.sub('[^A-Za-z0-9]', '_', self.symbol)}-evidence-{self.made_at:%Y-%m-%d}.zip"


async def prepare(context: Context, asset_id: UUID, block: int | None, chain_eid: int | None) -> Evidence:
    """Look up asset and blocks. With `block` or `chain_eid` the holders of that chain only, else those of each of its
    chains at the newest block that is final; a chain that does not answer is left out, and the manifest says so."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    moments, silent = [], dict[int, str]()
    if block is not None or chain_eid is not None:
        moments = [await holders_at.place(context, asset_id, block, chain_eid)]
    else:
        for row in records.active(await records.deployments(context.session, asset_id)):
            try:
                moments.append(await holders_at.place(context, asset_id, None, row.chain_eid))
            except SignumError as error:
                silent[row.chain_eid] = error.detail
    return Evidence(context, asset_id, asset.name, asset.symbol, now(), moments, silent)


async def stream(evidence: Evidence) -> AsyncIterator[bytes]:
    """The archive. What is read while it is written is as true as the moment it is read at."""
    archive, left_out = Archive(evidence.made_at), _silent(evidence)
    async for data in archive.add("README.txt", _one(_about(evidence))):
        yield data
    for section in sections.of(evidence.context, evidence.asset_id, evidence.moments):
        if section.needs not in evidence.context.scopes:
            left_out.append({"path": section.path, "reason": f"It takes the scope {section.needs}."})
            continue
        async for data in archive.add(section.path, section.pieces()):
            yield data
    async for data in archive.add("manifest.json", _one(_manifest(evidence, archive, left_out))):
        yield data
    sums = "".join(f"{file.sha256}  {file.path}\n" for file in archive.files)
    async for data in archive.add("SHA256SUMS", _one(sums)):
        yield data
    yield archive.end()


def _silent(evidence: Evidence) -> list[dict[str, Any]]:
    return [{"path": f"holders-{eid}.csv", "reason": words} for eid, words in evidence.silent.items()]


def _about(evidence: Evidence) -> str:
    return ABOUT.format(name=evidence.name, symbol=evidence.symbol, at=evidence.made_at.isoformat(timespec="seconds"))


def _manifest(evidence: Evidence, archive: Archive, left_out: list[dict[str, Any]]) -> str:
    told = {
        "asset_id": evidence.asset_id,
        "organization_id": evidence.context.organization_id,
        "made_at": evidence.made_at,
        "made_by": evidence.context.user_id,
        "blocks": [{"chain_eid": m.eid, "token_address": m.token, "block": m.block} for m in evidence.moments],
        "files": [asdict(file) for file in archive.files],
        "left_out": left_out,
    }
    return orjson.dumps(told, option=orjson.OPT_INDENT_2).decode() + "\n"


async def _one(text: str) -> AsyncIterator[str]:
    yield text
