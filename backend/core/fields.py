"""Field types that several verticals share: validation of input and serialization of output."""

import re
from datetime import MAXYEAR, UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Self
from uuid import UUID

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
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from backend.core.content_rules import (
    PLAIN,
    SHOWN_TIME_LENGTH,
    TIME_LENGTH,
    UUID_LENGTH,
    at_most,
    one_line,
    plain_text,
    shorten,
    texts_of,
    visible,
)

MAX_UINT256 = 2**256 - 1
COUNTRIES = frozenset(c.alpha_3 for c in pycountry.countries)


def timestamp(value: datetime) -> str:
    """Return a time in the API's form: RFC 3339 in UTC with Z and six decimals."""
    # Not strftime, which writes the year 784 with three digits.
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _moment(value: datetime) -> datetime:
    try:
        moment = value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("is not a time in the years 1 to 9998") from error
    if moment.year == MAXYEAR:
        raise ValueError("is not a time in the years 1 to 9998")
    return moment


def _written_out(value: Any) -> Any:
    is_text = isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d", value, re.ASCII)
    if not is_text and not isinstance(value, datetime):
        raise ValueError(
            "must be a time with a time zone, such as 2026-01-31T12:00:00Z; Unix timestamps are not accepted"
        )
    if isinstance(value, str) and len(value) > TIME_LENGTH:
        raise ValueError(f"must be a time of at most {TIME_LENGTH} characters, such as 2026-01-31T12:00:00.000000Z")
    return value


def _hyphenated(value: Any) -> Any:
    if isinstance(value, str) and len(value) > UUID_LENGTH:
        raise ValueError(f"must be a UUID of at most {UUID_LENGTH} characters")
    return value


def _address(value: str) -> str:
    if not is_address(value) or not value.startswith("0x"):
        raise ValueError("is not an EVM address (0x and 40 hexadecimal digits)")
    if value not in (value.lower(), "0x" + value[2:].upper()) and not is_checksum_address(value):
        raise ValueError("has a wrong EIP-55 checksum; check for a typo, or send it in lower case")
    return str(to_checksum_address(value))


def _amount(value: Any) -> Any:
    if isinstance(value, bool | float) or not isinstance(value, str):
        raise ValueError('must be a decimal string of base units, such as "1000000"')
    if not re.fullmatch(r"[0-9]{1,78}", value, re.ASCII):
        raise ValueError('must be a decimal string of base units, 1 to 78 digits, such as "1000000"')
    if int(value) > MAX_UINT256:
        raise ValueError("is larger than a chain can hold (2^256 - 1)")
    return value


