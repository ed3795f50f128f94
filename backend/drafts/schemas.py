"""Request and response bodies of drafts."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from backend.core.content_rules import PLAIN, plain_text
from backend.core.fields import Body, Record

MOST = 16_384
"""Characters of a draft's content."""


class DraftKind(StrEnum):
    """The form that a draft is of."""

    MARKET = "market"
    ASSET = "asset"
    DISTRIBUTION = "distribution"


Content = Annotated[
    str,
    StringConstraints(max_length=MOST),
    AfterValidator(plain_text),
    Field(json_schema_extra={"pattern": PLAIN["text"]}),
]


class DraftWrite(Body):
    """A draft's content replaces the previous one. Signum does not interpret it: the console writes JSON."""

    content: Content = Field(json_schema_extra={"examples": ['{"step": 2, "taker_fee_bps": "30"}']})


class Draft(Record):
    """A draft of the signed-in person. It is deleted 30 days after it was last saved."""

    kind: DraftKind
    content: Content
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
