"""Decisions about bridges. Pure."""

from backend.assets.rules import SHARED_DECIMALS
from backend.errors import BadRequest


def check_route(source_eid: int, destination_eid: int) -> None:
    """400 where a bridge would lead nowhere."""
    if source_eid == destination_eid:
        raise BadRequest("Source and destination are the same chain.", pointer="/destination_chain_eid")


def check_amount(amount: int, decimals: int) -> None:
    """400 where a part of an amount is too fine to cross."""
    unit = 10 ** (decimals - SHARED_DECIMALS)
    if amount % unit:
        raise BadRequest(
            f"Amounts cross with {SHARED_DECIMALS} decimals: a multiple of {unit} base units.", pointer="/amount"
        )
