"""What a browser sent, taken for what it should be: anybody can call a handler with anything."""

from collections.abc import Iterable
from typing import Any

LONGEST = 4_000


def texts(data: Any, *names: str) -> dict[str, str]:
    """The named fields of a form, as stripped text; empty where one is missing or something else."""
    sent = data if isinstance(data, dict) else {}
    values = {name: sent.get(name) for name in names}
    return {name: value.strip()[:LONGEST] if isinstance(value, str) else "" for name, value in values.items()}


def one_of(value: Any, known: Iterable[Any], otherwise: str = "") -> str:
    """The value where it is one of the known ones."""
    return str(value) if isinstance(value, str) and value in {str(entry) for entry in known} else otherwise
