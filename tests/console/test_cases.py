"""What the console makes of cases before it shows them: verdicts, countries, days, ids."""

from typing import Any

import pytest

from state.attestation import Proof, attestation_view, proof_of
from state.countries import NAMES, country_code, written
from state.dates import end_of
from state.given import id_of

RECORD: dict[str, Any] = {
    "id": "a", "party_id": "p", "party": {"name": "Ada Berg", "email": None}, "wallet_address": "0x1",
    "chain_eid": 40161,
    "kyc_level": 2, "accredited": True, "country": "SWE", "expires_at": None, "uid": "0xabc", "status": "active",
    "tx_hash": None, "request_id": None, "revocation_reason": None, "failure": None,
    "created_at": "2026-11-20T06:00:00.000000Z", "updated_at": "2026-11-20T06:00:00.000000Z",
}  # fmt: skip
TOLD: dict[str, Any] = {
    "chain_eid": 40161, "registry_address": "0x2", "attester": "0x3", "is_valid": True, "kyc_level": 2,
    "accredited": True, "country": "SWE", "expires_at": None, "revoked": False, "block_number": 7, "agrees": True,
}  # fmt: skip


class Known:
    """A state that has read its chains."""

    def _chain_name(self, eid: int | None) -> str:
        return "Sepolia Devnet"

    def _address_url(self, eid: int | None, address: str | None) -> str:
        return ""

    _transaction_url = _address_url


def proof(told: dict[str, Any] | None, **record: Any) -> Proof:
    """The verdict about a record when the API answered this."""
    return proof_of(RECORD | record | {"proof": told}, Known())  # type: ignore[arg-type]


def test_the_chain_agrees() -> None:
    found = proof(TOLD)
    assert (found.verdict, found.block, found.differences) == ("agrees", 7, [])


def test_what_differs_is_named() -> None:
    found = proof(TOLD | {"agrees": False, "is_valid": False, "revoked": True, "kyc_level": 1})
    assert found.verdict == "differs"
    assert found.differences == [
        {"name": "Status", "old": "active", "new": "revoked"},
        {"name": "KYC level", "old": "2", "new": "1"},
    ]


def test_a_chain_that_does_not_answer_is_no_chain_that_has_nothing() -> None:
    assert proof(None).verdict == "silent"
    assert proof(None, uid=None, status="pending").verdict == "absent"


def test_an_attestation_that_ends_soon_says_so() -> None:
    assert attestation_view(RECORD, Known()).shown == "active"  # type: ignore[arg-type]
    soon = RECORD | {"expires_at": "2000-01-01T00:00:00Z"}
    assert attestation_view(soon, Known()).shown == "expiring"  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["Sweden (SWE)", "sweden", "swe", " SWE "])
def test_countries_are_found_as_people_write_them(text: str) -> None:
    assert country_code(text) == "SWE"


def test_every_country_is_read_back_as_it_is_offered() -> None:
    assert all(country_code(written(code)) == code for code in NAMES)
    assert country_code("Atlantis") == "Atlantis"


def test_days_end_at_their_end() -> None:
    assert end_of("2027-06-30") == "2027-06-30T23:59:59Z"
    assert end_of(" ") is None
    with pytest.raises(ValueError, match="Write a day"):
        end_of("30.6.2027")


@pytest.mark.parametrize("value", ["", "../api-keys", None, 7, {"a": 1}, "0" * 400])
def test_only_ids_become_part_of_a_path(value: Any) -> None:
    assert id_of(value) == ""
