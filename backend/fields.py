"""The types of fields that more than one vertical has: what may cross the door, and how it is written."""

import re
from datetime import MAXYEAR, UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

import pycountry
from eth_utils.address import is_address, is_checksum_address, to_checksum_address
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    EmailStr,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    Strict,
    StringConstraints,
)
from pydantic_core import CoreSchema, core_schema

MAX_UINT256 = 2**256 - 1
BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Unicode's property Bidi_Control: with U+202E, `gnp.exe` reads as `exe.png`."""
COUNTRIES = frozenset(c.alpha_3 for c in pycountry.countries)


def timestamp(value: datetime) -> str:
    """As every time leaves the API: RFC 3339 in UTC with Z and six decimals."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _moment(value: datetime) -> datetime:
    try:
        moment = value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("is not a time of the years 1 to 9998") from error
    if moment.year == MAXYEAR:
        raise ValueError("is not a time of the years 1 to 9998")
    return moment


def _written_out(value: Any) -> Any:
    is_text = isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value, re.ASCII)
    if not is_text and not isinstance(value, datetime):
        raise ValueError("is a time with its zone, such as 2026-01-31T12:00:00Z")
    return value


def _address(value: str) -> str:
    if not is_address(value) or not value.startswith("0x"):
        raise ValueError("is not an EVM address (0x and 40 hexadecimal digits)")
    if value not in (value.lower(), "0x" + value[2:].upper()) and not is_checksum_address(value):
        raise ValueError("has a wrong EIP-55 checksum; check for a typing error, or send it in lower case")
    return str(to_checksum_address(value))


def _amount(value: Any) -> Any:
    if isinstance(value, bool | float) or not isinstance(value, str):
        raise ValueError('is a decimal string of base units, such as "1000000"')
    if not re.fullmatch(r"[0-9]{1,78}", value, re.ASCII):
        raise ValueError('is a decimal string of base units, 1 to 78 digits, such as "1000000"')
    if int(value) > MAX_UINT256:
        raise ValueError("is larger than a chain can hold (2^256 - 1)")
    return value


def _whole(value: Any) -> Any:
    """The specification's "double": any JSON number, but it must be integral."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("is a whole number")
    if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
        raise ValueError("is a whole number")
    return int(value)


def _country(value: str) -> str:
    if value not in COUNTRIES:
        raise ValueError("is not an assigned ISO 3166-1 alpha-3 country code in upper case, such as USA")
    return value


def _is_control(character: str) -> bool:
    code = ord(character)
    return code < 32 or 0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF


def _clean(value: str) -> str:
    if any(_is_control(c) and c not in "\n\t" for c in value):
        raise ValueError("has control characters")
    if any(c in BIDI for c in value):
        raise ValueError("has bidirectional control characters, which make text read differently from what it says")
    if re.search(r"<[a-zA-Z/!?]", value):
        raise ValueError("has markup; plain text is taken here")
    return value


def one_line(value: str) -> str:
    """Plain text without line breaks or tabs."""
    if any(c in "\n\t\u2028\u2029" for c in value):
        raise ValueError("has a line break; one line is taken here")
    return _clean(value)


def _no_doubles(values: list[Any]) -> list[Any]:
    if len(set(values)) != len(values):
        raise ValueError("names something twice")
    return values


