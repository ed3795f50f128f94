"""How the console shows verdicts, countries, days and ids."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.attestations.schemas import AttestationCreate, AttestationDetail, AttestationRead
from backend.client.calls import prepare
from backend.preferences.time_zones import time_zones
from state.attestations.checklist import Checklist
from state.attestations.detail import AttestationView, attestation_view
from state.attestations.proof import ProofView, proof_view
from state.core.arguments import id_of
from state.core.countries import NAMES, country_code, written
from state.core.dates import end_of, start_of, times_in, zone_of
from state.parties.detail import whole_number

RECORD: dict[str, Any] = {
    "id": "0197a000-0000-7000-8000-000000000001", "organization_id": "0197a000-0000-7000-8000-000000000002",
    "party_id": "0197a000-0000-7000-8000-000000000003",
    "party": {"id": "0197a000-0000-7000-8000-000000000003", "name": "Ada Berg", "email": None},
    "wallet_address": "0x1", "chain_eid": 40161,
    "kyc_level": 2, "accredited": True, "country": "SWE", "expires_at": None, "uid": "0xabc", "status": "active",
    "tx_hash": None, "request_id": None, "revocation_reason": None, "failure": None,
    "created_at": "2026-11-20T06:00:00.000000Z", "updated_at": "2026-11-20T06:00:00.000000Z",
}  # fmt: skip
PROOF: dict[str, Any] = {
    "chain_eid": 40161, "registry_address": "0x2", "attester": "0x3", "is_valid": True, "kyc_level": 2,
    "accredited": True, "country": "SWE", "expires_at": None, "revoked": False, "block_number": 7, "agrees": True,
}  # fmt: skip
EXPIRY = {"expires_at": "2030-01-31T12:00:00+01:00"}


class Known:
    """A state that has read its chains."""

    def _chain_name(self, eid: int | None) -> str:
        return "Sepolia Devnet"

    def _address_url(self, eid: int | None, address: str | None) -> str:
        return ""

    _transaction_url = _address_url


def proof(found: dict[str, Any] | None, **record: Any) -> ProofView:
    """Return the verdict about a record for this proof in the API's response."""
    detail = AttestationDetail.model_validate(RECORD | record | {"proof": found})
    return proof_view(detail, Known())  # type: ignore[arg-type]


def view(**record: Any) -> AttestationView:
    """Return a record as pages show it."""
    return attestation_view(AttestationRead.model_validate(RECORD | record), Known())  # type: ignore[arg-type]


def test_attestation_proof_that_agrees_has_an_agreeing_verdict() -> None:
    found = proof(PROOF)
    assert (found.verdict, found.block, found.differences) == ("agrees", 7, [])


def test_attestation_proof_differences_are_named() -> None:
    found = proof(PROOF | {"agrees": False, "is_valid": False, "revoked": True, "kyc_level": 1} | EXPIRY)
    assert found.verdict == "differs"
    assert found.differences == [
        {"name": "Status", "old": "active", "new": "revoked"},
        {"name": "KYC level", "old": "2", "new": "1"},
        {"name": "Expires", "old": "never", "new": "2030-01-31 11:00:00"},
    ]


def test_attestation_proof_distinguishes_silent_and_absent() -> None:
    assert proof(None).verdict == "silent"
    assert proof(None, uid=None, status="pending").verdict == "absent"


def test_attestation_close_to_expiry_is_shown_as_expiring() -> None:
    assert view().shown == "active"
    assert view(expires_at="2000-01-01T00:00:00Z").shown == "expiring"
    assert view(**EXPIRY).expires_at == "2030-01-31T11:00:00.000000Z"


def test_attestation_without_party_has_no_name() -> None:
    found = view(party=None)
    assert (found.name, found.mark, found.email) == ("", "?", "")


@pytest.mark.parametrize(
    ("value", "number"),
    [("3", 3), (3, 3), ("", ""), (None, ""), ("²", "²"), ("-1", "-1"), ("1.5", "1.5"), ("9" * 9_999, 10**20 - 1)],
)
def test_whole_number_of_a_form_is_parsed(value: Any, number: int | str) -> None:
    assert whole_number(value) == number


def test_stored_attestation_can_be_sent() -> None:
    checklist = Checklist(_reflex_internal_init=True)  # type: ignore[call-arg]
    checklist._attestation = AttestationCreate.model_validate({"party_id": RECORD["party_id"], "chain_eid": 40161})
    sent = prepare("POST", "/", None, checklist._wanted(), None).options["content"]
    assert json.loads(sent) == {"party_id": RECORD["party_id"], "chain_eid": 40161}


@pytest.mark.parametrize("text", ["Sweden (SWE)", "sweden", "swe", " SWE "])
def test_countries_are_found_by_common_spellings(text: str) -> None:
    assert country_code(text) == "SWE"


def test_country_options_parse_back() -> None:
    assert all(country_code(written(code)) == code for code in NAMES)
    assert country_code("Atlantis") == "Atlantis"


def test_date_without_a_time_ends_at_midnight() -> None:
    assert end_of("2027-06-30") == "2027-06-30T23:59:59Z"
    assert end_of(" ") is None
    with pytest.raises(ValueError, match="Enter a date"):
        end_of("30.6.2027")


def test_date_ends_at_midnight_of_the_time_zone() -> None:
    assert end_of("2027-06-30", zone_of("Europe/Stockholm")) == "2027-06-30T21:59:59Z"
    assert end_of("2027-06-30", zone_of("Mars/Olympus")) == "2027-06-30T23:59:59Z"
    with pytest.raises(ValueError, match="Enter a date"):
        end_of("9999-12-31", zone_of("America/New_York"))


@given(st.dates(date(2020, 1, 1), date(2200, 1, 1)), st.sampled_from(sorted(time_zones())))
@example(date(2120, 3, 30), "America/Scoresbysund")
@example(date(2120, 10, 26), "America/Scoresbysund")
def test_day_of_any_time_zone_ends_when_the_next_begins(day: date, name: str) -> None:
    zone = zone_of(name)
    end = datetime.fromisoformat(end_of(day.isoformat(), zone) or "")
    assert end.astimezone(zone).date() == day
    assert end + timedelta(seconds=1) == datetime.fromisoformat(start_of(day + timedelta(days=1), zone))


def test_times_in_texts_are_in_the_time_zone() -> None:
    words = "Expires 20 Nov 2026, 23:14:05 UTC, or never"
    assert times_in(words, UTC) == words
    assert times_in(words, zone_of("Asia/Singapore")) == "Expires 21 Nov 2026, 07:14:05 UTC+08, or never"
    assert times_in(words, zone_of("Europe/Stockholm")) == "Expires 21 Nov 2026, 00:14:05 CET, or never"
    assert times_in("99 Nov 2026, 23:14:05 UTC", zone_of("Asia/Tokyo")) == "99 Nov 2026, 23:14:05 UTC"


@pytest.mark.parametrize("value", ["", "../api-keys", None, 7, {"a": 1}, "0" * 400])
def test_malformed_ids_are_not_used_in_paths(value: Any) -> None:
    assert id_of(value) == ""
