"""Arguments of a stored call, as an approver reads them: labels, names, units and times."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession

from backend.approvals import referenced
from backend.approvals.schemas import Argument, ArgumentAccount
from backend.auth.calls import Call
from backend.auth.rehearsal import body_of
from backend.core.units import grouped
from backend.wallets.known_names import KnownAddress
from backend.wallets.known_names import known as known_addresses

ADDRESSES = frozenset({"address", "from_address", "to_address", "lost_address", "new_address", "wallet_address"})
"""Fields with the address of a holder, which has a name."""
AMOUNTS = frozenset(
    {
        "amount",
        "bridge_amount",
        "initial_supply",
        "max_tokens_per_holder",
        "mint",
        "transfer",
        "burn",
        "forced_transfer",
        "total_amount",
    }
)
NO_LIMIT = frozenset({"max_holders", "max_tokens_per_holder", "mint", "transfer", "burn", "forced_transfer"})
"""Fields in which 0 means no limit."""
CLAIMED = frozenset({"display_name", "email"})
"""Fields with which the requester describes an added person."""
CODES = frozenset({"role", "side", "approvals", "regulation_type", "orders"})
LABELS = {
    "address": "Wallet",
    "approver_wait_hours": "Hours that new approvers wait",
    "approvals": "Actions that need a second person",
    "assetId": "Asset",
    "attestationId": "Attestation",
    "bridge_amount": "Amount to bridge",
    "bridgeId": "Bridge",
    "chainEid": "Chain",
    "display_name": "Name",
    "distId": "Distribution",
    "email": "Email",
    "from_address": "From",
    "from_wallet_id": "From wallet",
    "kyc_level": "KYC level",
    "lockup_end_time": "Lock-up ends",
    "expected_caps": "Limits of each chain afterwards",
    "expected_plan": "Confirmed plan",
    "marketId": "Market",
    "max_fee": "Delivery fee at most",
    "max_tokens_per_holder": "Maximum per holder",
    "memberId": "Member",
    "merkleRoot": "Merkle root",
    "min_kyc_level": "KYC level required",
    "orderId": "Order",
    "orders": "Open orders of ineligible holders",
    "org_only": "Organization only",
    "regulation_type": "Framework",
    "shares": "Limits of each chain",
    "required_kyc_level": "KYC level required",
    "requires_accreditation": "Accredited investors only",
    "rwa_token_address": "Token",
    "to_address": "Receiver",
    "totalRecipients": "Recipients",
    "user_id": "User ID",
    "wallet_address": "Wallet",
    "window_seconds": "Time window",
}
"""Fields whose labels differ from their names."""


@dataclass(frozen=True)
class Known:
    """What the values of a call refer to: records by ID, addresses, chains, and the units of its amounts."""

    records: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, KnownAddress] = field(default_factory=dict)
    chains: Mapping[int, str] = field(default_factory=dict)
    units: referenced.Units = field(default_factory=referenced.Units)


async def arguments_of(session: AsyncSession, organization_id: UUID, action: str, call: Call) -> list[Argument]:
    """Return the arguments of a call: what its path names, then every field of its body, with defaults."""
    values, known = await known_of(session, organization_id, call)
    is_addition = action == "member.add"
    return [
        Argument(
            name=name,
            label=label(name),
            value=value,
            text=text_of(name, value, known, is_addition=is_addition),
            account=_account(name, value, known),
        )
        for name, value in values.items()
    ]


def _account(name: str, value: Any, known: Known) -> ArgumentAccount | None:
    """Return whose address a field has; None for other fields."""
    if name not in ADDRESSES or not isinstance(value, str):
        return None
    found = known.addresses.get(value, KnownAddress())
    return ArgumentAccount(address=value, name=found.words, party_name=found.party, wallet_label=found.label)


async def known_of(session: AsyncSession, organization_id: UUID, call: Call) -> tuple[dict[str, Any], Known]:
    """Return the values of a call by name, and what they refer to."""
    body = body_of(call)
    values = {name: value for name, value in call.path.items() if name != "orgId"}
    values |= dict(_fields(body) if body else _leaves(call.body))
    known = Known(
        records=await referenced.records(session, organization_id, values),
        addresses=await known_addresses(session, organization_id, _addresses(values)),
        chains=await referenced.chains(session),
        units=await referenced.units(session, organization_id, values),
    )
    return values, known


def label(name: str) -> str:
    """Return the label of a field: `compliance_rules.lockup_end_time` is "Lock-up ends"."""
    own = name.rpartition(".")[2]
    plain = own.removesuffix("_at").removesuffix("_bps").removesuffix("_eid").removesuffix("_id").replace("_", " ")
    return LABELS.get(own) or plain[:1].upper() + plain[1:]


def _fields(body: BaseModel, within: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of a body as JSON. Those that are omitted and have no default change nothing and are skipped."""
    plain = body.model_dump(mode="json")
    for name in type(body).model_fields:
        value = getattr(body, name)
        if isinstance(value, BaseModel):
            yield from _fields(value, f"{within}{name}.")
        elif value is not None or name in body.model_fields_set:
            yield f"{within}{name}", plain[name]


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a body that this version no longer accepts."""
    if isinstance(value, dict):
        for part, one in value.items():
            yield from _leaves(one, f"{name}.{part}" if name else part)
    elif name:
        yield name, value


def _addresses(values: Mapping[str, Any]) -> list[str]:
    return [value for name, value in values.items() if name in ADDRESSES and isinstance(value, str)]


def text_of(name: str, value: Any, known: Known, *, is_addition: bool = False) -> str:
    """Return a value for people, by the name of its field."""
    own = name.rpartition(".")[2]
    if value is None or value == []:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(text_of(name, one, known) for one in value)
    if isinstance(value, dict):
        return " ".join(f"{label(part)}: {text_of(part, one, known)}." for part, one in value.items())
    text = str(value)
    if own in NO_LIMIT and text == "0":
        return "no limit"
    if is_addition and own in CLAIMED:
        return f"{text} (written by the requester, not confirmed)"
    if own in ADDRESSES:
        return f"{known.addresses.get(text, KnownAddress()).words} ({text})"
    if text in known.records:
        return known.records[text]
    return _number(own, text, known) or _moment(own, text) or (_words(text) if own in CODES else text)


def _number(name: str, text: str, known: Known) -> str:
    """Return a number with its unit; empty text where the field has none."""
    if not (text.isascii() and text.isdigit()):
        return ""
    if name in AMOUNTS:
        return known.units.amount(text)
    if name == "price":
        return known.units.price(text)
    if name.endswith("_bps"):
        return f"{grouped(text, 2)}%"
    if name.endswith(("_eid", "Eid")):
        return known.chains.get(int(text), text)
    if name == "max_fee":
        return f"{grouped(text, 18)} of the source chain's own currency"
    if name == "window_seconds":
        return f"{int(text):,} seconds"
    return ""


def _moment(name: str, text: str) -> str:
    """Return a time in UTC; empty text for other values."""
    if name == "lockup_end_time":
        return _exact(datetime.fromtimestamp(int(text), UTC)) if text != "0" else "none"
    return _exact(datetime.fromisoformat(text)) if name.endswith("_at") else ""


def _exact(at: datetime) -> str:
    at = at.astimezone(UTC)
    return f"{at.day} {at:%b %Y, %H:%M:%S} UTC"


def _words(code: str) -> str:
    return code.replace(".", " ").replace("_", " ")
