"""Checks of what a pack says about a chain, against the chain now at the pack's block."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from backend.assets.schemas import Holder
from backend.chain.bindings import token
from backend.chain.errors import RpcError
from backend.chain.rpc.json_rpc import connect
from backend.core.errors import NotFound, SignumError
from backend.evidence import record_checks, rules, token_states, words
from backend.evidence.pack import Unreadable
from backend.evidence.places import BATCH, MOST_RECORDS, MOST_SHOWN, Place, amount, hashed
from backend.evidence.schemas import (
    ChainState,
    CheckKind,
    CheckResult,
    EvidenceCell,
    EvidenceCheck,
)
from backend.evidence.token_states import TokenState

WITHOUT_STATE = (CheckKind.BLOCK, CheckKind.SUPPLY)
"""What the blocks and events of a chain tell, if its node does not keep the state of a block."""


async def checked(place: Place) -> list[EvidenceCheck]:
    """Return the checks of a chain. A check that the chain or the pack prevents says why."""
    _check_token(place)
    steps: list[tuple[CheckKind, str, Callable[[Place, TokenState], Awaitable[None]]]] = [
        (CheckKind.BLOCK, "Block", _check_block),
        (CheckKind.SUPPLY, "Supply", _check_supply),
        (CheckKind.BALANCES, "Balances", _check_balances),
        (CheckKind.RULES, "Compliance rules", _check_rules),
    ]
    state, why = await _state(place)
    for kind, subject, step in steps:
        if state is not None and (not why or kind in WITHOUT_STATE):
            await _tried(place, kind, subject, step(place, state))
        elif all(check.kind is not kind for check in place.checks):
            place.add(kind, subject, CheckResult.UNCHECKED, reason=why)
    await _tried(place, CheckKind.TRANSACTIONS, "Transactions", record_checks.check_transactions(place))
    await _tried(place, CheckKind.ATTESTATIONS, "Attestations", record_checks.check_attestations(place))
    return place.checks


async def _state(place: Place) -> tuple[TokenState | None, str]:
    """Return the token's state, and why it lacks what `WITHOUT_STATE` does not need."""
    if place.token is None:
        return None, f"Signum knows no token of this asset on {place.name}."
    eid, at, block = place.stated.chain_eid, place.token, place.stated.block
    try:
        return await token_states.read(eid, at, block), ""
    except NotFound as error:
        place.add(CheckKind.BLOCK, "Block", CheckResult.DIFFERS, reason=error.detail)
        return None, error.detail
    except (SignumError, RpcError) as error:
        why = _why(error)
    try:
        return await token_states.read_events(eid, at, place.first, block), why
    except (SignumError, RpcError):
        return None, why


async def _tried(place: Place, kind: CheckKind, subject: str, step: Awaitable[None]) -> None:
    try:
        await step
    except Unreadable as error:
        place.add(kind, subject, CheckResult.UNCHECKED, reason=str(error))
    except (SignumError, RpcError) as error:
        place.add(kind, subject, CheckResult.UNCHECKED, reason=_why(error))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        reason = "The pack's file does not have the values that a pack has."
        place.add(kind, subject, CheckResult.UNCHECKED, reason=reason)


def _why(error: Exception) -> str:
    return error.detail if isinstance(error, SignumError) else "The chain's node refused to answer."


def _check_token(place: Place) -> None:
    """Compare the token's address with the one that Signum deployed. All other checks read the latter."""
    expected = hashed(place.stated.token_address)
    if place.token is None:
        reason = f"Signum knows no token of this asset on {place.name}."
        place.add(CheckKind.TOKEN, "Token address", CheckResult.DIFFERS, expected=expected, reason=reason)
    elif place.token.lower() == place.stated.token_address.lower():
        place.add(CheckKind.TOKEN, "Token address", CheckResult.OK)
    else:
        found = hashed(place.token)
        place.add(CheckKind.TOKEN, "Token address", CheckResult.DIFFERS, expected=expected, found=found)


def _stated(place: Place) -> ChainState:
    """Return what `chains.json` states about the chain."""
    for state in place.pack.chains():
        if (state.chain_eid, state.block) == (place.stated.chain_eid, place.stated.block):
            return state
    raise Unreadable(f"chains.json does not have {place.name} at block {place.stated.block:,}.")


