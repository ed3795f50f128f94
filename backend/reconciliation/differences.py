"""Differences between the tables and a chain, and the report of a run. Pure functions."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple
from uuid import UUID


class Difference(NamedTuple):
    """A difference between the tables and the chain about a subject. `what` is the field that differs."""

    chain_eid: int
    kind: str
    subject: str
    organization_id: str
    what: str
    table: str
    chain: str


def place(difference: Difference) -> tuple[object, ...]:
    """The difference's location, regardless of the values."""
    return difference.chain_eid, difference.kind, difference.subject, difference.what


def contract_of(difference: Difference) -> str:
    """The subject, or its contract: the token of a balance, the market of an order."""
    return difference.subject.rpartition(" of ")[2]


@dataclass
class Report:
    """A run: how many records of each kind were compared, the differences, and the chains that could not be read."""

    compared: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    repaired: list[Difference] = field(default_factory=list)
    """Differences that a repair resolved."""
    unreachable: dict[int, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-compatible dict."""
        lists = {"differences": self.differences, "repaired": self.repaired}
        return asdict(self) | {name: [d._asdict() for d in found] for name, found in lists.items()}

    def as_json(self) -> str:
        """Return JSON text."""
        return json.dumps(self.as_dict(), indent=2)

    def as_table(self) -> str:
        """Return a table: a line per difference, and the counts."""
        lines = _columns([Difference._fields, *([str(v) for v in d] for d in self.differences)])
        fixed = _columns([Difference._fields, *([str(v) for v in d] for d in self.repaired)])
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(self.compared.items())) or "nothing"
        on_chain = [f"The chain {eid} was not read: {why}" for eid, why in sorted(self.unreachable.items())]
        found = _count(len(self.differences))
        if self.repaired:
            on_chain += [*fixed, f"Repaired {_count(len(self.repaired))}."]
        return "\n".join([*(lines if self.differences else []), *on_chain, f"Compared {counts}: {found}."])

    @property
    def exit_code(self) -> int:
        """0 if everything was compared and agrees, 1 if something differs, 2 if a chain could not be read."""
        return 1 if self.differences else 2 if self.unreachable else 0


def _count(differences: int) -> str:
    return "1 difference" if differences == 1 else f"{differences} differences"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


@dataclass(frozen=True)
class Subject:
    """A subject of comparison: its kind, ID and owner, on a chain."""

    chain_eid: int
    kind: str
    id: str
    organization_id: UUID | None
    """None if it belongs to the installation."""

    def differ(self, **pairs: tuple[object, object]) -> list[Difference]:
        """Return the differences among `field=(table, chain)`."""
        owner = str(self.organization_id or "")
        return [
            Difference(self.chain_eid, self.kind, self.id, owner, what, str(table), str(chain))
            for what, (table, chain) in pairs.items()
            if table != chain
        ]
