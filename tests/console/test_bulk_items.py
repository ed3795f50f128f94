"""What actions on several rows send, and how their outcomes are counted."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from state.attestations.bulk_items import (
    ATTEST,
    REJECT,
    RENEW,
    VERIFY,
    Subject,
    attestations,
    decisions,
    listed,
    obstacles,
    omission,
    subjects_of,
    waiting,
)
from state.attestations.queue import EntryView
from state.core.outcomes import OPEN, REFUSED, Outcome, accepted, counted, refused
from state.parties.detail import PartyView

SEPOLIA, HYPEREVM = 40161, 40362


def _entry(**facts: Any) -> EntryView:
    known = {
        "id": "a1",
        "party_id": "p1",
        "eid": SEPOLIA,
        "is_party": False,
        "name": "Alder",
        "wallet": "",
        "below": "Sepolia",
    }
    more = {"mark": "A", "country": "SWE", "country_name": "Sweden", "level": 2, "accredited": True}
    more |= {"status": "active", "at": ""}
    return EntryView(**(known | more | facts))


def test_rows_on_which_an_action_does_not_work_are_omitted() -> None:
    rows = [
        PartyView(id="p1", name="One", status="verified", level=2),
        PartyView(id="p2", name="Two", status="created"),
    ]
    for kind, names, others in ((ATTEST, ["One"], ["Two"]), (VERIFY, ["Two"], ["One"]), (REJECT, ["One", "Two"], [])):
        found, omitted = subjects_of(kind, rows)
        assert ([subject.name for subject in found], omitted) == (names, others)
    assert subjects_of("other", rows) == ([], ["One", "Two"])


def test_omission_counts_and_names_the_rows() -> None:
    assert omission(ATTEST, ["Viktor Hale"], 2) == "1 of 2 selected is not verified and is omitted: Viktor Hale."
    assert omission(VERIFY, ["One", "Two"], 3) == "2 of 3 selected are already decided and are omitted: One and Two."
    assert omission(ATTEST, [], 2) == ""


def test_parties_that_cannot_be_attested_are_named_with_the_reason() -> None:
    rows = [
        PartyView(id="p1", name="Viktor Hale", status="rejected"),
        PartyView(id="p2", name="Noor van Dijk", status="verifying"),
        PartyView(id="p3", name="Henrik Vance", status="verifying"),
    ]
    said = (
        "Only verified parties can be attested. Noor van Dijk and Henrik Vance are in review. Viktor Hale was rejected."
    )
    assert obstacles(ATTEST, rows) == said
    assert obstacles(REJECT, rows) == ""


def test_renewal_repeats_what_was_attested_with_the_new_expiry() -> None:
    found, omitted = subjects_of(RENEW, [_entry(), _entry(status="expiring"), _entry(status="revoked")])
    assert omitted == ["Alder"]
    item = {"party_id": "p1", "chain_eid": SEPOLIA, "kyc_level": 2, "accredited": True, "expires_at": "2030-01-01"}
    assert attestations(RENEW, found, [HYPEREVM], "2030-01-01") == [item, item]
    assert "expires_at" not in attestations(RENEW, found, [], None)[0]


def test_each_party_is_attested_on_each_chain_at_its_verified_level() -> None:
    subjects = [Subject("p1", "One", "verified", 2, False), Subject("p2", "Two", "verified", 1, True)]
    items = attestations(ATTEST, subjects, [SEPOLIA, HYPEREVM], None)
    assert [(item["party_id"], item["chain_eid"]) for item in items] == [
        ("p1", SEPOLIA), ("p1", HYPEREVM), ("p2", SEPOLIA), ("p2", HYPEREVM),
    ]  # fmt: skip
    assert all(item.keys() == {"party_id", "chain_eid"} for item in items)
    places = [o.place for o in waiting(items, {"p1": "One", "p2": "Two"}, {SEPOLIA: "Sepolia", HYPEREVM: "HyperEVM"})]
    assert places == ["Sepolia", "HyperEVM"] * 2


def test_decision_is_for_the_status_that_was_shown() -> None:
    subjects = [Subject("p1", "One", "verifying", 0, False)]
    assert decisions(subjects, {"kyc_level": 2}) == [{"party_id": "p1", "expected_status": "verifying", "kyc_level": 2}]


def test_names_are_listed_once_and_the_rest_is_counted() -> None:
    assert listed(["A"]) == "A"
    assert listed(["A", "B", "A"]) == "A and B"
    assert listed(["A", "B", "C"]) == "A, B and C"
    assert listed(["A", "B", "C", "D", "E"]) == "A, B, C and 2 more"


def test_refusal_says_every_missing_prerequisite() -> None:
    missing = [{"satisfied": False, "detail": "Not verified."}, {"satisfied": True, "detail": "Exists."}]
    said = refused(Outcome("1", "One"), {"detail": "Not satisfied yet", "prerequisites": missing})
    assert (said.status, said.detail) == (REFUSED, "Not verified.")
    assert refused(Outcome("1", "One"), {"detail": "Gone"}).detail == "Gone"


@given(st.lists(st.sampled_from(["open", "sent", "waits", "refused"])))
def test_every_known_outcome_is_counted_once(kinds: list[str]) -> None:
    one = Outcome("1", "One")
    made = {
        "open": one,
        "sent": accepted(one, "r", "", "o", waits=False),
        "waits": accepted(one, "r", "", "o", waits=True),
        "refused": refused(one, {"detail": "No"}),
    }
    outcomes = [replace(made[kind], id=str(i)) for i, kind in enumerate(kinds)]
    assert counted(outcomes) == (len(kinds) - kinds.count("open"), kinds.count("refused"))
    assert all((o.status == OPEN) == (k == "open") for o, k in zip(outcomes, kinds, strict=True))
