"""Rules of bridges. Pure functions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.assets.rules import SHARED_DECIMALS
from backend.bridges.schemas import BridgeStatus
from backend.core.errors import BadRequest, Conflict
from backend.core.problems.resolutions import call, example, known
from backend.core.problems.samples import REASON


class PathClosed(Conflict):
    """Conflict"""

    def __init__(self, detail: str, resolution: Mapping[str, Any]) -> None:
        super().__init__(detail)
        self.resolution = dict(resolution)

    def extensions(self) -> dict[str, object]:
        """The call that reopens the path."""
        return {"resolution": self.resolution}


@dataclass(frozen=True)
class Path:
    """A bridge path of an asset: the names and endpoint IDs of its chains, and the API's path of the asset."""

    names: tuple[str, str]
    eids: tuple[int, int]
    asset_path: str

    def resumed(self) -> dict[str, Any]:
        """Return the call that resumes the path."""
        return self._call("unpause-path", "Resume the path, or wait until it is resumed.")

    def limited(self, amount: str) -> dict[str, Any]:
        """Return the call that lets an amount pass."""
        words = "Wait for part of the window to pass, send less, or raise the limit."
        return self._call("limit-path", words, amount=example(amount))

    def _call(self, verb: str, words: str, **fields: dict[str, Any]) -> dict[str, Any]:
        ends = {"source_chain_eid": known(self.eids[0]), "destination_chain_eid": known(self.eids[1])}
        return call("POST", f"{self.asset_path}/{verb}", words, **ends, **fields, reason=REASON)


def check_open(is_paused: bool, room: int | None, amount: int, path: Path) -> None:
    """Raise 409 if a path is paused, or its limit leaves less room than an amount. `room` is `None` without a limit."""
    names = path.names
    between = f"between {names[0]} and {names[1]}"
    if is_paused:
        raise PathClosed(f"The bridge path {between} is paused. Resume it to let packets pass.", path.resumed())
    if room is not None and amount > room:
        raise PathClosed(
            f"The limit of the bridge path {between} leaves room for {room} base units now; the amount is {amount}.",
            path.limited(str(amount)),
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


def check_amount(amount: int, decimals: int, pointer: str = "/amount") -> None:
    """Raise 400 if an amount has more decimals than can cross."""
    unit = 10 ** (decimals - SHARED_DECIMALS)
    if amount % unit:
        raise BadRequest(
            f"Amounts cross with {SHARED_DECIMALS} decimals. Use a multiple of {unit} base units.", pointer=pointer
        )
