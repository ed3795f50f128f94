"""A pack as a report on paper: how its verification ended, its files with their hashes, and each section."""

from datetime import datetime

from backend.core.units import DIGITS, grouped, tabulated
from backend.evidence import words
from backend.evidence.schemas import (
    CellKind,
    CheckKind,
    CheckResult,
    EvidenceCell,
    EvidenceCheck,
    EvidenceContents,
    EvidenceFile,
    EvidenceSection,
    EvidenceVerification,
)
from backend.pdf.reports import Column, Entry, Report, Table

RESULTS = {CheckResult.OK: "ok", CheckResult.DIFFERS: "differs", CheckResult.UNCHECKED: "not checked"}
CHECKS = (
    Column("Check", 34), Column("Where", 18), Column("Result", 12), Column("In the pack", 18), Column("Found", 18),
)  # fmt: skip
FILES = (Column("File", 30), Column("Bytes", 12, is_amount=True), Column("SHA-256", 58))
REMARKS = (
    f"Amounts are in whole tokens, rounded down to {DIGITS} decimals where they have more; the archive has all. Times "
    "are in UTC. A pack is an archive of facts about an asset, as Signum read them at the stated blocks. Its manifest "
    "has the SHA-256 hash of every file, and the audit log the hash of the manifest.",
    "The verification compared every file with its hash, and what the pack says about each chain with the chain itself "
    "at the same block, when this report was made. Each holder's balance was compared, each transaction with its "
    "receipt, each attestation with the registry, and each audit entry with the audit log.",
)


def report(contents: EvidenceContents, verification: EvidenceVerification) -> Report:
    """Return the report."""
    return Report(
        title=f"Evidence of {contents.symbol or 'an asset'}",
        author=contents.organization or "Signum",
        facts=_facts(contents, verification),
        remarks=(*REMARKS, *_omissions(contents)),
        tables=[
            _verification(verification, contents.decimals),
            Table("Files", FILES, [_file(file) for file in contents.files]),
            *(_section(section, contents.decimals) for section in contents.sections),
        ],
    )


def _facts(contents: EvidenceContents, verification: EvidenceVerification) -> list[tuple[str, str]]:
    blocks = ", ".join(f"{one.chain_name} at block {one.block:,}" for one in contents.blocks)
    return [
        ("Asset", f"{contents.name} ({contents.symbol})"),
        ("Organization", contents.organization or "not named in the pack"),
        (
            "Pack made",
            f"{words.minute(contents.made_at)} (UTC)" + (f" by {contents.made_by}" if contents.made_by else ""),
        ),
        ("Read from", blocks or "no chain"),
        ("Hash of the pack", f"{contents.sha256} (SHA-256)"),
        ("Verified", f"{words.minute(verification.at)} (UTC)"),
        ("Result", verdict(verification)),
    ]


def verdict(verification: EvidenceVerification) -> str:
    """Return how a verification ended, in words."""
    checks = len(verification.checks)
    parts = [f"{verification.differs:,} differ" if verification.differs else ""]
    parts.append(f"{verification.unchecked:,} could not be made" if verification.unchecked else "")
    rest = ", ".join(filter(None, parts))
    return f"of {checks:,} checks, {rest}" if rest else f"all {checks:,} checks are ok"


def _omissions(contents: EvidenceContents) -> list[str]:
    found = [f"The pack does not have {one.path}. {one.reason}" for one in contents.omitted]
    long = [one for one in contents.sections if one.count > len(one.rows)]
    return found + [f"{one.title}: the first {len(one.rows):,} of {one.count:,}; the archive has all." for one in long]


def _verification(verification: EvidenceVerification, decimals: int) -> Table:
    """Return the checks as a table. It has columns for values that differ only where there are such values."""
    entries = [_check(check, decimals) for check in verification.checks]
    if any(any(entry.cells[3:]) for entry in entries):
        return Table("Verification", CHECKS, entries)
    return Table("Verification", CHECKS[:3], [Entry(entry.cells[:3], entry.note) for entry in entries])


def _check(check: EvidenceCheck, decimals: int) -> Entry:
    subject = f"{check.subject} ({check.count:,})" if check.count > 1 else check.subject
    where = check.chain_name or ("file" if check.kind is CheckKind.FILE else "audit log")
    pair = [("In the pack", check.expected), ("Found", check.found)]
    is_long = any(cell is not None and cell.kind is CellKind.HASH for _, cell in pair)
    shown = ["" if cell is None or is_long else _exact(cell, decimals) for _, cell in pair]
    notes = [check.reason or ""]
    if is_long:
        notes += [f"{name}: {cell.text}." for name, cell in pair if cell is not None]
    return Entry([subject, where, RESULTS[check.result], *shown], " ".join(filter(None, notes)))


def _file(file: EvidenceFile) -> Entry:
    differs = file.stated_sha256 not in (None, file.sha256)
    return Entry(
        [file.path, f"{file.size:,}", file.sha256], f"The pack states {file.stated_sha256}." if differs else ""
    )


def _section(section: EvidenceSection, decimals: int) -> Table:
    """Return a section as a table. Hashes are notes below their rows, because a line has no room for them."""
    if section.problem or not section.rows:
        words = section.problem or "The pack has no such records."
        return Table(section.title, [Column(section.about, 100)], [Entry([words])])
    is_long = [
        any(row[n].kind is CellKind.HASH and row[n].text for row in section.rows if n < len(row))
        for n in range(len(section.columns))
    ]
    columns = [
        Column(one.title, one.width, is_amount=one.is_number)
        for one, long in zip(section.columns, is_long, strict=True)
        if not long
    ]
    entries = []
    for row in section.rows:
        cells = [_cell(cell, decimals) for cell, long in zip(row, is_long, strict=True) if not long]
        notes = [
            f"{column.title} {cell.text}"
            for column, cell, long in zip(section.columns, row, is_long, strict=True)
            if long and cell.text
        ]
        entries.append(Entry(cells, ", ".join(notes)))
    return Table(section.title, columns, entries)


def _cell(cell: EvidenceCell, decimals: int) -> str:
    if cell.kind is CellKind.AMOUNT and cell.text.isdigit():
        return tabulated(cell.text, decimals)
    return _exact(cell, decimals)


def _exact(cell: EvidenceCell, decimals: int) -> str:
    """Return the text of a cell; an amount has all its decimals, since a check can differ in the last one."""
    if cell.kind is CellKind.AMOUNT and cell.text.isdigit():
        return grouped(cell.text, decimals)
    if cell.kind is CellKind.TIME and cell.text:
        return words.minute(datetime.fromisoformat(cell.text))
    return cell.text
