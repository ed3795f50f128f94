"""A pack and its verification in the reader's time zone."""

from datetime import UTC, datetime
from uuid import UUID

from backend.evidence import words
from backend.evidence.schemas import (
    CheckKind,
    CheckResult,
    EvidenceCell,
    EvidenceCheck,
    EvidenceColumn,
    EvidenceContents,
    EvidenceSection,
    EvidenceVerification,
)
from state.core.dates import zone_of
from state.evidence.views import pack_view, verification_view

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
OSLO = zone_of("Europe/Oslo")


def section(name: str, *titles: str) -> EvidenceSection:
    """A section with one row."""
    change = words.changes({}, {"expires_at": "2026-11-20T12:00:00Z"}, 18, {}, {})
    row = [EvidenceCell(text=change) for _ in titles]
    columns = [EvidenceColumn(title=title) for title in titles]
    return EvidenceSection(name=name, title=name, about="", columns=columns, rows=[row], count=1)


def test_times_in_texts_are_in_the_readers_zone() -> None:
    pack = EvidenceContents(
        asset_id=UUID(int=1), name="Fund", symbol="NREF", decimals=18, organization="Northwind", made_at=NOON,
        made_by=None, sha256="0", size=1, blocks=[], files=[], omitted=[],
        sections=[
            section("asset", "Field", "Value"), section("rules", "Rule", "Requested"), section("audit", "Change"),
        ],
    )  # fmt: skip
    sections = pack_view(pack, OSLO).sections
    texts = {cell.text for one in sections for row in one.rows for cell in row.cells}
    assert texts == {"expires: 20 Nov 2026, 13:00:00 CET"}
    labels = [[cell.label for cell in one.rows[0].cells] for one in sections]
    assert labels == [["", ""], ["", "Requested"], ["Change"]], "the name of a field needs no label"
    assert [one.is_pairs for one in sections] == [True, False, False]
    assert [one.count for one in sections] == ["", "1", "1"], "the fields of an asset are no records"
    reason = f"The audit log has the export of this pack, at {words.exact(NOON)}."
    check = EvidenceCheck(kind=CheckKind.ORIGIN, subject="Made by Signum", result=CheckResult.OK, reason=reason)
    found = EvidenceVerification(
        asset_id=UUID(int=1), sha256="0", at=NOON, result=CheckResult.OK, ok=1, differs=0, unchecked=0, checks=[check]
    )
    assert "at 20 Nov 2026, 13:00:00 CET" in verification_view(found, OSLO).checks[0].reason
