"""Output of commands: tables for people, the API's records for programs."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel


def show(record: BaseModel) -> None:
    """Print a record in the API's form."""
    _write(record.model_dump(mode="json", by_alias=True))


def show_all(records: Iterable[BaseModel]) -> None:
    """Print records as a JSON array."""
    _write([record.model_dump(mode="json", by_alias=True) for record in records])


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; None is shown as a dash."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    made = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        # Names are user input: `[bold]` in a name is text, not a style.
        made.add_row(*(_plain(cell) for cell in row))
    console = Console(soft_wrap=not sys.stdout.isatty(), highlight=False)
    console.print(made, width=None if sys.stdout.isatty() else 400, crop=False)


def say(words: str) -> None:
    """Print a line."""
    sys.stdout.write(words + "\n")


def _plain(cell: Any) -> Any:
    from rich.text import Text

    return Text("-" if cell is None else str(cell))


def _write(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
