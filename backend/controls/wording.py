"""Words of controls for people: what an act will do and has done, with whole tokens and names of accounts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.assets import records
from backend.assets.models import AssetRow
from backend.assets.transfer_check import Place
from backend.controls import rules
from backend.core.db import Read, Write
from backend.core.units import grouped, shortened

_NAMES = sa.text("""
  select a.address, w.label, p.name
  from unnest(cast(:addresses as text[])) as a (address)
  left join wallets w on w.organization_id = :org and w.address = a.address
  left join lateral (
    select string_agg(p.name, ', ' order by p.name) as name from parties p
    where p.organization_id = :org and p.wallet_address = a.address
  ) p on true
""").bindparams(sa.bindparam("org", type_=sa.Uuid()))
_REVOKED = sa.text("""
  select max(revoked_at) from attestations
  where organization_id = :org and chain_eid = :eid and wallet_address = :address and status = 'revoked'
""").bindparams(sa.bindparam("org", type_=sa.Uuid()))
"""Parties are read by table name, as in `backend.wallets.known_names`, which says the same in full for an approver."""


@dataclass(frozen=True)
class Wording:
    """The asset's unit, and the names of accounts and chains. An account without a name is called by its address."""

    symbol: str
    decimals: int
    names: Mapping[str, str] = field(default_factory=dict)
    chains: Mapping[int, str] = field(default_factory=dict)
    is_short: bool = False

    def amount(self, units: str | int) -> str:
        """Return an amount of the asset: `1,250.5 NREF`."""
        return f"{grouped(units, self.decimals)} {self.symbol}"

    def name(self, address: str) -> str:
        """Return the name of an account."""
        return self.names.get(address) or (shortened(address) if self.is_short else address)

    def shortened(self) -> "Wording":
        """Return the words for titles: an account without a name is called by a short address."""
        return replace(self, is_short=True)

    def limit(self, units: int, window: int) -> str:
        """Return a limit of a bridge path: `50 NREF in an hour`."""
        return rules.limit_words(self.amount(units), window)

    def title(self, acts: Sequence[str], eids: Sequence[int], arguments: Mapping[str, Any]) -> str:
        """Return the title of a control's request: what its last act will do, to whom; without accounts, on which
        chains."""
        act, chains = acts[-1], " and ".join(self.chains[eid] for eid in eids)
        if act in _PATHS:
            return f"{_PATHS[act]} the bridge path of {self.symbol} on {chains}"
        if act in ("paused", "unpaused"):
            return f"{self.planned(act, eids[0], arguments)} on {chains}"
        if act == "moved":
            part, sender = self.amount(arguments["amount"]), self.name(arguments["from_address"])
            return f"Forced transfer of {part} from {sender} to {self._to(arguments)}"
        if act == "recovered":
            return f"Recover {self.symbol} from {self.name(arguments['lost_address'])} to {self._to(arguments)}"
        if act in ("frozen", "unfrozen") and arguments["amount"] is None:
            verb = "Freeze" if act == "frozen" else "Unfreeze"
            return f"{verb} all {self.symbol} of {self.name(arguments['address'])}"
        return self.planned(act, eids[0], arguments)

    def step(self, act: str, eid: int, arguments: Mapping[str, Any]) -> str:
        """Return what an act will do as the title of a request's step, with its chain."""
        planned = self.planned(act, eid, arguments)
        return planned if act in _PATHS else f"{planned} on {self.chains[eid]}"

    def planned(self, act: str, eid: int, arguments: Mapping[str, Any]) -> str:
        """Return what an act on a chain will do, as an imperative; the chain itself is named beside it."""
        if act in _PATHS:
            return self._path(act, eid, arguments)
        if act in ("paused", "unpaused"):
            return f"{'Pause' if act == 'paused' else 'Unpause'} {self.symbol}"
        if act == "recovered":
            return f"Move everything from {self.name(arguments['lost_address'])} to {self._to(arguments)}"
        part = "everything" if arguments["amount"] is None else self.amount(arguments["amount"])
        if act == "minted":
            return f"Mint {part} to {self._to(arguments)}"
        if act == "moved":
            return f"Move {part} from {self.name(arguments['from_address'])} to {self._to(arguments)}"
        whose = self.name(arguments["address"])
        if act == "frozen" and arguments["amount"] is None:
            return f"Freeze the whole account of {whose}"
        return {
            "taken": f"Take {part} from {whose}",
            "burned": f"Burn {part} of {whose}",
            "frozen": f"Freeze {part} of {whose}",
            "unfrozen": f"Unfreeze {part} of {whose}",
        }[act]

    def attestation_revoked(self, lost: str) -> str:
        """Return the last step of a recovery, as an imperative."""
        return f"Revoke the attestation of {self.name(lost)}"

    def _to(self, arguments: Mapping[str, Any]) -> str:
        return self.name(arguments.get("to_address") or arguments["new_address"])

    def _path(self, act: str, eid: int, arguments: Mapping[str, Any]) -> str:
        """Return what an act at one end of a path will do: it names the other end."""
        ends = (arguments["source_chain_eid"], arguments["destination_chain_eid"])
        other = ends[1] if eid == ends[0] else ends[0]
        path = f"bridge path to {self.chains.get(other, f'the chain {other}')}"
        if act != "path_limited":
            return f"{_PATHS[act]} the {path}"
        amount = int(arguments["amount"] or 0)
        if not amount:
            return f"Remove the limit of the {path}"
        return f"Limit the {path} to {self.limit(amount, arguments['window_seconds'])}"

    def done(self, act: str, event: Mapping[str, Any]) -> str:
        """Return what an act has done, from the event that confirms it."""
        if act in ("minted", "burned"):
            return f"{self.amount(event['value'])} {act}."
        if act in ("taken", "moved"):
            return self.moved(event["amount"], event["from"], event["to"])
        if act == "path_limited":
            return f"Limit: {self.limit(event['limit'], event['window'])}."
        if act in _PATHS:
            return "The path is paused." if event["paused"] else "The path is open again."
        if act in ("frozen", "unfrozen"):
            return self._frozen(event["account"], event["amount"])
        return f"The token is {act}."

    def moved(self, units: int, sender: str, receiver: str) -> str:
        """Return what was moved, and between whom."""
        return f"{self.amount(units)} moved from {self.name(sender)} to {self.name(receiver)}."

    def _frozen(self, account: str, units: int) -> str:
        if rules.is_whole(units):
            return f"The whole account of {self.name(account)} is frozen."
        return f"{self.amount(units)} of {self.name(account)} are frozen."

    def in_orders(self, address: str, units: int) -> str:
        """Return a warning about what markets hold for an account: it is out of reach until its orders end."""
        return (
            f"Markets hold {self.amount(units)} of {self.name(address)} in open orders; they return when the orders "
            "are cancelled."
        )

    async def unattested(self, session: Read | Write, address: str, place: Place) -> str:
        """Return a warning about a holder without a valid attestation: when it was revoked, if this organization
        revoked it."""
        named = {"org": place.organization_id, "eid": place.eid, "address": address}
        at = await session.scalar(_REVOKED, named)
        chain = self.chains[place.eid]
        if at is None:
            return f"{self.name(address)} has no valid attestation on {chain}."
        return f"The attestation of {self.name(address)} on {chain} was revoked on {at.day} {at:%b %Y}."


_PATHS: Final = {"path_paused": "Pause", "path_unpaused": "Resume", "path_limited": "Limit"}
"""Verbs of the acts on bridge paths."""


async def wording(session: AsyncSession, asset: AssetRow, addresses: Iterable[str]) -> Wording:
    """Return the words for controls of an asset that concern some accounts."""
    rows = await session.execute(_NAMES, {"org": asset.organization_id, "addresses": list(addresses)})
    named = {row.address: row.name or (f'wallet "{row.label}"' if row.label else None) for row in rows}
    names = {address: name for address, name in named.items() if name}
    return Wording(asset.symbol, asset.decimals, names, await records.chain_names(session))


async def of_asset(session: AsyncSession, organization_id: UUID, asset_id: UUID, addresses: Iterable[str]) -> Wording:
    """Return the words for controls of an asset by its ID."""
    return await wording(session, await records.asset(session, organization_id, asset_id), addresses)


def addresses_of(values: Mapping[str, Any]) -> list[str]:
    """Return the accounts that a control's arguments or an event name."""
    return [value for name, value in values.items() if name in _ACCOUNTS and isinstance(value, str)]


_ACCOUNTS = frozenset({"address", "from_address", "to_address", "lost_address", "new_address", "from", "to", "account"})
