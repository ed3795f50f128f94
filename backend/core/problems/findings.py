"""Findings of a failed validation, as the API reports them in `errors`."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from backend.core.problems.validation_words import said

MOST = 1_000
"""Findings of a response. A body can have a million faults."""


def findings(errors: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return `{pointer, detail}` for the first of Pydantic's errors; a pointer is a JSON pointer (RFC 6901)."""
    return [{"pointer": _pointer(e["loc"]), "detail": said(e)} for e in islice(errors, MOST)]


def _pointer(loc: tuple[Any, ...]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in loc)
