"""Parties whose attestation was revoked, as pages treat them."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from backend.attestations.schemas import REPLACED, AttestationRead, AttestationStatus
from backend.chain.errors import Reverted
from backend.compliance.resolutions import review
from backend.compliance.schemas import Revocation, RuleVerdict
from backend.failures import rules
from state.attestations.revoked import revocation_words, revoked_of
from state.compliance.verdicts import Terms, verdicts_of
from state.markets.attest_buyers import omitted_words

AT = datetime(2026, 11, 28, 9, tzinfo=UTC)
WHY = "Sanctions screening match"
PARTY = UUID(int=7)


def _record(number: int, status: AttestationStatus, eid: int = 40161, **facts: Any) -> AttestationRead:
    return AttestationRead(
        id=UUID(int=number), organization_id=UUID(int=99), party_id=PARTY, wallet_address=f"0x{number:040x}",
        chain_eid=eid, kyc_level=1, accredited=False, country="SWE", expires_at=None, uid=None, status=status,
        tx_hash=None, request_id=None, created_at=AT, updated_at=AT, **facts,
    )  # fmt: skip


def test_latest_attestation_of_each_chain_decides() -> None:
    revoked, active = AttestationStatus.REVOKED, AttestationStatus.ACTIVE
    records = [
        _record(1, AttestationStatus.FAILED),
        _record(2, revoked, revocation_reason=WHY),
        _record(3, active),
        _record(4, active, eid=40245),
        _record(5, revoked, eid=40245, revocation_reason=WHY),
        _record(6, AttestationStatus.EXPIRED, eid=40362),
        _record(7, revoked, eid=1, revocation_reason=REPLACED),
    ]
    assert [one.id.int for one in revoked_of(records)] == [2]


def test_revocation_in_words_has_what_is_known() -> None:
    record = _record(1, AttestationStatus.REVOKED, revocation_reason=WHY, revoked_at=AT, revoked_by_name="Priya Shah")
    assert revocation_words(record) == f"The attestation was revoked on 28 Nov 2026 by Priya Shah: {WHY}."
    assert revocation_words(_record(1, AttestationStatus.REVOKED)) == "The attestation was revoked."


def test_refused_order_of_a_revoked_trader_leads_to_the_case() -> None:
    detail = f"The attestation was revoked on 28 Nov 2026 by Priya Shah: {WHY}"
    revoked = Revocation(
        attestation_id=UUID(int=1), party_id=PARTY, revoked_at=AT, revoked_by_name="Priya Shah", reason=WHY,
        detail=detail,
    )  # fmt: skip
    both = [
        RuleVerdict(
            rule="attestation", passed=False, code=code, reason="No.", resolution=review(UUID(int=99), PARTY),
            revocation=revoked,
        )
        for code in (9, 33)
    ]  # fmt: skip
    (shown,) = verdicts_of(both, Terms("o", "a", "NREF", 18, trader="Alder custody"))
    assert shown.reason == (
        f"Alder custody is not attested. An attestation is needed to hold the token and to trade here. {detail}"
    )
    assert (shown.go, shown.href) == ("Review the case", f"/o/o/parties?id={PARTY}")


def test_wizard_says_which_parties_it_leaves_out() -> None:
    assert omitted_words([], "Base") == ""
    assert omitted_words(["Alder Capital"], "Base") == (
        "1 investor is omitted, because its attestation on Base was revoked: Alder Capital. Review each case first."
    )
    assert omitted_words(["A", "B"], "Base").startswith(
        "2 investors are omitted, because their attestations on Base were"
    )


def test_failed_request_of_a_revoked_party_leads_to_the_case() -> None:
    place = rules.Place(UUID(int=99), UUID(int=1), "NREF", 40161, {40161: "Sepolia"})
    person = rules.Person(f"0x{1:040x}", "Alder Capital", PARTY, is_revoked=True)
    found = rules.resolution(Reverted("No.", code=9), place, person)
    assert found is not None
    assert (found["method"], found["title"]) == ("GET", "Review the case of Alder Capital")
