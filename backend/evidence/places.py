"""A chain of a pack while it is verified, and the checks made so far."""

from dataclasses import dataclass, field
from typing import Any

from backend.evidence.pack import Pack
from backend.evidence.schemas import CellKind, CheckKind, CheckResult, EvidenceCell, EvidenceCheck, ManifestBlock

BATCH = 200
"""Records of one round trip."""
MOST_RECORDS = 20_000
"""Holders, transactions or attestations of a chain that are compared."""
MOST_SHOWN = 100
"""Differing records of a kind that are listed one by one."""


@dataclass
class Place:
    """A chain of a pack. `token` is the address that Signum deployed there, None if none, and `first` the block of its
    creation; `decimals` of the asset."""

    pack: Pack
    stated: ManifestBlock
    name: str
    token: str | None
    first: int
    decimals: int
    checks: list[EvidenceCheck] = field(default_factory=list)

    def add(self, kind: CheckKind, subject: str, result: CheckResult, **more: Any) -> None:
        """Add a check of this chain."""
        self.checks.append(
            EvidenceCheck(
                kind=kind,
                subject=subject,
                chain_eid=self.stated.chain_eid,
                chain_name=self.name,
                result=result,
                **more,
            )
        )

    def compare(self, kind: CheckKind, subject: str, expected: EvidenceCell, found: EvidenceCell, **more: Any) -> None:
        """Add a check that compares two values."""
        if expected.text == found.text:
            self.add(kind, subject, CheckResult.OK)
        else:
            self.add(kind, subject, CheckResult.DIFFERS, expected=expected, found=found, **more)

    def sum_up(self, kind: CheckKind, subject: str, count: int, differing: int) -> None:
        """Add the result of comparing many records: that all are equal, or how many more differ than are listed, and
        that some were not compared."""
        if not differing and count:
            self.add(kind, subject, CheckResult.OK, count=min(count, MOST_RECORDS))
        if differing > MOST_SHOWN:
            reason = f"{differing - MOST_SHOWN:,} more differ."
            self.add(kind, subject, CheckResult.DIFFERS, count=differing - MOST_SHOWN, reason=reason)
        if count > MOST_RECORDS:
            reason = f"Only the first {MOST_RECORDS:,} of {count:,} were compared."
            self.add(kind, subject, CheckResult.UNCHECKED, reason=reason)


def amount(units: str | int) -> EvidenceCell:
    """Return a cell with base units."""
    return EvidenceCell(text=str(int(units)), kind=CellKind.AMOUNT)


def hashed(text: str) -> EvidenceCell:
    """Return a cell with a hash or an address."""
    return EvidenceCell(text=text, kind=CellKind.HASH)
