"""Rules of bridges. Pure functions."""

from collections.abc import Mapping
from datetime import datetime

from backend.assets.rules import SHARED_DECIMALS
from backend.bridges.schemas import BridgeStatus
from backend.core.errors import BadRequest, Conflict


class PathClosed(Conflict):
    """Conflict"""

    def __init__(self, detail: str, resolution: Mapping[str, str]) -> None:
        super().__init__(detail)
        self.resolution = dict(resolution)

    def extensions(self) -> dict[str, object]:
        """The call that reopens the path."""
        return {"resolution": self.resolution}


def check_open(is_paused: bool, room: int | None, amount: int, names: tuple[str, str], asset_path: str) -> None:
    """Raise 409 if a path is paused, or its limit leaves less room than an amount. `room` is `None` without a limit."""
    between = f"between {names[0]} and {names[1]}"
    if is_paused:
        words = "Resume the path, or wait until it is resumed."
        raise PathClosed(
            f"The bridge path {between} is paused. Resume it to let packets pass.",
            {"method": "POST", "path": f"{asset_path}/unpause-path", "description": words},
        )
    if room is not None and amount > room:
        words = "Wait for part of the window to pass, send less, or raise the limit."
        raise PathClosed(
            f"The limit of the bridge path {between} leaves room for {room} base units now; the amount is {amount}.",
            {"method": "POST", "path": f"{asset_path}/limit-path", "description": words},
        )


def check_returnable(status: BridgeStatus, guid: str | None, returned_at: datetime | None) -> None:
    """Raise 409 if the supply of a bridge cannot be returned."""
    if returned_at is not None:
        raise Conflict("The supply of this bridge was already returned.")
    if status is not BridgeStatus.FAILED:
        raise Conflict(f"The bridge is {status}. Only the supply of a failed bridge can be returned.")
    if guid is None:
        raise Conflict("The bridge failed before its packet was sent. Nothing was burned.")


def check_route(source_eid: int, destination_eid: int) -> None:
    """Raise 400 if source and destination are the same."""
    if source_eid == destination_eid:
        raise BadRequest("Source and destination are the same chain.", pointer="/destination_chain_eid")


def check_amount(amount: int, decimals: int) -> None:
    """Raise 400 if an amount has more decimals than can cross."""
    unit = 10 ** (decimals - SHARED_DECIMALS)
    if amount % unit:
        raise BadRequest(
            f"Amounts cross with {SHARED_DECIMALS} decimals. Use a multiple of {unit} base units.", pointer="/amount"
        )
