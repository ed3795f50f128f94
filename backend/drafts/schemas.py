"""Request and response bodies of drafts."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field

from backend.core.fields import Body, Record

MOST = 16_384
"""Bytes of a draft's content as JSON."""


class DraftKind(StrEnum):
    """The form that a draft is of."""

    MARKET = "market"
    ASSET = "asset"
    DISTRIBUTION = "distribution"


def _small(content: dict[str, Any]) -> dict[str, Any]:
    size = len(orjson.dumps(content))
    if size > MOST:
        raise ValueError(f"has {size:,} bytes as JSON; a draft has at most {MOST:,}")
    return content


Content = Annotated[dict[str, Any], AfterValidator(_small), Field(max_length=100)]


class DraftWrite(Body):
    """A draft's content replaces the previous one. Signum does not interpret it."""

    content: Content = Field(
        json_schema_extra={"examples": [{"step": 2, "asset": "harbour-house", "taker_fee_bps": "30"}]}
    )


class Draft(Record):
    """A draft of the signed-in person. It is deleted 30 days after it was last saved."""

    kind: DraftKind
    content: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
