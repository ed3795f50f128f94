"""Decisions about bridges. Pure."""

from datetime import datetime

from backend.assets.rules import SHARED_DECIMALS
from backend.bridges.schemas import BridgeStatus
from backend.compliance.schemas import Resolution
from backend.errors import BadRequest, Conflict

LEAST_DVNS = 2
"""Independent DVNs that must verify every packet between mainnets, as LayerZero asks of production: with one, a third
party alone could mint."""
SETTING = "SIGNUM_BRIDGE_PATHS"


class TooFewVerifiers(Conflict):
    """Conflict"""

    def extensions(self) -> dict[str, str]:
        """The setting that an operator changes."""
        return {"setting": SETTING}


def check_verifiers(required: int, names: tuple[str, str], eids: tuple[int, int]) -> None:
    """409 where fewer than two DVNs are required on a path of mainnets."""
    if required < LEAST_DVNS:
        raise TooFewVerifiers(
            f"Packets from {names[0]} to {names[1]} must be verified by at least {LEAST_DVNS} required DVNs, and the "
            f"settings name {required or 'none'}. The operator of this installation names them in {SETTING}, for "
            f"{eids[0]} to {eids[1]}."
        )


class PathClosed(Conflict):
    """Conflict"""

    def __init__(self, detail: str, resolution: Resolution) -> None:
        super().__init__(detail)
        self.resolution = resolution

    def extensions(self) -> dict[str, object]:
        """The call that opens the path."""
        return {"resolution": self.resolution.model_dump()}


def check_open(is_paused: bool, room: int | None, amount: int, names: tuple[str, str], asset_path: str) -> None:
    """409 where a path is paused, or its limit leaves room for less than an amount. `room` is None without a limit."""
    between = f"between {names[0]} and {names[1]}"
    if is_paused:
        words = "Resume the path, or wait until it is resumed."
        raise PathClosed(
            f"The bridge path {between} is paused. Packets pass again once it is resumed.",
            Resolution(method="POST", path=f"{asset_path}/unpause-path", description=words),
        )
    if room is not None and amount > room:
        words = "Wait until a part of the window has passed, send less, or raise the limit."
        raise PathClosed(
            f"The limit of the bridge path {between} leaves room for {room} base units now, and {amount} are asked.",
            Resolution(method="POST", path=f"{asset_path}/limit-path", description=words),
        )


def verified_by(required: int, threshold: int, optional: int, confirmations: int) -> str:
    """Who verifies packets of a path, in a sentence."""
    beside = f" and {threshold} of {optional} optional ones" if threshold else ""
    return f"{required} required DVNs{beside} verify each packet, {confirmations} blocks deep."


def few_verifiers(source: str, destination: str) -> str:
    """What is said of such a path of test networks."""
    return (
        f"Fewer than {LEAST_DVNS} required DVNs verify packets from {source} to {destination}. Test networks allow "
        f"that; between mainnets the bridge would be refused until {SETTING} names them."
    )


def check_returnable(status: BridgeStatus, guid: str | None, returned_at: datetime | None) -> None:
    """409 where the supply of a bridge cannot be returned."""
    if returned_at is not None:
        raise Conflict("The supply of this bridge was returned already.")
    if status is not BridgeStatus.FAILED:
        raise Conflict(f"The bridge is {status}; the supply of a failed bridge can be returned.")
    if guid is None:
        raise Conflict("The bridge failed before its packet was sent. Nothing was burnt.")


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
