"""Symbol and decimals of quote currencies. They never change, so they are read once."""

import asyncio
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.chain.bindings import quote_token
from backend.core.errors import SignumError
from backend.core.runtime import runtime

TIMEOUT = 3.0
"""Seconds that a chain has to answer."""


class QuoteTerms(NamedTuple):
    """How to display amounts of a quote currency."""

    symbol: str
    decimals: int


@dataclass
class KnownQuotes:
    """The terms that this process has read, by chain and address."""

    terms: dict[tuple[int, str], QuoteTerms] = field(default_factory=dict)


async def terms(eid: int, address: str | None) -> QuoteTerms | None:
    """Return the terms of the quote token at `address`; None if there is no token, or its chain does not answer."""
    if address is None:
        return None
    known = runtime.part(KnownQuotes).terms
    if (eid, address) not in known:
        try:
            async with asyncio.timeout(TIMEOUT):
                known[eid, address] = QuoteTerms(*await quote_token.details(eid, address))
        except (SignumError, TimeoutError):
            return None
    return known[eid, address]
