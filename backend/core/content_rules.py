"""What contents may be: the characters and lengths of texts, and the types of files."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters with Unicode's property Bidi_Control. With U+202E, `gnp.exe` is displayed as `exe.png`."""
UUID_LENGTH = 36
"""A UUID with hyphens. The longer forms (`urn:uuid:…`, braces) are refused."""
TIME_LENGTH = 35
"""An RFC 3339 time with nine decimals and an offset."""
SHOWN_TIME_LENGTH = 27
"""A time in responses: six decimals and Z."""
LONGEST_TEXT = 4_000
"""A text of a response whose type has no length, such as the message of a node."""
MAGIC = {"application/pdf": b"%PDF-", "image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
"""First bytes of each accepted type of file."""
UNTYPED = "application/octet-stream"
_BIDI = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL = rf"\u0000-\u0008\u000b-\u001f\u007f-\u009f{_BIDI}"
_BREAKS = rf"\u0000-\u001f\u007f-\u009f\u2028\u2029{_BIDI}"
_SPACE = r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's white space, which is removed from both ends."""
_INVISIBLE = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
)
"""Characters that are drawn as nothing. Between others they have a meaning, as in emoji."""
_EDGE = rf"[{_SPACE}]*"
_BLANK = rf"[{_SPACE}{_INVISIBLE}]*"
CODE = rf"^{_EDGE}[^{_SPACE}][\s\S]{{4,}}[^{_SPACE}]{_EDGE}$"
"""A second factor's code: at least six characters, without the white space at its ends."""
PLAIN = {
    "text": rf"^([^<{_CONTROL}]|<(?![a-zA-Z/!?]))*$",
    "reason": rf"^(?!{_BLANK}$){_EDGE}([^<{_CONTROL}]|<(?![a-zA-Z/!?]))*{_EDGE}$",
    "line": rf"^{_EDGE}([^<{_BREAKS}]|<(?![a-zA-Z/!?]))*{_EDGE}$",
    "name": rf"^(?!{_BLANK}$){_EDGE}([^<{_BREAKS}]|<(?![a-zA-Z/!?]))*{_EDGE}$",
}
"""Patterns of what `plain_text` and `one_line` accept, for the API document: no control characters, including
bidirectional ones, no markup, not only spaces and invisible characters. All but `text` are stripped first.
"""


def shortened(value: Any) -> Any:
    """Return a text, or the texts of a list, in at most `LONGEST_TEXT` characters; any other value unchanged."""
    if type(value) is str and len(value) > LONGEST_TEXT:
        return value[: LONGEST_TEXT - 1] + "…"
    if type(value) is list and any(type(part) is str and len(part) > LONGEST_TEXT for part in value):
        return [shortened(part) for part in value]
    return value


def shorten(values: dict[str, Any], names: Iterable[str]) -> None:
    """Shorten the named texts, and the texts of named lists, in place."""
    for name in names:
        value = values[name]
        if value is not None and (type(value) is not str or len(value) > LONGEST_TEXT):
            values[name] = shortened(value)


@cache
def texts_of(record: type[BaseModel]) -> tuple[str, ...]:
    """Return the fields that can have a text whose type states no length."""
    return tuple(name for name, one in record.model_fields.items() if not one.metadata and _has_text(one.annotation))


def _has_text(kind: Any) -> bool:
    return kind in (str, Any) or any(_has_text(part) for part in get_args(kind))


def at_most(length: int) -> Callable[[Any], Any]:
    """Return a validator of a text's length before white space is removed, as the API document states it."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and len(value) > length:
            raise ValueError(f"must have at most {length} characters")
        return value

    return check


def _is_control(character: str) -> bool:
    code = ord(character)
    return code < 32 or 0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF


def visible(value: str) -> str:
    """Validate that a text is not drawn as nothing."""
    if re.fullmatch(_BLANK, value):
        raise ValueError("contains no visible character")
    return value


def plain_text(value: str) -> str:
    """Validate plain text: no markup, no control characters except line breaks and tabs."""
    if any(_is_control(c) and c not in "\n\t" for c in value):
        raise ValueError("contains control characters")
    if any(c in BIDI for c in value):
        raise ValueError("contains bidirectional control characters, which change how text is displayed")
    if re.search(r"<[a-zA-Z/!?]", value):
        raise ValueError("contains markup; only plain text is accepted")
    return value


def one_line(value: str) -> str:
    """Validate plain text without line breaks or tabs."""
    if any(c in "\n\t\u2028\u2029" for c in value):
        raise ValueError("contains a line break; only one line is accepted")
    return plain_text(value)
