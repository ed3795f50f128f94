"""API schemas of search results."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints

from backend.core.content_rules import PLAIN, at_most, one_line, visible
from backend.core.fields import Record


def single_spaced(text: str) -> str:
    """Return a text with one space between its words."""
    return " ".join(text.split())


Words = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    AfterValidator(one_line),
    AfterValidator(visible),
    AfterValidator(single_spaced),
    Field(json_schema_extra={"pattern": PLAIN["name"]}),
    BeforeValidator(at_most(100)),
]
"""A search text."""


class Kind(StrEnum):
    """Kind of a result."""

    ORGANIZATION = "organization"
    ASSET = "asset"
    MARKET = "market"
    DISTRIBUTION = "distribution"
    PARTY = "party"
    MEMBER = "member"
    INVITATION = "invitation"
    WALLET = "wallet"
    ATTESTATION = "attestation"
    TRANSFER = "transfer"
    BRIDGE = "bridge"
    REQUEST = "request"
    API_KEY = "api_key"
    CHAIN = "chain"


class Found(Record):
    """A search result: `title` is its name, `detail` adds facts; the organization is named. Of a chain, it is the
    organization that was searched."""

    kind: Kind
    id: UUID
    organization_id: UUID
    organization_name: str
    title: str
    detail: str


class SearchResults(BaseModel):
    """The best matches, best first."""

    results: list[Found]