async def _check_block(place: Place, state: TokenState) -> None:
    expected = hashed(_stated(place).block_hash)
    found = hashed(state.block_hash)
    reason = f"The chain now has another block {place.stated.block:,}."
    place.compare(CheckKind.BLOCK, "Block", expected, found, reason=reason)


async def _check_supply(place: Place, state: TokenState) -> None:
    place.compare(CheckKind.SUPPLY, "Supply", amount(_stated(place).supply or 0), amount(state.supply or 0))


async def _check_balances(place: Place, state: TokenState) -> None:
    """Compare every holder's balance, and the sum of all with the supply: the sum misses a holder who was removed."""
    holders = place.pack.holders(place.stated.chain_eid, place.stated.block)
    total = sum(int(one.balance) for one in holders)
    place.compare(CheckKind.BALANCES, "All balances together", amount(total), amount(state.supply or 0))
    differing = await _count_differing(place, holders[:MOST_RECORDS])
    place.sum_up(CheckKind.BALANCES, "Balances of the holders", len(holders), differing)


async def _count_differing(place: Place, holders: Sequence[Holder]) -> int:
    """Add a check for each of the first holders whose balance differs, and return how many do."""
    rpc, differing = await connect(place.stated.chain_eid), 0
    for first in range(0, len(holders), BATCH):
        part = holders[first : first + BATCH]
        reads = [
            (token.NAME, place.token, name, one.address)
            for name in ("holdingOf", "balanceOf", "getFrozenTokens")
            for one in part
        ]
        answer = await rpc.read_many(reads, block=place.stated.block)
        size = len(part)
        amounts = zip(part, answer[:size], answer[size : 2 * size], answer[2 * size :], strict=True)
        for one, holding, free, frozen in amounts:
            said = {"Balance": one.balance, "In orders": one.escrowed, "Frozen": one.frozen or "0"}
            is_now = {"Balance": holding, "In orders": holding - free, "Frozen": _frozen(one, free, frozen)}
            different = [what for what in said if int(said[what]) != int(is_now[what])]
            differing += bool(different)
            if differing <= MOST_SHOWN:
                for what in different:
                    _add_holder(place, one, what, said[what], int(is_now[what]))
    return differing


def _frozen(one: Holder, free: int, frozen: int) -> int:
    """Return what a pack states of a frozen amount: the part of what the account has. Packs of earlier versions state
    the number that the contract stores, which may exceed it."""
    return frozen if int(one.frozen or 0) > free else min(frozen, free)


def _add_holder(place: Place, one: Holder, what: str, said: str, is_now: int) -> None:
    subject = f"{what} of {one.name or one.party_name or words.short(one.address)}"
    place.add(CheckKind.BALANCES, subject, CheckResult.DIFFERS, expected=amount(said), found=amount(is_now))


async def _check_rules(place: Place, state: TokenState) -> None:
    """Compare the hash of the pack's rules with the one of the token's rules; where they differ, name the rules."""
    eid = place.stated.chain_eid
    stated = next((one for one in place.pack.rules()["chains"] if one["chain_eid"] == eid), None)
    if stated is None:
        raise Unreadable(f"rules.json does not have the rules on {place.name}.")
    said, is_now = stated["in_force"] or {}, state.rules or {}
    names = [name for name in words.RULES if said.get(name) != is_now.get(name)]
    reason = "; ".join(
        f"{words.RULES[name]}: the pack says {_rule(said, name, place.decimals)}, the chain "
        f"{_rule(is_now, name, place.decimals)}"
        for name in names
    )
    place.compare(
        CheckKind.RULES,
        "Compliance rules",
        _rules_hash(said),
        _rules_hash(is_now),
        **({"reason": reason} if reason else {}),
    )
    place.compare(
        CheckKind.RULES,
        "Version of the rules",
        EvidenceCell(text=str(stated["version"] or 0)),
        EvidenceCell(text=str(state.rules_version or 0)),
    )


def _rules_hash(values: dict[str, Any]) -> EvidenceCell:
    return hashed(rules.rules_sha256(values))


def _rule(values: dict[str, Any], name: str, decimals: int) -> str:
    return words.rule(name, values[name], decimals) if name in values else "nothing"
