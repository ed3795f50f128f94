"""Rules of the CSV import of parties: columns, values and duplicates, line by line. Pure functions."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from backend.core.errors import BadRequest
from backend.core.problems.findings import finding_text
from backend.parties.schemas import ImportOutcome, OnDuplicate, PartyCreate

COLUMNS = ("name", "country", "kind", "email", "wallet_address")
REQUIRED = ("name", "country")
MOST = 2_000
"""Lines of an import."""


@dataclass(frozen=True)
class Line:
    """A line of the list: its number in the file, its values, and the party; without a party, why not."""

    number: int
    values: Mapping[str, str]
    party: PartyCreate | None
    detail: str = ""


@dataclass(frozen=True)
class Judged:
    """A line and what happens to it."""

    line: Line
    outcome: ImportOutcome
    detail: str = ""


def lines(text: str) -> list[Line]:
    """Return the lines below the header. Columns may have any order; a semicolon may separate them."""
    head = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";" if head.count(";") > head.count(",") else ",")
    try:
        names = [name.strip().lower().replace(" ", "_") for name in next(reader, [])]
        _check_header(names)
        found = []
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found.append(_line(reader.line_num, names, cells))
            if len(found) > MOST:
                raise BadRequest(f"An import has at most {MOST:,} parties. Split the list.")
    except csv.Error as error:
        raise BadRequest(f"Line {reader.line_num} is not valid CSV: {error}.") from error
    if not found:
        raise BadRequest("The list has no parties below its header.")
    return found


def _check_header(names: Sequence[str]) -> None:
    missing = [name for name in REQUIRED if name not in names]
    unknown = [name for name in names if name not in COLUMNS]
    if missing or unknown or len(set(names)) != len(names):
        raise BadRequest(
            f"The first line names the columns: {', '.join(COLUMNS)}. name and country are required, each column may "
            "occur once."
        )


def _line(number: int, names: Sequence[str], cells: Sequence[str]) -> Line:
    values = {name: cell.strip() for name, cell in zip(names, cells, strict=False)}
    if len(cells) > len(names):
        return Line(number, values, None, f"has {len(cells)} values for {len(names)} columns")
    given = {name: value for name, value in values.items() if value}
    given |= {"kind": given["kind"].lower()} if "kind" in given else {}
    try:
        return Line(number, values, PartyCreate.model_validate(given))
    except ValidationError as error:
        return Line(number, values, None, "; ".join(_said(dict(found)) for found in error.errors()))


def _said(error: dict[str, object]) -> str:
    place = error["loc"]
    name = str(place[0]) if isinstance(place, tuple) and place else ""
    return f"{name}: {finding_text(error)}"


def keys_of(wallet: str | None, email: str | None) -> list[str]:
    """Return what identifies a party: its wallet and its email, regardless of upper and lower case."""
    return [one.lower() for one in (wallet, email) if one]


def judged(found: Iterable[Line], known: Mapping[str, str], on_duplicate: OnDuplicate) -> list[Judged]:
    """Return what happens to each line. `known` are the names of the organization's parties by wallet and email. A
    line that repeats an earlier one is refused."""
    earlier: dict[str, int] = {}
    result = []
    for line in found:
        result.append(_judged(line, known, earlier, on_duplicate))
        if line.party is not None:
            for key in keys_of(line.party.wallet_address, line.party.email):
                earlier.setdefault(key, line.number)
    return result


def _judged(line: Line, known: Mapping[str, str], earlier: Mapping[str, int], on_duplicate: OnDuplicate) -> Judged:
    if line.party is None:
        return Judged(line, ImportOutcome.REFUSED, line.detail)
    keys = keys_of(line.party.wallet_address, line.party.email)
    if repeated := next((earlier[key] for key in keys if key in earlier), None):
        return Judged(line, ImportOutcome.REFUSED, f"has the wallet or email of line {repeated}")
    if name := next((known[key] for key in keys if key in known), None):
        outcome = ImportOutcome.SKIPPED if on_duplicate is OnDuplicate.SKIP else ImportOutcome.REFUSED
        return Judged(line, outcome, f"has the wallet or email of {name}, who is registered already")
    return Judged(line, ImportOutcome.CREATED)
