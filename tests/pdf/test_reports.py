"""Reports as PDF: everything is drawn once, inside of the page, in an embedded font."""

import io
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from backend.core.units import tabulated
from backend.pdf import fonts
from backend.pdf.drawing import draw
from backend.pdf.layout import BOTTOM, HEIGHT, MARGIN, TOP, WIDTH, Line, Sheet, sheets
from backend.pdf.reports import Column, Entry, Report, Table

COLUMNS = (Column("Entry", 3), Column("Amount", 2, is_amount=True))
CELLS = st.text("Kovač 0123456789.,Øß€", max_size=120)
ENTRIES = st.lists(st.builds(Entry, st.tuples(CELLS, CELLS), CELLS, st.booleans()), max_size=60)


def report(*tables: Table, remarks: tuple[str, ...] = ()) -> Report:
    return Report("Statement", "Northwind", [("Investor", "Željko Kovač")], remarks, tables)


@settings(deadline=None, max_examples=30)
@given(ENTRIES)
def test_every_letter_is_on_a_page_once_and_inside_of_its_margins(entries: list[Entry]) -> None:
    pages = sheets(report(Table("Fund", COLUMNS, entries)))
    for line in (piece for page in pages for piece in page.pieces if isinstance(piece, Line)):
        length = fonts.width(line.text, line.font, line.size)
        left = line.x - length if line.is_right else line.x
        assert left >= MARGIN - 0.01
        assert left + length <= WIDTH - MARGIN + 0.01
        assert TOP <= line.y <= HEIGHT - BOTTOM
    heading = letters(sheets(report(Table("Fund", COLUMNS, [])))) - letters(sheets(report()))
    wanted = Counter("".join("".join([*entry.cells, entry.note]) for entry in entries).replace(" ", ""))
    for _ in pages:
        wanted += heading
    assert letters(pages) == letters(sheets(report())) + wanted


def test_row_that_is_higher_than_a_page_continues_on_the_next_one() -> None:
    entry = Entry(("Asset created", " ".join(f"word{number}" for number in range(2_000))), "0x" + "ab" * 32)
    pages = sheets(report(Table("Fund", COLUMNS, [entry])))
    lines = [piece for page in pages for piece in page.pieces if isinstance(piece, Line)]
    assert len(pages) > 1
    assert all(line.y <= HEIGHT - BOTTOM for line in lines)
    assert sum("word" in word for line in lines for word in line.text.split()) == 2_000


def letters(pages: list[Sheet]) -> Counter[str]:
    lines = [piece.text for page in pages for piece in page.pieces if isinstance(piece, Line)]
    return Counter("".join(lines).replace(" ", ""))


def test_table_that_continues_has_its_heading_and_page_numbers_on_each_page() -> None:
    entries = [Entry((f"Entry {number}", "1,000.5"), "0x" + "ab" * 32) for number in range(120)]
    content = draw(report(Table("Northwind Real Estate Fund", COLUMNS, entries)))
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]
    assert len(pages) > 3
    for number, text in enumerate(pages, 1):
        assert "Northwind Real Estate Fund" in text
        assert f"Page {number} of {len(pages)}" in text
    together = "\n".join(pages).split("\n")
    assert [line for line in together if line.startswith("Entry ")] == [entry.cells[0] for entry in entries]
    assert content == draw(report(Table("Northwind Real Estate Fund", COLUMNS, entries)))


def test_letters_beyond_western_europe_are_drawn_in_an_embedded_font() -> None:
    reader = PdfReader(io.BytesIO(draw(report(remarks=("Łódź, Győr, Αθήνα, София",)))))
    text = reader.pages[0].extract_text()
    assert "Željko Kovač" in text
    assert "Łódź, Győr, Αθήνα, София" in text
    used = [font.get_object() for font in reader.pages[0]["/Resources"]["/Font"].values()]  # type: ignore[index]
    assert all("/FontFile2" in font["/FontDescriptor"] for font in used if "DejaVu" in font["/BaseFont"])
    assert reader.pages[0].mediabox.width < reader.pages[0].mediabox.height


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ("125382951377052121647084", "125,382.951377"),
        ("156044575670000000000001", "156,044.57567"),
        ("1800" + "0" * 18, "1,800"),
        ("1", "<0.000001"),
        ("0", "0"),
    ],
)
def test_amount_of_a_table_has_as_many_decimals_as_it_needs(units: str, words: str) -> None:
    assert tabulated(units, 18) == words