def _whole(value: Any) -> Any:
    """Validate the specification's "double": any JSON number with an integral value."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("must be a whole number")
    if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
        raise ValueError("must be a whole number")
    return int(value)


def _country(value: str) -> str:
    if value not in COUNTRIES:
        raise ValueError("is not an ISO 3166-1 alpha-3 country code such as SWE, in upper case")
    return value


def _no_doubles(values: list[Any]) -> list[Any]:
    if len(set(values)) != len(values):
        raise ValueError("contains duplicates")
    return values


class NullIs:
    """`null` in a body means the same as omitting the field: its default."""

    def __init__(self, default: Any) -> None:
        self.default = default

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema with which Pydantic validates."""
        return core_schema.no_info_before_validator_function(
            lambda value: self.default if value is None else value, handler(source)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema in the API document."""
        return {"anyOf": [handler(schema), {"type": "null"}]}


def never_null(schema: dict[str, Any]) -> None:
    """Remove null from the schema of a merge-patch field that can be omitted but not removed."""
    kinds = [kind for kind in schema.pop("anyOf") if kind != {"type": "null"}]
    schema.pop("default", None)
    schema.update(kinds[0])


def removed_by(value: str, is_required: bool = False) -> BeforeValidator:
    """Refuse null for a protection, and name the value that removes it.

    Clients that serialize unset fields as null would otherwise remove it without a word.
    """
    way = f"Send {value} to remove it" if is_required else f"Omit the field to keep it, or send {value} to remove it"

    def given(sent: Any) -> Any:
        if sent is None:
            raise ValueError(f"must not be null. {way}")
        return sent

    return BeforeValidator(given)


def explained(words: str) -> WrapValidator:
    """Report an invalid value of a union at its own place and in these words, not once for each kind of value."""

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise ValueError(words) from None

    return WrapValidator(check)


KEPT = Field(json_schema_extra=never_null)
"""A merge-patch field that can be omitted but is never null."""
ADDRESS, COUNTRY, UINT256 = "eip-55", "iso-3166-1-alpha-3", "uint256"
"""Formats for rules that a pattern cannot express: an address checksum, assigned codes, the largest uint256."""
Flag = Annotated[bool, Strict()]
"""JSON `true` or `false`; 1 and "yes" are refused."""
_Shown = Annotated[str, Field(max_length=SHOWN_TIME_LENGTH, json_schema_extra={"format": "date-time"})]
Timestamp = Annotated[datetime, PlainSerializer(timestamp, return_type=_Shown)]
"""RFC 3339 in UTC with Z and six decimals."""
Id = Annotated[UUID, BeforeValidator(_hyphenated)]
"""The ID of a record, in a body."""
Address = Annotated[
    str,
    StringConstraints(max_length=42),
    AfterValidator(_address),
    Field(json_schema_extra={"pattern": "^0x[0-9a-fA-F]{40}$", "format": ADDRESS}),
]
"""Accepts all lower case or a correct EIP-55 checksum; returns EIP-55."""
TokenAmount = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{1,78}$",
        examples=["1000000000000000000"],
        json_schema_extra={"format": UINT256, "maxLength": 78},
    ),
    BeforeValidator(_amount),
]
"""Decimal string of base units below 2^256."""
Whole = Annotated[int, BeforeValidator(_whole)]
"""JSON number with an integral value ("double" in the specification)."""
WaitHours = Annotated[Whole, Field(ge=0, le=168)]
"""Hours for which a new approver waits: at most the 7 days that a request waits for a second person."""
Eid = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=2**32 - 1)]
"""LayerZero endpoint id."""
Bps = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=10_000)]
"""Basis points, 0 to 10,000."""
KycLevel = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=255)]
UnixTime = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=253_370_764_799)]
"""Seconds until the end of the year 9998, so that every value is a valid date; 0 means no time."""
Moment = Annotated[AwareDatetime, BeforeValidator(_written_out), AfterValidator(_moment)]
"""Accepts a time with a time zone; returns UTC.

Unix timestamps are refused, as are years that the database or the calendar lacks.
"""
Count = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=2**32 - 1)]
"""A count. As a cap, 0 means unlimited."""
Country = Annotated[
    str,
    AfterValidator(_country),
    Field(json_schema_extra={"pattern": "^[A-Z]{3}$", "format": COUNTRY, "minLength": 3, "maxLength": 3}),
]
Countries = Annotated[
    list[Country], Field(max_length=250, json_schema_extra={"uniqueItems": True}), AfterValidator(_no_doubles)
]
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=120),
    AfterValidator(one_line),
    AfterValidator(visible),
    Field(json_schema_extra={"pattern": PLAIN["name"]}),
    BeforeValidator(at_most(120)),
]
Text = Annotated[
    str,
    StringConstraints(max_length=2_000),
    AfterValidator(plain_text),
    Field(json_schema_extra={"pattern": PLAIN["text"]}),
]
Email = Annotated[EmailStr, AfterValidator(str.lower)]
"""Email address as stored: lower case, with its domain in Unicode."""
Search = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=100),
    AfterValidator(one_line),
    Field(json_schema_extra={"pattern": PLAIN["line"]}),
    BeforeValidator(at_most(100)),
]
"""Text to search for."""
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    AfterValidator(plain_text),
    AfterValidator(visible),
    Field(json_schema_extra={"pattern": PLAIN["reason"]}),
    BeforeValidator(at_most(500)),
]


class RegulationType(StrEnum):
    """The framework under which an asset or market is offered."""

    REG_D = "reg_d"
    REG_S = "reg_s"
    REG_A_PLUS = "reg_a_plus"
    REG_CF = "reg_cf"
    NONE = "none"


class Network(StrEnum):
    """The networks that a key or an organization works on."""

    TESTNET = "testnet"
    MAINNET = "mainnet"


class Body(BaseModel):
    """A request body. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Changes(Body):
    """The body of a PATCH, which changes something."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _change_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"must have at least one of these fields: {', '.join(type(self).model_fields)}")
        return self


class Record(BaseModel):
    """A record in a response. Its texts are shortened to what the document says, if their type has no length."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)

    @model_validator(mode="after")
    def _shorten(self) -> Self:
        shorten(self.__dict__, texts_of(type(self)))
        return self


class Acceptance(Record):
    """The immediate response of an asynchronous operation."""

    accepted: bool = True
    status: str
    request_id: str = Field(serialization_alias="requestId", validation_alias="requestId")
    message: str


class VmType(StrEnum):
    """The virtual machine of a chain."""

    EVM = "evm"
    SOLANA = "solana"


class Environment(StrEnum):
    """The stakes of a chain. `devnet` chains are the embedded ones: nothing on them has value."""

    MAINNET = "mainnet"
    TESTNET = "testnet"
    DEVNET = "devnet"


class ChainStatus(StrEnum):
    """Result of the last check of a chain.

    `degraded`: a node fails in part, but work continues. `down`: work has stopped, or the chain has not been checked
    for a while.
    """

    ACTIVE = "active"
    DEGRADED = "degraded"
    DOWN = "down"


class ClientKind(StrEnum):
    """`confidential` clients keep a secret on a server; `public` clients run on the user's device and have none.

    Both need PKCE.
    """

    CONFIDENTIAL = "confidential"
    PUBLIC = "public"
