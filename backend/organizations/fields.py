"""The types of an organization's fields."""

import re
from typing import Annotated

from email_validator import EmailNotValidError, validate_email
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from backend.core.content_rules import PLAIN, at_most, one_line, visible
from backend.core.fields import COUNTRIES, COUNTRY


def _https(value: str) -> str:
    if not value.startswith(("https://", "http://")) or any(c in value for c in " <>\"'"):
        raise ValueError("is not an HTTPS URL")
    return one_line(value)


def _domain(value: str) -> str:
    """A domain in DNS form: lower case, ASCII."""
    try:
        return str(validate_email(f"any@{value.strip().removeprefix('@')}", check_deliverability=False).ascii_domain)
    except EmailNotValidError as error:
        raise ValueError("is not a mail domain, such as example.com") from error


Domain = Annotated[
    str,
    StringConstraints(min_length=1, max_length=253),
    AfterValidator(_domain),
    Field(json_schema_extra={"format": "hostname"}),
]
Kind = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60),
    AfterValidator(one_line),
    AfterValidator(visible),
    Field(json_schema_extra={"pattern": PLAIN["name"]}),
    BeforeValidator(at_most(60)),
]


def _jurisdiction(value: str) -> str:
    """Free text, such as a state of a federation; a value that looks like a country code must be a valid one."""
    if re.fullmatch("[A-Z]{3}", value) and value not in COUNTRIES:
        raise ValueError("is not an assigned ISO 3166-1 alpha-3 country code, such as LUX")
    return value


Jurisdiction = Annotated[
    Kind,
    AfterValidator(_jurisdiction),
    Field(json_schema_extra={"if": {"pattern": r"^\s*[A-Z]{3}\s*$"}, "then": {"format": COUNTRY}}),
]
Url = Annotated[
    str,
    StringConstraints(max_length=500),
    AfterValidator(_https),
    Field(json_schema_extra={"pattern": r"^https?://[^ <>\"'\u0000-\u001f\u007f-\u009f\u2028\u2029]*$"}),
]
