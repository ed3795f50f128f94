"""A pack as it arrives: a zip archive from anyone, opened in memory with bounds. Nothing of it is written to disk."""

import csv
import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from backend.assets.schemas import Asset, Holder, RuleSet
from backend.attestations.schemas import AttestationDetail
from backend.audit.schemas import AuditEntry
from backend.core.errors import BadRequest
from backend.evidence import rules
from backend.evidence.schemas import ChainState, EvidenceFile, Manifest

T = TypeVar("T")
MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
PIECE = 65_536


class Unreadable(Exception):
    """A file of a pack is missing or is not what a pack has under its name; the message says which."""


@dataclass(frozen=True)
class Pack:
    """A pack. `files` are the bytes of every file, `sha256` and `size` those of the archive."""

    manifest: Manifest
    files: dict[str, bytes]
    sha256: str
    size: int
    _parsed: dict[str, Any] = field(default_factory=dict)

    def described(self) -> list[EvidenceFile]:
        """Return the files with their hashes and those that the pack states."""
        stated = self._stated()
        found = []
        for path, data in self.files.items():
            if path != SUMS:
                own = hashlib.sha256(data).hexdigest()
                one = next((digest for digest in stated.get(path, ()) if digest != own), own)
                known = one if path in stated else None
                found.append(EvidenceFile(path=path, size=len(data), sha256=own, stated_sha256=known))
        return found

    def missing(self) -> list[str]:
        """Return the files that the pack names and does not have."""
        return sorted(self._stated().keys() - self.files.keys())

    def _stated(self) -> dict[str, list[str]]:
        """Return the hashes that the manifest and `SHA256SUMS` state for each file. Both should state the same."""
        found: dict[str, list[str]] = {}
        for file in self.manifest.files:
            found.setdefault(file.path, []).append(file.sha256)
        for line in self.files.get(SUMS, b"").decode("utf-8", "replace").splitlines()[: 2 * rules.MOST_FILES]:
            digest, _, path = line.partition("  ")
            if path:
                found.setdefault(path[:200], []).append(digest[:64])
        return found

    def asset(self) -> Asset:
        """Return the asset's record. Raises Unreadable, as the other readers do."""
        return self._read("asset.json", TypeAdapter(Asset))

    def chains(self) -> list[ChainState]:
        """Return the state of each token."""
        return self._read("chains.json", TypeAdapter(list[ChainState]))

    def rules(self) -> dict[str, Any]:
        """Return the rules: `asked_for`, and `chains` with each token's `in_force`."""
        return self._read("rules.json", TypeAdapter(dict[str, Any]))

    def history(self) -> list[RuleSet]:
        """Return the rules' history, newest first."""
        return self._read("rules-history.json", TypeAdapter(list[RuleSet]))

    def attestations(self) -> list[AttestationDetail]:
        """Return the attestations."""
        return self._read("attestations.json", TypeAdapter(list[AttestationDetail]))

    def audit(self) -> list[AuditEntry]:
        """Return the audit entries, newest first."""
        return self._read("audit.json", TypeAdapter(list[AuditEntry]))

    def holders(self, eid: int, block: int) -> list[Holder]:
        """Return the holders on a chain."""
        path = f"holders-{eid}-{block}.csv"
        if path not in self._parsed:
            text = self._data(path).decode("utf-8", "replace")
            try:
                records = [
                    {name: cell or None for name, cell in row.items()} for row in csv.DictReader(io.StringIO(text))
                ]
                self._parsed[path] = TypeAdapter(list[Holder]).validate_python(records)
            except (ValidationError, csv.Error, AttributeError) as error:
                raise Unreadable(f"{path} is not the list of holders that a pack has.") from error
        found: list[Holder] = self._parsed[path]
        return found

    def _read(self, path: str, adapter: TypeAdapter[T]) -> T:
        if path not in self._parsed:
            try:
                self._parsed[path] = adapter.validate_json(self._data(path))
            except ValidationError as error:
                raise Unreadable(f"{path} does not have the content that a pack has.") from error
        found: T = self._parsed[path]
        return found

    def _data(self, path: str) -> bytes:
        if path not in self.files:
            omitted = next((one.reason for one in self.manifest.omitted if one.path == path), None)
            raise Unreadable(f"The pack does not have {path}. {omitted or ''}".strip())
        return self.files[path]


def opened(file: BinaryIO, organization_id: UUID, asset_id: UUID) -> Pack:
    """Return the pack in an archive. Raises 400 if it is not a pack, or is one of another asset, and 413 if it unpacks
    to more than a pack may have."""
    digest, size = hashlib.sha256(), 0
    file.seek(0)
    while piece := file.read(PIECE):
        digest.update(piece)
        size += len(piece)
    files = _unpacked(file)
    if MANIFEST not in files:
        raise BadRequest(f"{rules.NOT_A_PACK}: it has no {MANIFEST}.")
    try:
        manifest = Manifest.model_validate_json(files[MANIFEST])
    except ValidationError as error:
        raise BadRequest(f"{rules.NOT_A_PACK}: its {MANIFEST} does not have the fields of one.") from error
    if (manifest.organization_id, manifest.asset_id) != (organization_id, asset_id):
        raise BadRequest("The pack is about another asset. Open it on the page of that asset.")
    return Pack(manifest, files, digest.hexdigest(), size)


def _unpacked(file: BinaryIO) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            rules.check_entries((entry.filename, entry.file_size) for entry in entries)
            return {entry.filename: _content(archive, entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise BadRequest(f"{rules.NOT_A_PACK}: it is not a zip archive, or it is damaged.") from error


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the bytes of an entry: never more than its directory announces, which was checked."""
    if entry.flag_bits & 1 or entry.compress_type not in PLAIN:
        raise BadRequest(f"{rules.NOT_A_PACK}: {entry.filename} is encrypted or packed in an unusual way.")
    with archive.open(entry) as content:
        data = content.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise zipfile.BadZipFile(entry.filename)
    return data
