"""The layout of a report: which piece is at which height of which page. Lengths are in points, heights from the top."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from backend.pdf.fonts import BOLD, PLAIN, wrapped
from backend.pdf.reports import Column, Entry, Report, Table

WIDTH, HEIGHT = 595.28, 841.89
"""A4."""
MARGIN, TOP, BOTTOM = 36.0, 64.0, 60.0
ROOM = WIDTH - 2 * MARGIN
GAP = 5.0
"""Between two columns."""
LABEL = 90.0
"""Width of the labels of facts."""
LINES = 40
"""Lines of a row that stay together on a page."""
SMALL, TEXT, HEADING, TITLE = 6.5, 7.5, 10.5, 20.0
"""Font sizes."""


@dataclass(frozen=True)
class Line:
    """A line of text. `x` is its left end, its right end with `is_right`."""

    text: str
    x: float
    y: float
    size: float = TEXT
    font: str = PLAIN
    is_muted: bool = False
    is_right: bool = False


@dataclass(frozen=True)
class Rule:
    """A horizontal line across the page."""

    y: float
    is_strong: bool = False


@dataclass(frozen=True)
class Block:
    """Pieces that stay together on a page; their heights begin at 0."""

    height: float
    pieces: list[Line | Rule]


@dataclass
class Sheet:
    """A page."""

    pieces: list[Line | Rule] = field(default_factory=list)


def sheets(report: Report) -> list[Sheet]:
    """Return the pages of a report. A table that continues on a page has its heading there again."""
    found, y = [Sheet()], TOP

    def place(block: Block) -> None:
        nonlocal y
        found[-1].pieces += [_moved(piece, y) for piece in block.pieces]
        y += block.height

    place(_front(report))
    for table in report.tables:
        head = _head(table)
        blocks = [block for entry in table.entries for block in _entry(table.columns, entry)]
        first = blocks[0].height if blocks else 0
        if y > TOP and y + head.height + first > HEIGHT - BOTTOM:
            found.append(Sheet())
            y = TOP
        place(head)
        for block in blocks:
            if y + block.height > HEIGHT - BOTTOM:
                found.append(Sheet())
                y = TOP
                place(head)
            place(block)
        y += 14
    return found


def _moved(piece: Line | Rule, by: float) -> Line | Rule:
    if isinstance(piece, Rule):
        return Rule(piece.y + by, piece.is_strong)
    return Line(piece.text, piece.x, piece.y + by, piece.size, piece.font, piece.is_muted, piece.is_right)


def _front(report: Report) -> Block:
    """Return title, facts and remarks."""
    pieces: list[Line | Rule] = [Line(report.title, MARGIN, TITLE, TITLE, BOLD)]
    y = TITLE + 22
    for label, value in report.facts:
        pieces.append(Line(label, MARGIN, y, 8.5, is_muted=True))
        for text in wrapped(value, PLAIN, 8.5, ROOM - LABEL):
            pieces.append(Line(text, MARGIN + LABEL, y, 8.5))
            y += 13
    y += 5
    for remark in report.remarks:
        for text in wrapped(remark, PLAIN, TEXT, ROOM):
            pieces.append(Line(text, MARGIN, y, is_muted=True))
            y += 11
    return Block(y + 12, pieces)


def _head(table: Table) -> Block:
    """Return the title of a table and the titles of its columns."""
    pieces: list[Line | Rule] = [Line(table.title, MARGIN, 12, HEADING, BOLD)]
    for column, left, right in _places(table.columns):
        x = right if column.is_amount else left
        pieces.append(Line(column.title, x, 29, SMALL, is_muted=True, is_right=column.is_amount))
    return Block(38, [*pieces, Rule(35, is_strong=True)])


def _entry(columns: Sequence[Column], entry: Entry) -> list[Block]:
    """Return a row: its cells side by side, its note below them. A long row is in several blocks, so that it may
    continue on the next page."""
    font = BOLD if entry.is_total else PLAIN
    cells = [
        (wrapped(cell, font, TEXT, right - left), right if column.is_amount else left, column.is_amount)
        for (column, left, right), cell in zip(_places(columns), entry.cells, strict=True)
    ]
    most = max((len(lines) for lines, _, _ in cells), default=1)
    blocks = []
    for first in range(0, most, LINES):
        height = 10.0 * min(LINES, most - first)
        pieces: list[Line | Rule] = [
            Line(text, x, 10 + 10 * at, TEXT, font, is_right=is_right)
            for lines, x, is_right in cells
            for at, text in enumerate(lines[first : first + LINES])
        ]
        blocks.append(Block(height, pieces))
    y = blocks[-1].height
    for text in wrapped(entry.note, PLAIN, SMALL, ROOM) if entry.note else []:
        y += 9.5
        blocks[-1].pieces.append(Line(text, MARGIN, y, SMALL, is_muted=True))
    return [*blocks[:-1], Block(y + 7, [*blocks[-1].pieces, Rule(y + 4.5)])]


def _places(columns: Sequence[Column]) -> Iterator[tuple[Column, float, float]]:
    """Return each column with its left and right end."""
    unit, left = (ROOM - GAP * (len(columns) - 1)) / sum(column.width for column in columns), MARGIN
    for column in columns:
        right = left + column.width * unit
        yield column, left, right
        left = right + GAP
