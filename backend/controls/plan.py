"""From a requested control to its execution: acts by chain, what they change, and the rules that refuse them."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from backend.assets.transfer_check import Place
from backend.attestations.revocations import resolved
from backend.auth.principal import Context
from backend.chain.bindings import quote_token
from backend.chain.devnet import clock
from backend.compliance.refusal import Refused
from backend.compliance.rules import Account, evaluate
from backend.controls import facts, lost_attestations, paths, rules
from backend.controls.facts import Facts
from backend.controls.schemas import (
    Burn,
    Change,
    Control,
    ControlKind,
    ForcedTransfer,
    Freeze,
    LimitPath,
    Mint,
    Pause,
    PausePath,
    Recover,
)
from backend.core import db
from backend.core.errors import Conflict
from backend.core.fields import MAX_UINT256
from backend.markets import escrow
from backend.markets.escrow import Held


@dataclass
class Deed:
    """What a control will do: the places with their owners, the acts on each, and the changes."""

    places: list[tuple[Place, str]]
    acts: list[str]
    changes: list[Change] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    orders: dict[str, list[int]] = field(default_factory=dict)
    """By market, the open orders that are cancelled first."""
    in_orders: dict[str, int] = field(default_factory=dict)
    """By account, what markets hold for its open orders, out of reach until they end."""
    unattested: str = ""
    """The account that loses its tokens without its consent, if it has no valid attestation; empty otherwise."""
    revokes: bool = False
    """Whether a recovery ends with the revocation of the lost wallet's attestation: the organization is an issuer."""
    attested: bool = False
    """Whether there is such an attestation now."""


async def deed(context: Context, asset_id: UUID, kind: ControlKind, body: Control) -> Deed:
    """Return what a control would do now. Raises Refused with every rule against it; Conflict or BadRequest
    otherwise."""
    planner = _Planner(context, asset_id, kind)
    if isinstance(body, Mint):
        return await planner.mint(body)
    if isinstance(body, Burn):
        return await planner.burn(body)
    if isinstance(body, Pause):
        return await planner.pause(body)
    if isinstance(body, Freeze):
        return await planner.freeze(body)
    if isinstance(body, ForcedTransfer):
        return await planner.force(body)
    if isinstance(body, PausePath | LimitPath):
        return await planner.path(body)
    return await planner.recover(body)


