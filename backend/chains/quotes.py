"""Symbol and decimals of quote currencies. A token's never change, so they are asked for once."""

import asyncio
from typing import NamedTuple

from backend.chain import quote
from backend.errors import SignumError

TIMEOUT = 3.0
"""Seconds a chain has to answer."""


class QuoteTerms(NamedTuple):
    """How amounts of a quote currency are written."""

    symbol: str
    decimals: int


_known: dict[tuple[int, str], QuoteTerms] = {}


async def terms(eid: int, address: str | None) -> QuoteTerms | None:
    """The terms of the quote token at `address`; None where there is none, or its chain does not answer."""
    if address is None:
        return None
    if (eid, address) not in _known:
        try:
            async with asyncio.timeout(TIMEOUT):
                _known[eid, address] = QuoteTerms(*await quote.details(eid, address))
        except (SignumError, TimeoutError):
            return None
    return _known[eid, address]
