"""What a person has entered in the market wizard, as their draft stores it."""

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import TypeAdapter

from state.compliance.rules import Rules


@dataclass
class MarketDraft:
    """Asset, chain, token, fees in basis points, the step from 0, the rules, and the amount to bridge in tokens."""

    asset: str
    eid: int
    own_token: str
    taker: str
    maker: str
    at: Annotated[int, Ge(0), Le(4)]
    rules: Rules
    amount: str = ""


def market_draft(content: dict[str, Any]) -> MarketDraft:
    """Read a stored draft. Raises ValueError if it is malformed."""
    return TypeAdapter(MarketDraft).validate_python(content)
