"""Parsing of browser input: any client can call handlers with any arguments, so handlers read them through this."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

E = TypeVar("E", bound=StrEnum)


def texts(data: Any, limit: int = 4_000) -> dict[str, str]:
    """Return a form's fields as texts of limited length; other values are omitted."""
    if not isinstance(data, dict):
        return {}
    return {str(name)[:100]: value[:limit] for name, value in data.items() if isinstance(value, str)}


def words(text: Any, limit: int = 100) -> str:
    """Return a search text without control characters and surrounding space."""
    return "".join(letter for letter in str(text)[:limit] if letter.isprintable()).strip()


def typed(text: Any) -> str:
    """Return a search text as the field has it, which compares it with its own to recognize outdated results."""
    return str(text)[:100]


def id_of(text: Any) -> str:
    """Return a UUID as the API writes it, or an empty string."""
    try:
        return str(UUID(str(text)[:60]))
    except ValueError:
        return ""


def number(text: Any) -> int:
    """Return a whole number such as a chain's id, or 0."""
    plain = str(text)[:12]
    return int(plain) if plain.isascii() and plain.isdigit() else 0


def named(data: Any, *names: str) -> dict[str, str]:
    """Return the named fields of a form as stripped text; empty if one is missing or invalid."""
    given = texts(data)
    return {name: given.get(name, "").strip() for name in names}


def one_of(value: Any, known: Iterable[Any], otherwise: str = "") -> str:
    """Return the value if it is a known one, else `otherwise`."""
    return value if isinstance(value, str) and value in {str(entry) for entry in known} else otherwise


def chosen(kind: type[E], value: str) -> E | None:
    """Return what a filter selects; None if it is empty."""
    return kind(value) if value else None
