"""Everything that is stored about an investor in an organization, as one JSON file.

It is streamed in parts: a slow reader holds no connection, and only one part is in memory."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel

from backend.auth.principal import Context
from backend.core.db import now
from backend.core.fields import timestamp
from backend.investor_records import data_sections
from backend.investor_records.schemas import DataConsent
from backend.investors import profile
from backend.limits import rate_limits

PART = 500
"""Records read at a time."""


@dataclass(frozen=True)
class Data:
    """The beginning of a file, which was read already, and the name of the file."""

    name: str
    head: dict[str, Any]


async def prepare(context: Context, membership_id: UUID) -> Data:
    """Enter the organization; read account, membership and consent. 404 where the membership is not the investor's."""
    await rate_limits.hit(rate_limits.INVESTOR_DATA, "investor_data", str(context.user_id))
    investor = await profile.investor(context, membership_id)
    made_at = now()
    consent = DataConsent(
        seen_by=[investor.organization_name, *investor.organizations_above],
        agreed_at=investor.agreed_at,
        since=investor.agreed_at or investor.member_since,
    )
    head = {
        "made_at": timestamp(made_at),
        "organization_id": str(investor.organization_id),
        "organization_name": investor.organization_name,
        "account": (await data_sections.account(context)).model_dump(mode="json"),
        "membership": (await data_sections.membership(context)).model_dump(mode="json"),
        "consent": consent.model_dump(mode="json"),
    }
    place = re.sub("[^a-z0-9]+", "-", investor.organization_name.lower()).strip("-")[:60] or "organization"
    return Data(f"my-data-{place}-{made_at:%Y-%m-%d}.json", head)


async def stream(context: Context, data: Data) -> AsyncIterator[bytes]:
    """Yield the file: the head, then every list."""
    yield orjson.dumps(data.head, option=orjson.OPT_INDENT_2).removesuffix(b"\n}")
    for name, page in data_sections.PAGES.items():
        yield f',\n  "{name}": ['.encode()
        separator = b""
        async for part in _parts(context, page):
            yield separator + b",".join(b"\n    " + orjson.dumps(one.model_dump(mode="json")) for one in part)
            separator = b","
        yield b"\n  ]"
    yield b"\n}\n"


async def _parts(context: Context, page: data_sections.Page) -> AsyncIterator[list[BaseModel]]:
    """Yield the records of a list, each part from a short transaction of its own."""
    skip = 0
    while True:
        async with context.in_later_read() as later:
            found = await page(later, PART, skip)
        if found:
            yield found
        if len(found) < PART:
            return
        skip += PART
