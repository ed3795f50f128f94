"""Decisions about a pack: which archives are read, how rules are hashed, and how a verification ends."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from backend.core.errors import BadRequest, PayloadTooLarge
from backend.evidence.schemas import CellKind, CheckKind, CheckResult, EvidenceCell, EvidenceCheck, EvidenceFile

MOST_FILES = 200
"""Files of a pack."""
MOST_BYTES = 33_554_432
"""Bytes of all files of a pack, unpacked."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
"""Names of files: a pack has no folders, so that none leads out of the folder in which it is unpacked."""
NOT_A_PACK = "The file is not an evidence pack"


def check_entries(entries: Iterable[tuple[str, int]]) -> None:
    """Raise 400 for names that no pack has, and 413 for too many files or bytes. Entries are names and sizes."""
    found = list(entries)
    if len(found) > MOST_FILES:
        raise PayloadTooLarge(f"The archive has {len(found):,} files. A pack has at most {MOST_FILES}.")
    names = [name for name, _ in found]
    for name in names:
        if not NAME.fullmatch(name) or ".." in name:
            shown = "".join(letter if letter.isprintable() else "?" for letter in name[:60])
            raise BadRequest(f"{NOT_A_PACK}: it has an entry named {shown!r}. A pack has plain files without folders.")
    if len(set(names)) < len(names):
        raise BadRequest(f"{NOT_A_PACK}: several of its entries have the same name.")
    if sum(size for _, size in found) > MOST_BYTES:
        raise PayloadTooLarge(
            f"The archive unpacks to more than {MOST_BYTES // 2**20} MiB. Verify its files with "
            "`sha256sum --check SHA256SUMS` instead."
        )


def rules_sha256(rules: Mapping[str, Any]) -> str:
    """Return the SHA-256 hash of a token's rules: of their JSON with sorted names, without white space."""
    text = json.dumps(rules, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def file_checks(files: Iterable[EvidenceFile], missing: Iterable[str]) -> list[EvidenceCheck]:
    """Return a check of every file; `missing` are those that the pack names and does not have."""
    return [
        *(_file_check(file) for file in files),
        *(
            EvidenceCheck(
                kind=CheckKind.FILE,
                subject=path,
                result=CheckResult.DIFFERS,
                reason="The pack does not have this file.",
            )
            for path in missing
        ),
    ]


def _file_check(file: EvidenceFile) -> EvidenceCheck:
    if file.stated_sha256 is None:
        words = "The pack states no hash for this file."
        return EvidenceCheck(kind=CheckKind.FILE, subject=file.path, result=CheckResult.DIFFERS, reason=words)
    if file.stated_sha256 == file.sha256:
        return EvidenceCheck(kind=CheckKind.FILE, subject=file.path, result=CheckResult.OK)
    return EvidenceCheck(
        kind=CheckKind.FILE,
        subject=file.path,
        result=CheckResult.DIFFERS,
        expected=EvidenceCell(text=file.stated_sha256, kind=CellKind.HASH),
        found=EvidenceCell(text=file.sha256, kind=CellKind.HASH),
        reason="The file was changed after the pack was made.",
    )


def verdict(checks: Iterable[EvidenceCheck]) -> CheckResult:
    """Return how a verification ended: as its worst check."""
    results = {check.result for check in checks}
    for result in (CheckResult.DIFFERS, CheckResult.UNCHECKED):
        if result in results:
            return result
    return CheckResult.OK
