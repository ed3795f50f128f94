"""What a report contains."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of a table. `width` is its share of the line. Amounts are aligned at the right."""

    title: str
    width: float
    is_amount: bool = False


@dataclass(frozen=True)
class Entry:
    """A row of a table: a cell per column, and a note below them, such as a transaction's hash."""

    cells: Sequence[str]
    note: str = ""
    is_total: bool = False


@dataclass(frozen=True)
class Table:
    """A titled table."""

    title: str
    columns: Sequence[Column]
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Report:
    """A report. Its author and title are on every page, the facts (label and value) and remarks on the first one."""

    title: str
    author: str
    facts: Sequence[tuple[str, str]]
    remarks: Sequence[str]
    tables: Sequence[Table]
