"""A party as pages show it."""

from dataclasses import dataclass
from typing import Any

from backend.compliance.countries import country_name
from backend.parties.schemas import Party, PartyRead, PartyStatus
from state.core.dates import stamp
from state.core.session import initials

KINDS = {"person": "Person", "company": "Company"}
WAITING = (PartyStatus.CREATED, PartyStatus.VERIFYING)


@dataclass
class PartyView:
    """A person or company; empty strings for null."""

    id: str = ""
    name: str = ""
    mark: str = ""
    kind: str = ""
    email: str = ""
    country: str = ""
    country_name: str = ""
    wallet: str = ""
    status: str = ""
    level: int = 0
    accredited: bool = False
    reason: str = ""
    reviewed_at: str = ""
    reviewed_by: str = ""
    created_at: str = ""
    is_waiting: bool = False


def party_view(party: Party) -> PartyView:
    """Convert the API's party."""
    return PartyView(
        id=str(party.id),
        name=party.name,
        mark=initials(party.name),
        kind=KINDS.get(party.kind, party.kind),
        email=party.email or "",
        country=party.country,
        country_name=country_name(party.country),
        wallet=party.wallet_address or "",
        status=party.status,
        level=party.kyc_level,
        accredited=party.accredited,
        reason=party.reason or "",
        reviewed_at=stamp(party.reviewed_at),
        reviewed_by=(party.reviewed_by_name or "") if isinstance(party, PartyRead) else "",
        created_at=stamp(party.created_at),
        is_waiting=party.status in WAITING,
    )


def values_of(party: PartyView) -> dict[str, str]:
    """Return what a party's version consists of, by its names on the page."""
    return {
        "Name": party.name,
        "Email": party.email,
        "Country": party.country_name,
        "Wallet": party.wallet,
        "Status": party.status,
        "KYC level": str(party.level),
        "Accredited investor": "yes" if party.accredited else "no",
        "Reason": party.reason,
    }


def levels_up_to(level: int) -> list[dict[str, str]]:
    """Return the KYC levels from 1 as a select's options."""
    return [{"value": str(one), "label": f"Level {one}"} for one in range(1, max(1, min(level, 255)) + 1)]


def whole_number(value: object) -> int | str:
    """Return the whole number that a form's field contains, or its text, which the API refuses at that field."""
    text = "" if value is None else str(value)[:20]
    return int(text) if text.isascii() and text.isdigit() else text


def verification(data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a form that verifies a party."""
    return {
        "kyc_level": whole_number(data.get("kyc_level")),
        "accredited": bool(data.get("accredited")),
        "reason": str(data.get("reason", "")).strip() or None,
    }
