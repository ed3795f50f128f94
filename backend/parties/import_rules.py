"""Rules of the CSV import of parties: columns, values and duplicates, line by line. Pure functions."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import ValidationError

from backend.core.errors import BadRequest
from backend.core.problems.validation_words import said
from backend.parties.schemas import ImportOutcome, OnDuplicate, PartyCreate

COLUMNS = ("name", "country", "kind", "email", "wallet_address")
REQUIRED = ("name", "country")
CHANGED = ("name", "email", "wallet_address")
"""Values of a registered party that a line can change."""
FIXED = ("country", "kind")
"""Values of which a change is a decision about the identity."""
MOST = 2_000
"""Lines of an import."""
NAMED = 3
"""Parties that a finding names."""


@dataclass(frozen=True)
class Line:
    """A line of the list: its number in the file, its values, and the party; without a party, why not."""

    number: int
    values: Mapping[str, str]
    party: PartyCreate | None
    detail: str = ""


@dataclass(frozen=True)
class Known:
    """A party of the organization."""

    id: UUID
    name: str
    country: str
    kind: str
    email: str | None
    wallet_address: str | None


@dataclass(frozen=True)
class Change:
    """A value that a line changes."""

    field: str
    before: str | None
    after: str


@dataclass(frozen=True)
class Judged:
    """A line and what happens to it: the party that it updates, and the changes."""

    line: Line
    outcome: ImportOutcome
    detail: str = ""
    party_id: UUID | None = None
    changes: Sequence[Change] = ()


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
    if name == "country" and isinstance(given := error.get("input"), str):
        return f"“{given[:60]}” is not a country code. Use one such as SWE."
    return f"{name}: {said(error)}"


def keys_of(wallet: str | None, email: str | None) -> list[str]:
    """Return what identifies a party: its wallet and its email, regardless of upper and lower case."""
    return [one.lower() for one in (wallet, email) if one]


def judged(found: Iterable[Line], known: Mapping[str, Sequence[Known]], on_duplicate: OnDuplicate) -> list[Judged]:
    """Return what happens to each line. `known` are the organization's parties by wallet and email. A line that repeats
    an earlier one is refused."""
    earlier: dict[str, int] = {}
    updated: dict[UUID, int] = {}
    result = []
    for line in found:
        one = _judged(line, known, earlier, updated, on_duplicate)
        result.append(one)
        if one.party_id is not None:
            updated.setdefault(one.party_id, line.number)
        if line.party is not None:
            for key in keys_of(line.party.wallet_address, line.party.email):
                earlier.setdefault(key, line.number)
    return result


def _judged(
    line: Line,
    known: Mapping[str, Sequence[Known]],
    earlier: Mapping[str, int],
    updated: Mapping[UUID, int],
    on_duplicate: OnDuplicate,
) -> Judged:
    if line.party is None:
        return Judged(line, ImportOutcome.REFUSED, line.detail)
    keys = keys_of(line.party.wallet_address, line.party.email)
    if repeated := next((earlier[key] for key in keys if key in earlier), None):
        return Judged(line, ImportOutcome.REFUSED, f"has the wallet or email of line {repeated}")
    same = list({one.id: one for key in keys for one in known.get(key, ())}.values())
    if not same:
        return Judged(line, ImportOutcome.CREATED)
    if on_duplicate is OnDuplicate.UPDATE:
        return _updated(line, line.party, same, updated)
    outcome = ImportOutcome.SKIPPED if on_duplicate is OnDuplicate.SKIP else ImportOutcome.REFUSED
    return Judged(line, outcome, f"has the wallet or email of {same[0].name}, who is registered already")


def _updated(line: Line, party: PartyCreate, same: Sequence[Known], updated: Mapping[UUID, int]) -> Judged:
    """Return the changes of a registered party; refused if they are not clear, or not a change of contact or wallet."""
    one, *others = same
    if others:
        words = f"has the wallet or email of several parties: {_named([each.name for each in same])}"
        return Judged(line, ImportOutcome.REFUSED, words)
    if one.id in updated:
        return Judged(line, ImportOutcome.REFUSED, f"changes the same party as line {updated[one.id]}")
    for field in FIXED:
        given = str(getattr(party, field))
        if line.values.get(field) and given != getattr(one, field):
            words = f"has the {field} {given}; {one.name} is registered with {getattr(one, field)}"
            return Judged(line, ImportOutcome.REFUSED, f"{words}, which an import does not change")
    changes = [
        Change(field, getattr(one, field), str(after))
        for field in CHANGED
        if (after := getattr(party, field)) is not None and not _is_same(field, getattr(one, field), str(after))
    ]
    if not changes:
        return Judged(line, ImportOutcome.SKIPPED, f"is {one.name}, who is registered with these values", one.id)
    return Judged(line, ImportOutcome.UPDATED, "", one.id, changes)


def _named(names: Sequence[str]) -> str:
    first, rest = sorted(names)[:NAMED], len(names) - NAMED
    last = f"{rest} more" if rest > 0 else first.pop()
    return f"{', '.join(first)} and {last}"


def _is_same(field: str, before: str | None, after: str) -> bool:
    if before is None or field == "name":
        return before == after
    return before.lower() == after.lower()
