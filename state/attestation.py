"""An attestation as pages show it, and what the chain says of it now."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from state.chain_list import Chains
from state.countries import country_name
from state.session import initials

SOON = timedelta(days=30)


@dataclass
class AttestationView:
    """An attestation; empty strings where the API has null. `shown` is its status, or `expiring` within 30 days."""

    id: str = ""
    party_id: str = ""
    name: str = ""
    mark: str = ""
    email: str = ""
    eid: int = 0
    chain: str = ""
    wallet: str = ""
    wallet_url: str = ""
    level: int = 0
    accredited: bool = False
    country: str = ""
    country_name: str = ""
    expires_at: str = ""
    uid: str = ""
    status: str = ""
    shown: str = ""
    tx_hash: str = ""
    tx_url: str = ""
    request_id: str = ""
    reason: str = ""
    failure: str = ""
    created_at: str = ""
    updated_at: str = ""


@dataclass
class Proof:
    """`verdict`: agrees, differs, silent (the chain does not answer), absent (it is not there yet)."""

    verdict: str = ""
    is_valid: bool = False
    is_revoked: bool = False
    registry: str = ""
    registry_url: str = ""
    attester: str = ""
    attester_url: str = ""
    block: int = 0
    differences: list[dict[str, str]] = field(default_factory=list)


def attestation_view(record: dict[str, Any], chains: Chains) -> AttestationView:
    """Read the API's attestation; `chains` is a state that has read the chains."""
    party = record.get("party") or {}
    eid = record["chain_eid"]
    return AttestationView(
        id=record["id"],
        party_id=record["party_id"],
        name=party.get("name") or "",
        mark=initials(party.get("name") or "?"),
        email=party.get("email") or "",
        eid=eid,
        chain=chains._chain_name(eid),
        wallet=record["wallet_address"],
        wallet_url=chains._address_url(eid, record["wallet_address"]),
        level=record["kyc_level"],
        accredited=record["accredited"],
        country=record["country"],
        country_name=country_name(record["country"]),
        expires_at=record["expires_at"] or "",
        uid=record["uid"] or "",
        status=record["status"],
        shown="expiring" if _ends_soon(record) else record["status"],
        tx_hash=record["tx_hash"] or "",
        tx_url=chains._transaction_url(eid, record["tx_hash"]),
        request_id=record["request_id"] or "",
        reason=record.get("revocation_reason") or "",
        failure=record.get("failure") or "",
        created_at=record["created_at"],
        updated_at=record["updated_at"],
    )


def _ends_soon(record: dict[str, Any]) -> bool:
    if record["status"] != "active" or not record["expires_at"]:
        return False
    return datetime.fromisoformat(record["expires_at"]) - datetime.now(UTC) <= SOON


def proof_of(record: dict[str, Any], chains: Chains) -> Proof:
    """Compare a record with what the registry on its chain answered."""
    told = record.get("proof")
    if told is None:
        return Proof(verdict="silent" if record["uid"] else "absent")
    eid = told["chain_eid"]
    return Proof(
        verdict="agrees" if told["agrees"] else "differs",
        is_valid=told["is_valid"],
        is_revoked=told["revoked"],
        registry=told["registry_address"],
        registry_url=chains._address_url(eid, told["registry_address"]),
        attester=told["attester"],
        attester_url=chains._address_url(eid, told["attester"]),
        block=told["block_number"],
        differences=[] if told["agrees"] else _differences(record, told),
    )


def _differences(record: dict[str, Any], told: dict[str, Any]) -> list[dict[str, str]]:
    """What record and chain say differently: `old` is the record's word, `new` the chain's."""
    pairs = {
        "Status": (record["status"], "valid" if told["is_valid"] else "revoked" if told["revoked"] else "not valid"),
        "KYC level": (str(record["kyc_level"]), str(told["kyc_level"])),
        "Accredited": (_yes(record["accredited"]), _yes(told["accredited"])),
        "Country": (record["country"], told["country"]),
        "Ends": (_day(record["expires_at"]), _day(told["expires_at"])),
    }
    expected = {"active": "valid", "revoked": "revoked", "expired": "not valid"}.get(record["status"], "")
    return [
        {"name": name, "old": mine, "new": theirs}
        for name, (mine, theirs) in pairs.items()
        if (theirs != expected if name == "Status" else mine != theirs)
    ]


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _day(moment: str | None) -> str:
    return moment[:19].replace("T", " ") if moment else "never"
