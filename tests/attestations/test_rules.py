"""Prerequisites, statements, expiries, and agreement of record and chain."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.attestations import rules
from backend.attestations.rules import Described, Facts, PartyFacts, Statement
from backend.attestations.schemas import AttestationStatus
from backend.core.errors import BadRequest, Conflict
from backend.parties.schemas import PartyStatus

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
STATES = ["party_exists", "party_verified", "chain_enabled", "attestation_eligible"]
parties = st.none() | st.builds(
    PartyFacts, id=st.uuids(), status=st.sampled_from(PartyStatus), has_wallet=st.booleans()
)
facts = st.builds(
    Facts,
    organization_id=st.uuids(),
    chain_id=st.uuids(),
    chain_name=st.just("Sepolia"),
    is_enabled=st.booleans(),
    has_server_wallet=st.booleans(),
    is_registered=st.booleans(),
    is_registering=st.just(False),
    party=parties,
)


@given(facts)
def test_prerequisites_are_ordered_and_satisfied_when_their_facts_are(known: Facts) -> None:
    entries = rules.prerequisites(known)
    assert [e["state"] for e in entries] == STATES
    party = known.party
    assert [e["satisfied"] for e in entries] == [
        party is not None,
        party is not None and party.status is PartyStatus.VERIFIED,
        known.is_enabled,
        known.has_server_wallet and known.is_registered and party is not None and party.has_wallet,
    ]
    for entry in entries:
        assert entry["detail"].endswith(".")
        assert set(entry["resolution"]) - {"body"} == {"method", "path", "description"}
        assert entry["resolution"]["path"].startswith(("/orgs/", "/identity/"))
        assert entry["resolution"]["method"] in ("POST", "PATCH")
        if party is not None:
            assert "{" not in entry["resolution"]["path"]


def test_prerequisite_lists_all_missing_facts_and_resolves_the_first() -> None:
    party = PartyFacts(UUID(int=3), PartyStatus.VERIFIED, False)
    known = Facts(UUID(int=1), UUID(int=2), "Sepolia", False, False, False, False, party)
    *_, chain, entry = rules.prerequisites(known)
    assert chain["resolution"]["path"] == f"/orgs/{UUID(int=1)}/chains/{UUID(int=2)}/enable"
    assert entry["resolution"]["path"] == f"/orgs/{UUID(int=1)}/wallets"
    for words in ("no server wallet", "not registered as an issuer", "no wallet"):
        assert words in entry["detail"]


def test_registration_in_progress_is_waited_for_and_not_repeated() -> None:
    party = PartyFacts(UUID(int=3), PartyStatus.VERIFIED, True)
    entry = rules.prerequisites(Facts(UUID(int=1), UUID(int=2), "Sepolia", True, True, False, True, party))[-1]
    assert not entry["satisfied"]
    assert entry["detail"] == "The organization's registration as an issuer on Sepolia is in progress."
    assert (entry["resolution"]["method"], entry["resolution"]["path"]) == ("GET", f"/orgs/{UUID(int=1)}/issuer")


@given(st.integers(1, 255), st.integers(1, 255), st.integers(1, 255), st.booleans(), st.booleans())
def test_attestation_beyond_the_verified_facts_is_rejected(
    asked: int, proven: int, most: int, wants: bool, is_accredited: bool
) -> None:
    fits = asked <= proven and asked <= most and (is_accredited or not wants)
    if fits:
        assert rules.statement((asked, wants), Statement(proven, is_accredited), most) == Statement(asked, wants)
    else:
        with pytest.raises(BadRequest):
            rules.statement((asked, wants), Statement(proven, is_accredited), most)


def test_statement_defaults_to_the_verified_facts() -> None:
    assert rules.statement((None, None), Statement(2, True), 3) == Statement(2, True)
    with pytest.raises(BadRequest) as raised:
        rules.statement((None, None), Statement(3, False), 2)
    assert raised.value.pointer == "/kyc_level"


def test_attestation_expiry_is_in_the_future_and_in_whole_seconds() -> None:
    later = NOW + timedelta(seconds=5, microseconds=7)
    assert rules.expiry(later, NOW) == NOW + timedelta(seconds=5)
    assert rules.expiry(None, NOW) is None
    assert (rules.seconds(None), rules.seconds(NOW)) == (0, int(NOW.timestamp()))
    for past in (NOW, NOW - timedelta(days=1), NOW + timedelta(microseconds=1)):
        with pytest.raises(BadRequest):
            rules.expiry(past, NOW)


@pytest.mark.parametrize("status", [s for s in AttestationStatus if s is not AttestationStatus.ACTIVE])
def test_attestation_is_revocable_only_while_active(status: AttestationStatus) -> None:
    rules.check_revocable(AttestationStatus.ACTIVE)
    with pytest.raises(Conflict):
        rules.check_revocable(status)


@pytest.mark.parametrize(
    ("status", "is_same", "is_valid", "has_lapsed", "expected"),
    [
        ("active", True, True, False, True),
        ("active", True, False, False, False),
        ("active", False, True, False, False),
        ("expired", True, False, True, True),
        ("expired", True, True, True, True),
        ("expired", True, True, False, False),
        ("revoked", True, False, False, True),
        ("revoked", True, True, False, False),
        ("failed", True, True, False, False),
    ],
)
def test_attestation_record_agrees_with_the_chain(
    status: str, is_same: bool, is_valid: bool, has_lapsed: bool, expected: bool
) -> None:
    assert rules.agrees(AttestationStatus(status), is_same, is_valid, has_lapsed) is expected


PROVEN = Statement(2, True)


@pytest.mark.parametrize(
    ("said", "known", "status", "words"),
    [
        (("0xA", "SWE", PROVEN), ("0xB", "SWE", PROVEN), PartyStatus.VERIFIED, "it has another wallet."),
        (("0xA", "SWE", PROVEN), (None, "SWE", PROVEN), PartyStatus.VERIFIED, "it has another wallet."),
        (("0xA", "SWE", PROVEN), ("0xA", "PRK", PROVEN), PartyStatus.VERIFIED, "it has another country."),
        (("0xA", "SWE", PROVEN), ("0xA", "SWE", PROVEN), PartyStatus.VERIFYING, "it is verifying."),
    ],
)
def test_attestation_of_a_changed_party_is_refused(said: Any, known: Any, status: PartyStatus, words: str) -> None:
    with pytest.raises(Conflict, match=words):
        rules.check_is_true(Described(*said), Described(*known), status)


def test_attestation_below_what_is_proven_stays_true() -> None:
    rules.check_is_true(
        Described("0xA", "SWE", Statement(1, False)), Described("0xA", "SWE", PROVEN), PartyStatus.VERIFIED
    )
