"""Reasons for refusing a transfer or an order: the table shared with the contracts."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Restriction:
    """A restriction code, its rule, and its resolution."""

    code: int
    name: str
    rule: str
    message: str
    resolution: str


def _load() -> dict[int, Restriction]:
    path = Path(__file__).parents[2] / "contracts" / "restrictions.json"
    return {entry["code"]: Restriction(**entry) for entry in json.loads(path.read_text())}


RESTRICTIONS: Final = _load()
