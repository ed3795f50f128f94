"""What a browser gave: handlers can be called by anybody with anything, so they read their arguments through this."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID


def texts(data: Any, limit: int = 4_000) -> dict[str, str]:
    """A form's fields as texts of a limited length; anything else is left out."""
    if not isinstance(data, dict):
        return {}
    return {str(name)[:100]: value[:limit] for name, value in data.items() if isinstance(value, str)}


def words(text: Any, limit: int = 100) -> str:
    """What somebody searches for: without control characters and space around it."""
    return "".join(letter for letter in str(text)[:limit] if letter.isprintable()).strip()


def id_of(text: Any) -> str:
    """A UUID as the API writes it, or an empty string."""
    try:
        return str(UUID(str(text)[:60]))
    except ValueError:
        return ""


def number(text: Any) -> int:
    """A whole number such as a chain's, or 0."""
    plain = str(text)[:12]
    return int(plain) if plain.isascii() and plain.isdigit() else 0


def named(data: Any, *names: str) -> dict[str, str]:
    """The named fields of a form, as stripped text; empty where one is missing or something else."""
    given = texts(data)
    return {name: given.get(name, "").strip() for name in names}


def one_of(value: Any, known: Iterable[Any], otherwise: str = "") -> str:
    """The value where it is one of the known ones."""
    return value if isinstance(value, str) and value in {str(entry) for entry in known} else otherwise
