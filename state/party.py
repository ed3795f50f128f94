"""A party as pages show it."""

from dataclasses import dataclass
from typing import Any

from state.countries import country_name
from state.session import initials

KINDS = {"person": "Person", "company": "Company"}
WAITING = ("created", "verifying")


@dataclass
class PartyView:
    """A person or company; empty strings where the API has null."""

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
    created_at: str = ""
    is_waiting: bool = False


def party_view(party: dict[str, Any]) -> PartyView:
    """Read the API's party."""
    return PartyView(
        id=party["id"],
        name=party["name"],
        mark=initials(party["name"]),
        kind=KINDS.get(party["kind"], party["kind"]),
        email=party["email"] or "",
        country=party["country"],
        country_name=country_name(party["country"]),
        wallet=party["wallet_address"] or "",
        status=party["status"],
        level=party["kyc_level"],
        accredited=party["accredited"],
        reason=party["reason"] or "",
        reviewed_at=party["reviewed_at"] or "",
        created_at=party["created_at"],
        is_waiting=party["status"] in WAITING,
    )


def levels_up_to(level: int) -> list[dict[str, str]]:
    """KYC levels from 1 as a select's options."""
    return [{"value": str(one), "label": f"Level {one}"} for one in range(1, max(1, min(level, 255)) + 1)]