class NullIs:
    """`null` in a body means the same as leaving the field out: its default."""

    def __init__(self, default: Any) -> None:
        self.default = default

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """How Pydantic reads it."""
        return core_schema.no_info_before_validator_function(
            lambda value: self.default if value is None else value, handler(source)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """How the document shows it."""
        return {"anyOf": [handler(schema), {"type": "null"}]}


def never_null(schema: dict[str, Any]) -> None:
    """For a field of a merge patch that can be left out but not taken away: its schema without null."""
    kinds = [kind for kind in schema.pop("anyOf") if kind != {"type": "null"}]
    schema.pop("default", None)
    schema.update(kinds[0])


_BIDI = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL = rf"\u0000-\u0008\u000b-\u001f\u007f-\u009f{_BIDI}"
_BREAKS = rf"\u0000-\u001f\u007f-\u009f\u2028\u2029{_BIDI}"
PLAIN = {
    "text": rf"^([^<{_CONTROL}]|<(?![a-zA-Z/!?]))*$",
    "reason": rf"^(?!\s*$)([^<{_CONTROL}]|<(?![a-zA-Z/!?]))*$",
    "line": rf"^([^<{_BREAKS}]|<(?![a-zA-Z/!?]))*$",
    "name": rf"^(?!\s*$)([^<{_BREAKS}]|<(?![a-zA-Z/!?]))*$",
}
"""What `_clean` and `one_line` take, as the document has it: no control characters, bidirectional ones
included, no markup, not only spaces."""
ADDRESS, COUNTRY, UINT256 = "eip-55", "iso-3166-1-alpha-3", "uint256"
"""Formats that say more than a pattern can: the checksum of an address, assigned codes, what a chain can hold."""
Flag = Annotated[bool, Strict()]
"""`true` or `false` as JSON has them, and neither 1 nor "yes"."""
Timestamp = Annotated[datetime, PlainSerializer(timestamp, return_type=str)]
"""RFC 3339 in UTC with Z and six decimals."""
Address = Annotated[
    str,
    StringConstraints(max_length=42),
    AfterValidator(_address),
    Field(json_schema_extra={"pattern": "^0x[0-9a-fA-F]{40}$", "format": ADDRESS}),
]
"""All-lower or a right EIP-55 checksum goes in, EIP-55 comes out."""
TokenAmount = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,78}$", examples=["1000000000000000000"], json_schema_extra={"format": UINT256}),
    BeforeValidator(_amount),
]
"""Decimal string of base units below 2^256."""
Whole = Annotated[int, BeforeValidator(_whole)]
"""A JSON number that is integral ("double" in the specification)."""
WaitHours = Annotated[Whole, Field(ge=0, le=168)]
"""Hours for which a new approver waits: at most the 7 days for which a request waits for a second person."""
Eid = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=2**32 - 1)]
"""LayerZero endpoint id."""
Bps = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=10_000)]
"""Basis points, 0 to 10,000."""
KycLevel = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=255)]
UnixTime = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=253_370_764_799)]
"""Seconds until the end of the year 9998, so that every one is a date; 0 means none."""
Moment = Annotated[AwareDatetime, BeforeValidator(_written_out), AfterValidator(_moment)]
"""A time with its zone goes in, UTC comes out; a number of seconds is none, and a year that database or calendar do not
have is refused."""
Count = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=2**32 - 1)]
"""A count; 0 means unlimited where it is a cap."""
Country = Annotated[
    str,
    StringConstraints(min_length=3, max_length=3),
    AfterValidator(_country),
    Field(json_schema_extra={"pattern": "^[A-Z]{3}$", "format": COUNTRY}),
]
Countries = Annotated[
    list[Country], Field(max_length=250, json_schema_extra={"uniqueItems": True}), AfterValidator(_no_doubles)
]
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=120),
    AfterValidator(one_line),
    Field(json_schema_extra={"pattern": PLAIN["name"]}),
]
Text = Annotated[
    str,
    StringConstraints(max_length=2_000),
    AfterValidator(_clean),
    Field(json_schema_extra={"pattern": PLAIN["text"]}),
]
Email = Annotated[EmailStr, AfterValidator(str.lower)]
"""An address as it is kept: lower case, its domain in Unicode."""
Search = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=100),
    AfterValidator(one_line),
    Field(json_schema_extra={"pattern": PLAIN["line"]}),
]
"""What a person types to find something."""
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    AfterValidator(_clean),
    Field(json_schema_extra={"pattern": PLAIN["reason"]}),
]


class RegulationType(StrEnum):
    """The framework an asset or market is offered under."""

    REG_D = "reg_d"
    REG_S = "reg_s"
    REG_A_PLUS = "reg_a_plus"
    REG_CF = "reg_cf"
    NONE = "none"


class Network(StrEnum):
    """Which chains a key or an organization works on."""

    TESTNET = "testnet"
    MAINNET = "mainnet"


class Body(BaseModel):
    """A request body: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Record(BaseModel):
    """Something a response carries."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)


class Acceptance(Record):
    """What an asynchronous operation answers at once."""

    accepted: bool = True
    status: str
    request_id: str = Field(serialization_alias="requestId", validation_alias="requestId")
    message: str
