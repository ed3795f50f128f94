"""The contract call of each act, and the event that confirms it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from backend.chain.abi.calls import Call
from backend.chain.bindings import token
from backend.controls import rules

Arguments = Mapping[str, Any]
LABELS: Final = {
    "minted": "tokens minted",
    "taken": "tokens taken",
    "burned": "tokens burned",
    "paused": "token paused",
    "unpaused": "token unpaused",
    "frozen": "account frozen",
    "unfrozen": "account unfrozen",
    "moved": "tokens moved",
    "recovered": "wallet recovered",
    "path_paused": "bridge path paused",
    "path_unpaused": "bridge path resumed",
    "path_limited": "bridge path limited",
}
"""Labels of the transactions of acts. Plans and the steps of requests use `wording.planned`."""
EVENTS: Final = {
    "minted": "Transfer",
    "taken": "ForcedTransfer",
    "burned": "Transfer",
    "paused": "Paused",
    "unpaused": "Unpaused",
    "frozen": "Frozen",
    "unfrozen": "Frozen",
    "moved": "ForcedTransfer",
    "recovered": "Recovered",
    "path_paused": "PathPauseSet",
    "path_unpaused": "PathPauseSet",
    "path_limited": "PathLimitSet",
}
_CALLS: Final[Mapping[str, Callable[[str, str, Arguments], Call]]] = {
    "minted": lambda at, owner, a: token.mint(at, a["to_address"], int(a["amount"])),
    "taken": lambda at, owner, a: token.forced_transfer(at, a["address"], owner, int(a["amount"])),
    "burned": lambda at, owner, a: token.burn(at, int(a["amount"])),
    "paused": lambda at, owner, a: token.pause(at),
    "unpaused": lambda at, owner, a: token.unpause(at),
    "moved": lambda at, owner, a: token.forced_transfer(at, a["from_address"], a["to_address"], int(a["amount"])),
    "recovered": lambda at, owner, a: token.recover(at, a["lost_address"], a["new_address"], a["orders"]),
}


CALCULATED: Final = frozenset({"frozen", "unfrozen"})
"""Acts whose amount depends on the state of the chain: the contract takes the frozen amount afterwards."""
PATH_ACTS: Final = frozenset({"path_paused", "path_unpaused", "path_limited"})


def requested(arguments: Arguments) -> dict[str, Any]:
    """Return the wanted control of a request's arguments: its chains, addresses, amount and reason."""
    inner = ("order", "acts", "moves", "waits_because", "revokes")
    return {name: value for name, value in arguments.items() if name not in inner and value is not None}


async def call_of(act: str, eid: int, at: str, owner: str, arguments: Arguments) -> Call:
    """Return the call of an act; for a recovery, the arguments also contain the `orders` to cancel. A new frozen amount
    is calculated from the current one: 409 if that is not possible."""
    if act in PATH_ACTS:
        return _path_call(act, eid, at, arguments)
    if act not in CALCULATED:
        return _CALLS[act](at, owner, arguments)
    address, amount = arguments["address"], _amount(arguments)
    frozen = await token.frozen_of(eid, at, address)
    if act == "frozen":
        return token.set_frozen(at, address, rules.frozen_more(frozen, amount))
    balance = await token.balance_of(eid, at, address)
    return token.set_frozen(at, address, rules.frozen_less(frozen, balance, amount))


def _path_call(act: str, eid: int, at: str, arguments: Arguments) -> Call:
    """Return the call at one end of a path: it names the other end."""
    ends = (arguments["source_chain_eid"], arguments["destination_chain_eid"])
    other = ends[1] if eid == ends[0] else ends[0]
    if act == "path_limited":
        amount = _amount(arguments) or 0
        return token.set_path_limit(at, other, amount, arguments["window_seconds"] if amount else 0)
    return token.set_path_paused(at, other, act == "path_paused")


def _amount(arguments: Arguments) -> int | None:
    return None if arguments["amount"] is None else int(arguments["amount"])
