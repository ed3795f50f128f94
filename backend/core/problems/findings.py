"""Findings of a failed validation, as the API reports them in `errors`."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

MOST = 1_000
"""Findings of a response. A body can have a million faults."""


def findings(errors: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return `{pointer, detail}` for the first of Pydantic's errors; a pointer is a JSON pointer (RFC 6901)."""
    return [{"pointer": _pointer(e["loc"]), "detail": finding_text(e)} for e in islice(errors, MOST)]


def finding_text(error: Mapping[str, Any]) -> str:
    """Return one of Pydantic's errors in words. The input is never echoed."""
    text = str(error["msg"]).removeprefix("Value error, ")
    return "is not a field of this body" if error["type"] == "extra_forbidden" else text


def _pointer(loc: tuple[Any, ...]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in loc)
