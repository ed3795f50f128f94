"""Why a transfer or an order is refused: the one table, as the contracts have it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Restriction:
    """A restriction code, which rule it belongs to, and what to do about it."""

    code: int
    name: str
    rule: str
    message: str
    resolution: str


def _load() -> dict[int, Restriction]:
    path = Path(__file__).parent.parent / "contracts" / "restrictions.json"
    return {entry["code"]: Restriction(**entry) for entry in json.loads(path.read_text())}


RESTRICTIONS: Final = _load()
