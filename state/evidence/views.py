"""A pack and its verification as the page shows them."""

from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from itertools import count

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
from state.core.dates import stamp, times_in
from state.core.units import with_short_addresses, with_short_amounts

ORDER = (CheckResult.DIFFERS, CheckResult.UNCHECKED, CheckResult.OK)


@dataclass
class Cell:
    """A value: `kind` says how it is drawn, `label` names it on a phone; empty for a name and for the only value."""

    text: str = ""
    kind: str = "text"
    label: str = ""
    is_number: bool = False


@dataclass
class Row:
    """A row of a section."""

    key: str = ""
    cells: list[Cell] = field(default_factory=list)


@dataclass
class SectionView:
    """A section; `foot` says how many of its records are shown, where there are more."""

    name: str = ""
    title: str = ""
    about: str = ""
    heads: list[Cell] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    is_pairs: bool = False
    """Whether each row is the name of a field and its value."""
    count: str = ""
    """The number of its records; empty if the rows are no records."""
    foot: str = ""
    problem: str = ""


@dataclass
class FileView:
    """A file with its hash. `agrees`: `yes`, or `no` where the pack states another hash or none."""

    path: str = ""
    size: str = ""
    sha256: str = ""
    agrees: str = ""


@dataclass
class PackView:
    """A pack. `blocks` says which chain was read at which block."""

    name: str = ""
    symbol: str = ""
    decimals: int = 18
    organization: str = ""
    made_at: str = ""
    made_by: str = ""
    blocks: list[str] = field(default_factory=list)
    sha256: str = ""
    manifest: str = ""
    """The hash of manifest.json, which the audit log has."""
    files: list[FileView] = field(default_factory=list)
    omitted: list[str] = field(default_factory=list)
    sections: list[SectionView] = field(default_factory=list)


@dataclass
class CheckView:
    """A check; `expected` and `found` only where they differ."""

    key: str = ""
    subject: str = ""
    where: str = ""
    result: str = ""
    reason: str = ""
    expected: Cell = field(default_factory=Cell)
    found: Cell = field(default_factory=Cell)


@dataclass
class VerificationView:
    """A verification; `result` is empty before there is one."""

    result: str = ""
    at: str = ""
    summary: str = ""
    checks: list[CheckView] = field(default_factory=list)
    compares: bool = False
    """Whether a check has values that differ."""


def pack_view(contents: EvidenceContents, zone: tzinfo = UTC) -> PackView:
    """Convert the contents of a pack. Times in texts are shown in a time zone."""
    return PackView(
        name=contents.name,
        symbol=contents.symbol,
        decimals=contents.decimals,
        organization=contents.organization,
        made_at=stamp(contents.made_at),
        made_by=contents.made_by or "",
        blocks=[f"{one.chain_name}, block {one.block:,}" for one in contents.blocks],
        sha256=contents.sha256,
        manifest=next((file.sha256 for file in contents.files if file.path.endswith("manifest.json")), ""),
        files=[_file(file) for file in contents.files],
        omitted=[f"{one.path}: {one.reason}" for one in contents.omitted],
        sections=[_section(section, zone) for section in contents.sections],
    )


def verification_view(verification: EvidenceVerification, zone: tzinfo = UTC) -> VerificationView:
    """Convert a verification: what differs comes first. Times in texts are shown in a time zone."""
    checks = sorted(verification.checks, key=lambda check: ORDER.index(check.result))
    numbers = count()
    parts = [
        (verification.ok, "check passed" if verification.ok == 1 else "checks passed"),
        (verification.differs, "differs" if verification.differs == 1 else "differ"),
        (verification.unchecked, "could not be checked"),
    ]
    return VerificationView(
        result=verification.result,
        at=stamp(verification.at),
        summary=", ".join(f"{number:,} {words}" for number, words in parts if number),
        checks=[_check(check, str(next(numbers)), zone) for check in checks],
        compares=any(check.expected or check.found for check in checks),
    )


def _section(section: EvidenceSection, zone: tzinfo) -> SectionView:
    titles = [(column.title, column.is_number) for column in section.columns]
    is_pairs, shown = section.name == "asset", len(section.rows)
    named = {"asset": 2, "rules": 1}.get(section.name, 0)
    labels = [("" if n < named else title, is_number) for n, (title, is_number) in enumerate(titles)]
    return SectionView(
        name=section.name,
        title=section.title,
        about=section.about,
        heads=[Cell(text=title, is_number=is_number) for title, is_number in titles],
        rows=[
            Row(str(n), [_cell(cell, zone, *label) for cell, label in zip(row, labels, strict=False)])
            for n, row in enumerate(section.rows)
        ],
        is_pairs=is_pairs,
        count="" if is_pairs or section.problem else f"{section.count:,}",
        foot=f"The first {shown:,} of {section.count:,}. The archive has all." if section.count > shown else "",
        problem=section.problem or "",
    )


def _cell(cell: EvidenceCell | None, zone: tzinfo, label: str, is_number: bool = False) -> Cell:
    if cell is None:
        return Cell(label=label)
    text = _words(cell.text, zone) if cell.kind is CellKind.TEXT else cell.text
    return Cell(text, cell.kind, label, is_number)


def _words(text: str, zone: tzinfo) -> str:
    return times_in(with_short_addresses(with_short_amounts(text)), zone)


def _file(file: EvidenceFile) -> FileView:
    agrees = "yes" if file.sha256 == file.stated_sha256 else "no"
    return FileView(file.path, f"{file.size:,} bytes", file.sha256, agrees)


def _check(check: EvidenceCheck, key: str, zone: tzinfo) -> CheckView:
    where = check.chain_name or ("File" if check.kind is CheckKind.FILE else "Audit log")
    return CheckView(
        key=key,
        subject=f"{check.subject} ({check.count:,})" if check.count > 1 else check.subject,
        where=where,
        result=check.result,
        reason=times_in(with_short_addresses(check.reason or ""), zone),
        expected=_cell(check.expected, zone, "In the pack"),
        found=_cell(check.found, zone, "Found"),
    )
