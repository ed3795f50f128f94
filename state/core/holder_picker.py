"""The accounts that a field for an address offers."""

import re
from typing import Any

import reflex as rx

from backend.accounts.schemas import Account, AccountList
from backend.client import ApiProblem, SessionClient
from backend.core.addresses import ZERO_ADDRESS, checksummed
from backend.users.schemas import MemberStatus
from state.core.api import Api
from state.core.arguments import id_of, number, typed, words
from state.core.units import rounded, shortened

ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
KEPT = 20
"""Entered addresses that are kept."""
KINDS = {
    "own_wallet": "Own wallet", "linked_wallet": "Linked wallet", "party": "Party", "distribution": "Distribution",
    "market": "Market", "token": "Token",
}  # fmt: skip
WRONG_CHECKSUM = "Wrong checksum: check for a typo"
MEMBERSHIPS = {MemberStatus.ACTIVE: "Already a member", MemberStatus.PENDING: "Has not accepted yet"}


class HolderPicker(Api, rx.State):
    """The list below the field that is being filled in (a page shows one at a time), and what is known of entered
    addresses."""

    field: str = ""
    items: list[dict[str, Any]] = []
    found_for: str | None = None
    resolved: dict[str, dict[str, Any]] = {}

    @rx.event(supersedes=True)
    async def search(self, field: str, asset_id: str, eid: str, offers: str, text: str) -> None:
        """Find accounts for a field; with an asset and a chain, also its holders, and who may hold it. `offers`: only
        those of "parties", of whom members are marked, or only own wallets that are "unassigned" to a party."""
        found = await self._find(asset_id, eid, words(text), unassigned=offers == "unassigned")
        offered = [one for one in found.accounts if one.party_id is not None or offers != "parties"]
        members = await self._memberships(words(text)) if offers == "parties" else {}
        items = [marked(_item(account, found), members) for account in offered]
        self.field, self.items, self.found_for = str(field)[:80], items, typed(text)

    @rx.event
    async def resolve(self, asset_id: str, eid: str, text: str) -> None:
        """Find what is known of an entered address. Not superseded: two fields may be filled in quickly."""
        address = words(text)
        if ADDRESS.fullmatch(address):
            item = entered(address, await self._find(asset_id, eid, address))
            kept = list(self.resolved.items())[-KEPT:]
            self.resolved = dict(kept) | {address: item}

    async def _memberships(self, wanted: str) -> dict[str, MemberStatus]:
        """Return the memberships of the newest members by their wallets, in lower case: their linked ones, and those
        of the parties that have their email."""
        org_id = self._org_id()
        try:
            members = (await self._api.list_members(org_id, limit=100)).members
            parties = (await self._api.list_parties(organization_id=org_id, q=wanted or None, limit=100)).parties
        except ApiProblem:
            return {}
        by_email = {one.user.email.lower(): one.status for one in members if one.user.email}
        of_parties = {
            party.wallet_address.lower(): by_email[party.email.lower()]
            for party in parties
            if party.wallet_address and party.email and party.email.lower() in by_email
        }
        return of_parties | {wallet.lower(): one.status for one in members for wallet in one.user.wallet_addresses}

    async def _find(self, asset_id: str, eid: str, wanted: str, *, unassigned: bool = False) -> AccountList:
        asset, chain = id_of(asset_id), number(eid)
        is_placed = bool(asset and chain)
        try:
            return await self._api.search_accounts(
                self._org_id(),
                q=wanted or None,
                asset_id=asset if is_placed else None,
                chain_eid=chain if is_placed else None,
                unassigned=unassigned or None,
            )
        except ApiProblem:
            return AccountList(accounts=[], has_more=False)  # an address can still be entered


def marked(item: dict[str, Any], members: dict[str, MemberStatus]) -> dict[str, Any]:
    """Return an item, which cannot be chosen if its address belongs to a member or to a person who was asked."""
    note = MEMBERSHIPS.get(members.get(str(item["id"]).lower(), MemberStatus.INACTIVE))
    return item | {"note": note, "tone": "muted", "off": True} if note else item


async def name_of(api: SessionClient, org_id: str, address: str) -> str:
    """Return the name by which the organization knows an address, or an empty string."""
    if not ADDRESS.fullmatch(address):
        return ""
    try:
        found = await api.search_accounts(org_id, q=address)
    except ApiProblem:
        return ""
    return next((one.name or "" for one in found.accounts if one.address.lower() == address.lower()), "")


def entered(address: str, found: AccountList) -> dict[str, Any]:
    """Return the item of an entered address: a known account, or an address that has to be confirmed."""
    same = next((one for one in found.accounts if one.address.lower() == address.lower()), None)
    return _item(same, found) if same and is_valid(address) else _unknown(address)


def _item(account: Account, found: AccountList) -> dict[str, Any]:
    short = shortened(account.address)
    kind = KINDS.get(account.kind, "Unknown wallet")
    used = ", used recently" if account.last_used_at else ""
    held = account.balance if found.symbol and int(account.balance or 0) else None
    return {
        "id": account.address,
        "label": account.name or short,
        "sub": f"{kind}, {short}{used}" if account.name else f"{kind}{used}",
        "short": short,
        "hint": f"holds {rounded(held, found.decimals or 0)} {found.symbol}" if held else "",
        "note": "" if account.eligible is None else "Eligible" if account.eligible else "Not eligible",
        "tone": "ok" if account.eligible else "warn",
        "known": True,
        "off": False,
    }


def _unknown(address: str) -> dict[str, Any]:
    """Return the item that confirms an address; the zero address is the sender of a mint."""
    short, note, tone = shortened(address), "Not known here", "warn"
    if address == ZERO_ADDRESS:
        note = "The zero address"
    elif not is_valid(address):
        note, tone = WRONG_CHECKSUM, "bad"
    return {
        "id": address, "label": "Use this address", "sub": short, "short": short, "hint": "", "note": note,
        "tone": tone, "known": False, "off": tone == "bad",
    }  # fmt: skip


def is_valid(address: str) -> bool:
    """Return whether an address has a correct checksum, or none."""
    try:
        checksummed(address, "The address")
    except ValueError:
        return False
    return True