@dataclass(frozen=True)
class _Planner:
    context: Context
    asset_id: UUID
    kind: ControlKind

    async def mint(self, body: Mint) -> Deed:
        amount = _amount(body)
        known = await self._facts(body.chain_eid, body.to_address)
        receiver = known.accounts[0]
        await self._refuse(known, None, receiver, amount, None)
        changes = [_supply(known, amount), _balance(known, receiver, amount)]
        return Deed([_at(known)], ["minted"], changes)

    async def burn(self, body: Burn) -> Deed:
        amount = _amount(body)
        known = await self._facts(body.chain_eid, body.address)
        holder, owner = known.accounts
        if holder.address == owner.address:
            await self._refuse(known, owner, owner, amount, rules.OF_BURN)
            acts = ["burned"]
        else:
            await self._refuse(known, holder, owner, amount, rules.OF_TAKING)
            acts = ["taken", "burned"]
        changes = [_supply(known, -amount), _balance(known, holder, -amount), *_unfrozen(known, holder, amount)]
        return Deed([_at(known)], acts, changes, in_orders=_escrowed(holder))

    async def pause(self, body: Pause) -> Deed:
        stops = self.kind is ControlKind.PAUSE
        places = await facts.places(self.context, self.asset_id, body.chain_eid)
        async with db.paused(self.context.session):
            found = [await facts.read(place) for place in places]
        able = [known for known in found if known.state.paused is not stops]
        if not able:
            raise Conflict("The token is already paused." if stops else "The token is not paused.")
        changes = [_state(known, stops) for known in able]
        return Deed([_at(known) for known in able], ["paused" if stops else "unpaused"], changes)

    async def freeze(self, body: Freeze) -> Deed:
        rules.check_amount(None if body.amount is None else int(body.amount))
        known = await self._facts(body.chain_eid, body.address)
        account = known.accounts[0]
        amount = None if body.amount is None else int(body.amount)
        if self.kind is ControlKind.FREEZE:
            after, act, held = rules.frozen_more(account.frozen, amount), "frozen", _escrowed(account)
        else:
            after, act, held = rules.frozen_less(account.frozen, account.balance, amount), "unfrozen", {}
        return Deed([_at(known)], [act], [_frozen(known, account, after)], in_orders=held)

    async def force(self, body: ForcedTransfer) -> Deed:
        amount = _amount(body)
        rules.check_apart(body.from_address, body.to_address, "/to_address")
        known = await self._facts(body.chain_eid, body.from_address, body.to_address)
        sender, receiver, _ = known.accounts
        await self._refuse(known, sender, receiver, amount, rules.OF_FORCE)
        changes = [_balance(known, sender, -amount), _balance(known, receiver, amount)]
        changes += _unfrozen(known, sender, amount)
        unattested = "" if sender.standing.found or sender.is_treasury else sender.address
        return Deed([_at(known)], ["moved"], changes, in_orders=_escrowed(sender), unattested=unattested)

    async def recover(self, body: Recover) -> Deed:
        rules.check_apart(body.lost_address, body.new_address, "/new_address")
        known = await self._facts(body.chain_eid, body.lost_address, body.new_address)
        lost, new, _ = known.accounts
        markets = await escrow.open_orders(self.context.session, self.asset_id, body.chain_eid, lost.address)
        session, org = self.context.session, self.context.organization_id
        revokes = await lost_attestations.is_issuer(session, org, body.chain_eid)
        row = await lost_attestations.latest(session, org, body.chain_eid, lost.address)
        async with db.paused(self.context.session):
            attested, others = await lost_attestations.standing(
                org, body.chain_eid, known.place.token, lost.address, row
            )
            held = await escrow.held(markets, lost.address)
            brought = [change for one in held for change in await _brought(known, one, lost.address, new.address)]
        if not lost.balance and not lost.frozen and not held:
            raise Conflict("The lost wallet holds nothing, has no frozen amount, and has no open orders.")
        await self._refuse(known, lost, new, lost.balance, rules.OF_RECOVERY)
        in_orders = sum(one.escrow.tokens for one in held)
        changes = [_balance(known, lost, -lost.balance), _balance(known, new, lost.balance + in_orders)]
        if lost.frozen:
            after = min(new.frozen + lost.frozen, MAX_UINT256)
            changes += [_frozen(known, lost, 0), _frozen(known, new, after)]
        changes += brought
        if attested := revokes and attested:
            revoked = Change(
                chain_eid=body.chain_eid, address=lost.address, field="attestation", before="active", after="revoked"
            )
            changes.append(revoked)
        return Deed(
            [_at(known)],
            ["recovered"],
            changes,
            warnings=[lost_attestations.REMAINS] if others else [],
            orders=escrow.batch(held),
            revokes=revokes,
            attested=attested,
        )

    async def path(self, body: PausePath | LimitPath) -> Deed:
        places, changes = await paths.ends(self.context, self.asset_id, self.kind, body)
        act = {ControlKind.PAUSE_PATH: "path_paused", ControlKind.UNPAUSE_PATH: "path_unpaused"}
        warnings = ["Packets that arrive during the pause wait at the endpoint; none is lost."]
        stops = self.kind is ControlKind.PAUSE_PATH
        return Deed(places, [act.get(self.kind, "path_limited")], changes, warnings if stops else [])

    async def _facts(self, eid: int, *addresses: str) -> Facts:
        (place,) = await facts.places(self.context, self.asset_id, eid)
        async with db.paused(self.context.session):
            return await facts.read(place, *addresses)

    async def _refuse(
        self, known: Facts, sender: Account | None, receiver: Account, amount: int, codes: frozenset[int] | None
    ) -> None:
        """Raise 409 with every failed rule that binds the owner here; without `codes`, all rules do."""
        verdicts = evaluate(known.rules, sender, receiver, amount, clock.moment(), known.state)
        refused = rules.binding(verdicts, codes or frozenset(v.code for v in verdicts))
        if refused:
            accounts = (sender.address if sender else None, receiver.address)
            raise Refused(await resolved(self.context, refused, self.asset_id, known.place.eid, *accounts))


def _amount(body: Any) -> int:
    rules.check_amount(int(body.amount))
    return int(body.amount)


def _at(known: Facts) -> tuple[Place, str]:
    return known.place, known.owner


def _supply(known: Facts, more: int) -> Change:
    return _change(known, None, "supply", known.supply, known.supply + more)


def _balance(known: Facts, account: Account, more: int) -> Change:
    return _change(known, account.address, "balance", account.balance, account.balance + more)


def _frozen(known: Facts, account: Account, after: int) -> Change:
    return _change(known, account.address, "frozen", account.frozen, after)


def _unfrozen(known: Facts, account: Account, taken: int) -> list[Change]:
    """Return the change of the frozen amount: taking more than is free unfreezes the taken part, as in the contract."""
    over = taken - max(account.balance - account.frozen, 0)
    return [_frozen(known, account, account.frozen - over)] if account.frozen and over > 0 else []


def _state(known: Facts, stops: bool) -> Change:
    words = ("active", "paused") if stops else ("paused", "active")
    return Change(chain_eid=known.place.eid, field="state", before=words[0], after=words[1])


async def _brought(known: Facts, held: Held, lost: str, new: str) -> list[Change]:
    """Return what a recovery takes out of a market."""
    orders, paid, currency = len(held.escrow.order_ids), held.escrow.quote, held.market
    changes = [_change(known, lost, "orders", orders, 0)] if orders else []
    if paid:
        before = await quote_token.balance_of(known.place.eid, str(currency.quote_token_address), new)
        change = _change(known, new, "quote", before, before + paid)
        changes.append(change.model_copy(update={"symbol": currency.quote_symbol, "decimals": currency.quote_decimals}))
    return changes


def _change(known: Facts, address: str | None, name: str, before: int, after: int) -> Change:
    return Change(chain_eid=known.place.eid, address=address, field=name, before=str(before), after=str(after))


def _escrowed(account: Account) -> dict[str, int]:
    """Return what markets hold for an account, by its address; empty if they hold nothing."""
    held = account.holding - account.balance
    return {account.address: held} if held > 0 else {}
