"""What each kind of Pydantic's validation errors says about a value, in words that follow the name of the field."""

import re
from collections.abc import Mapping
from typing import Any, Final

_TIME, _DATE = "must be a time with a time zone, such as 2026-01-31T12:00:00Z", "must be a date, such as 2026-01-31"
_UUID, _WHOLE = "must be a UUID, such as 019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21", "must be a whole number"
_NUMBER, _FLAG, _OBJECT = "must be a number", "must be true or false", "must be an object"
_ONE_OF, _ADDRESS = "must be {expected}", "must be a web address, such as https://example.com"
_LONGEST, _SHORTEST = "must have at most {max_length} characters", "must have at least {min_length} characters"
WORDS: Final[Mapping[str, str]] = {
    "missing": "is required",
    "extra_forbidden": "is not a field of this body",
    "json_invalid": "is not valid JSON",
    "json_type": "is not valid JSON",
    "none_required": "must be null",
    **dict.fromkeys(("uuid_parsing", "uuid_type", "uuid_version"), _UUID),
    **dict.fromkeys(
        (
            "datetime_parsing",
            "datetime_type",
            "datetime_from_date_parsing",
            "datetime_object_invalid",
            "timezone_aware",
            "timezone_naive",
            "timezone_offset",
        ),
        _TIME,
    ),
    **dict.fromkeys(
        ("date_parsing", "date_type", "date_from_datetime_parsing", "date_from_datetime_inexact"),
        _DATE,
    ),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), _WHOLE),
    "int_parsing_size": "must be a smaller number",
    **dict.fromkeys(("float_parsing", "float_type", "decimal_parsing", "decimal_type", "finite_number"), _NUMBER),
    "decimal_max_digits": "must have at most {max_digits} digits",
    "decimal_max_places": "must have at most {decimal_places} decimals",
    **dict.fromkeys(("bool_parsing", "bool_type"), _FLAG),
    **dict.fromkeys(("enum", "literal_error"), _ONE_OF),
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), "must be text"),
    "string_too_short": _SHORTEST,
    "string_too_long": _LONGEST,
    "string_pattern_mismatch": "must have the form {pattern}",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "iterable_type"), "must be a list"),
    **dict.fromkeys(
        ("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"),
        _OBJECT,
    ),
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    **dict.fromkeys(("url_type", "url_parsing", "url_syntax_violation", "url_scheme"), _ADDRESS),
    "url_too_long": _LONGEST,
}
"""By the type of the error; `{…}` is a value of its context."""
_OWN = ("Value error, ", "Assertion failed, ", "value ")
"""What Pydantic writes before the words of a validator."""
_ONE = re.compile(r"\b1 (character|item|digit|decimal)s\b")


def said(error: Mapping[str, Any]) -> str:
    """Return one of Pydantic's errors in words. The input is never echoed."""
    words = WORDS.get(error["type"])
    if words is None:
        text = str(error["msg"])
        return next((text.removeprefix(start) for start in _OWN if text.startswith(start)), text)
    if words is _SHORTEST and error["ctx"]["min_length"] == 1:
        return "must not be empty"
    return _ONE.sub(r"1 \1", words.format_map({**error.get("ctx", {}), "expected": _expected(error)}))


def _expected(error: Mapping[str, Any]) -> str:
    """Return the accepted values: "mainnet or testnet"."""
    return str(error.get("ctx", {}).get("expected", "")).replace("'", "")
