"""An audit entry in words."""

from dataclasses import replace
from datetime import UTC
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.audit.schemas import AuditBreak, AuditEntry, AuditVerification
from state.audit.differences import action_words, changes, summary
from state.audit.log import _end, _start, _verdict
from state.audit.views import AuditEntryView, actions, entry_view, rest_of
from state.core.dates import zone_of
from state.core.record_values import Known, Market, Unit


def test_audit_action_is_shown_in_words():
    assert action_words("api_key.created") == "API key created"
    assert action_words("market.pending_bridge") == "Market waiting for its bridge"
    assert action_words("attestation.revoking") == "Attestation revocation requested"
    assert action_words("control.requested", "forced_transfer") == "Forced transfer requested"
    assert action_words("webhook_endpoint.created") == "Webhook endpoint created"
    assert action_words("chain.repaired") == "Repaired from the chain"


def test_audit_changes_show_differing_fields_with_nested_paths():
    before = {"status": "active", "compliance_rules": {"blocked_countries": ["USA"], "lockup_end_time": 0}, "x": 1}
    after = {
        "status": "updating",
        "compliance_rules": {"blocked_countries": [], "lockup_end_time": 0},
        "org_only": True,
    }
    assert changes(before, after) == [
        {"name": "status", "old": "active", "new": "updating"},
        {"name": "organization only", "old": "", "new": "yes"},
        {"name": "rules › blocked countries", "old": "United States (USA)", "new": ""},
        {"name": "x", "old": "1", "new": ""},
    ]
    assert changes(None, None) == []


def test_audit_summary_shows_the_first_two_changes():
    found = changes({"a": "1", "b": "2"}, {"a": "2", "b": None, "c": False, "d": [{"chain_eid": 1, "none": None}]})
    assert summary(found) == "A: 1 → 2; b 2 removed; 2 more fields"
    assert found[3]["new"] == "chain 1"
    assert summary([]) == ""


def test_audit_summary_says_what_no_longer_needs_a_second_person():
    lifted = changes({"approvals": ["token.forced_transfer"]}, {"approvals": [], "reason": "One person tries it."})
    assert summary(lifted) == "Forced transfer no longer needs a second person; reason: One person tries it"
    replaced = changes({"approvals": ["token.mint"]}, {"approvals": ["token.burn"]})
    assert summary(replaced) == "Burn now needs a second person, Mint no longer needs a second person"


def test_audit_summary_of_a_webhook_names_its_address_once_and_the_reason():
    endpoint = {"url": "https://hooks.example", "status": "enabled"}
    assert summary(changes(None, endpoint), "https://hooks.example") == "Status: enabled"
    disabled = changes({"status": "enabled"}, {"status": "disabled", "disabled_reason": "manual"})
    assert summary(disabled) == "Status: enabled → disabled; disabled by hand"


def test_audit_summary_of_a_new_record_reads_as_a_sentence():
    distribution = {"chain_eid": 40161, "has_recipients": True, "id": "0f", "reason": "Income."}
    found = changes(None, distribution, KNOWN.about({"type": "distribution", "id": "d"}, distribution))
    assert summary(found) == "Reason: Income; on Sepolia"
    endpoint = {"event_types": ["asset.updated"], "api_version": "v1"}
    assert summary(changes(None, endpoint)) == "Events: asset.updated"
    assert summary(changes(None, {"disabled_reason": "manual"})) == "Disabled by hand"


def test_audit_summary_shortens_addresses():
    address = "0x52908400098527886E0F7030069857D2E4169EE7"
    assert summary(changes(None, {"label": "Treasury", "paid to": address})) == "Label: Treasury; paid to: 0x5290…9EE7"


def test_audit_summary_omits_technical_fields_and_formats_times():
    found = changes(
        {"status": "pending"},
        {"status": "active", "request_id": "0f", "tx_hash": "0xab", "expires_at": "2027-03-01T09:05:00.000000Z"},
    )
    assert summary(found) == "Status: pending → active; expires 1 Mar 2027, 09:05:00 UTC"
    assert {change["name"] for change in found} == {"status", "expires", "request ID", "transaction"}


KNOWN = Known(
    assets={"a": Unit("NREF", 18)},
    markets={"m": Market("a", Unit("tUSD", 6))},
    chains={40161: "Sepolia"},
)


@pytest.mark.parametrize(
    ("subject", "record", "said"),
    [
        ("asset:a", {"control": "forced_transfer", "amount": "1" + "0" * 20, "chains": [40161]},
         {"control": "forced transfer", "amount": "100 NREF", "chains": "Sepolia"}),
        ("order:o", {"market_id": "m", "price": "99800000", "amount": "2100" + "0" * 18, "filled": "0"},
         {"market ID": "m", "price": "99.8 tUSD", "amount": "2,100 NREF", "filled": "0 NREF"}),
        ("market:m", {"maker_fee_bps": 5, "max_tokens_per_holder": "0", "lockup_end_time": 1826668800},
         {"maker fee": "0.05%", "maximum per holder": "no limit", "lock-up ends": "20 Nov 2027, 00:00:00 UTC"}),
        ("market:m", {"currency": "tUSD", "amount": "2000000", "side": "buy"},
         {"currency": "tUSD", "amount": "2 tUSD", "side": "buy"}),
        ("asset:a", {"mint": "5" + "0" * 18, "forced_transfer": None}, {"mint": "5 NREF"}),
        ("wallet:w", {"amount": "12500000", "currency_symbol": "tUSD", "currency_decimals": 6},
         {"amount": "12.5 tUSD", "currency": "tUSD", "currency decimals": "6"}),
        ("asset:a", {"quote": "1500000", "balance": "0"}, {"quote": "1.5 tUSD", "balance": "0 NREF"}),
        ("asset:elsewhere", {"supply": "12", "rwa_token_address": "0x1", "regulation_type": "reg_d", "name": "007"},
         {"name": "007", "supply": "12 base units", "token": "0x1", "framework": "Reg D 506(c)"}),
    ],
)  # fmt: skip
def test_audit_values_have_units_and_readable_field_names(subject: str, record: dict[str, Any], said: dict[str, str]):
    kind, _, id_ = subject.partition(":")
    found = changes(None, record, KNOWN.about({"type": kind, "id": id_}, record))
    assert {change["name"]: change["new"] for change in found} == said


def test_audit_entry_shows_the_actor_and_hides_withheld_fields():
    row = {
        "organization_id": uuid4(), "actor": None,
        "seq": 1, "at": "2026-01-01T00:00:00.000000Z", "actor_name": None, "credential": "system", "action": "a.b",
        "subject": {"type": "a", "id": "1"}, "subject_name": None, "before": None, "after": {"n": 1},
        "withheld": False, "request_id": None, "address": None, "previous_hash": "0", "hash": "1",
    }  # fmt: skip

    def view(**changed: Any) -> AuditEntryView:
        return entry_view(AuditEntry.model_validate(row | changed), Known())

    assert (view().who, view().by, view().line) == ("Signum", "", "N: 1")
    by_key = view(credential="key:1", actor_name="Ann", withheld=True, after=None)
    assert (by_key.who, by_key.by, by_key.line) == ("Ann", "via API key", "Hidden for your role")
    assert view(credential="none").who == "Unknown"
    assert view(before={"url": "https://hooks.example"}, after=None).line == ""
    assert view(before={"website": "https://a.example"}, after={"website": None}).line == (
        "Website https://a.example removed"
    )


def test_audit_entries_of_one_request_are_one_action():
    def entry(seq: int, what: str, request_id: str = "") -> AuditEntryView:
        return AuditEntryView(seq=seq, what=what, request_id=request_id, at=f"t{seq}", who="Ann")

    listed = [
        entry(6, "Order filled", "r1"), entry(5, "Invitation expired"), entry(4, "Order filled", "r1"),
        entry(3, "Asset updated", "r2"), entry(2, "Order placed", "r1"), entry(1, "Order requested", "r1"),
    ]  # fmt: skip
    expired, asset, order = actions(listed)
    assert (order.first.seq, order.seqs, order.at) == (1, [1, 2, 4, 6], "t1")
    assert order.followed == "Order placed, Order filled (2)"
    assert ([expired.first.seq, expired.then, expired.followed], asset.seqs) == ([5, [], ""], [3])
    first = actions(listed[::-1])[0]
    assert (first.seqs, first.first.seq) == ([1, 2, 4, 6], 1)


def test_request_of_an_approval_is_listed_as_earlier_than_its_decision_although_it_ended_later():
    def entry(seq: int, what: str, request_id: str) -> AuditEntryView:
        return AuditEntryView(seq=seq, what=what, request_id=request_id, at=f"t{seq}", who="Ann")

    listed = [
        entry(3, "Asset updated", "asked"), entry(2, "Approved", "decided"),
        entry(1, "Approval requested", "asked"),
    ]  # fmt: skip
    assert [(one.first.what, one.at) for one in actions(listed)] == [
        ("Approved", "t2"), ("Approval requested", "t1"),
    ]  # fmt: skip
    assert [one.at for one in actions(listed[::-1])] == ["t1", "t2"]


def test_what_ran_after_an_approval_is_listed_at_its_own_time():
    def entry(seq: int, action: str, request_id: str) -> AuditEntryView:
        return AuditEntryView(seq=seq, action=action, request_id=request_id, at=f"t{seq}", who="Ann")

    listed = [
        entry(5, "control.confirmed", "asked"), entry(4, "approval.approved", "decided"),
        entry(2, "approval.created", "asked"), entry(1, "control.requested", "asked"),
    ]  # fmt: skip
    assert [(one.at, one.seqs) for one in actions(listed)] == [("t5", [5]), ("t4", [4]), ("t1", [1, 2])]


def test_action_that_waits_for_approval_is_not_shown_as_having_followed():
    def entry(seq: int, action: str, what: str) -> AuditEntryView:
        return AuditEntryView(seq=seq, action=action, what=what, request_id="asked")

    (asked,) = actions([
        entry(2, "control.requested", "Forced transfer requested"), entry(1, "approval.created", "Approval requested"),
    ])  # fmt: skip
    assert asked.lead + asked.followed == "Needs a second person's approval: Forced transfer requested"
    (order,) = actions([entry(2, "order.open", "Order placed"), entry(1, "order.pending", "Order requested")])
    assert order.lead + order.followed == "Then: Order placed"


def test_audit_entry_separates_technical_fields():
    row = {
        "organization_id": uuid4(), "actor": None, "seq": 1, "at": "2026-01-01T00:00:00.000000Z", "actor_name": None,
        "credential": "system", "action": "webhook.created", "subject": {"type": "webhook", "id": "1"},
        "subject_name": None, "before": None, "withheld": False, "request_id": None, "address": None,
        "previous_hash": "0", "hash": "1",
        "after": {"id": "1", "organization_id": "2", "api_version": "v1", "url": "https://hooks.example"},
    }  # fmt: skip
    view = entry_view(AuditEntry.model_validate(row), Known())
    assert [change["name"] for change in view.differences] == ["URL"]
    assert [change["name"] for change in view.technical] == ["API version", "ID", "organization ID"]


def test_audit_values_name_an_account_before_its_address():
    known = replace(KNOWN, accounts={"0x5dED": "Kestrel Pension Trust"})
    found = changes(None, {"from_address": "0x5dED"}, known.about({"type": "asset", "id": "a"}, {}))
    assert found == [{"name": "from", "old": "", "new": "Kestrel Pension Trust (0x5dED)"}]


def test_line_of_an_entry_omits_what_action_and_subject_say():
    def line(
        action: str, subject: str, before: dict[str, Any] | None, after: dict[str, Any], kind: str = "order"
    ) -> str:
        entry = AuditEntry.model_validate({
            "organization_id": uuid4(), "actor": None, "seq": 1, "at": "2026-01-01T00:00:00.000000Z",
            "actor_name": None, "credential": "system", "action": action, "subject": {"type": kind, "id": "1"},
            "subject_name": subject, "before": before, "after": after, "withheld": False, "request_id": None,
            "address": None, "previous_hash": "0", "hash": "1",
        })  # fmt: skip
        return entry_view(entry, KNOWN).line

    order = {"status": "pending", "side": "buy", "price": "101500000", "amount": "2100" + "0" * 18, "market_id": "m"}
    assert line("order.pending", "Buy 2,100 NREF at 101.5 tUSD for Kestrel", None, order) == ""
    assert line("invitation.expired", "a@b.example", {"status": "pending"}, {"status": "expired"}) == ""
    changed = line("organization.updated", "Northwind", {"status": "active"}, {"status": "suspended"})
    assert changed == "Status: active → suspended"
    sent = {"status": "pending", "chain_eid": 40161, "from_address": "0x" + "12" * 20}
    assert line("transfer.pending", "45 NREF to Alder", None, sent, "transfer") == "From 0x1212…1212; on Sepolia"


@given(st.lists(st.sampled_from(["", "r1", "r2"]), max_size=30))
def test_audit_actions_keep_every_entry_once(requests: list[str]):
    listed = [AuditEntryView(seq=seq, request_id=id_) for seq, id_ in enumerate(requests, 1)]
    assert sorted(seq for action in actions(listed) for seq in action.seqs) == list(range(1, len(listed) + 1))


def test_audit_action_is_completed_from_the_next_page():
    placed, asked = AuditEntryView(seq=9, request_id="r"), AuditEntryView(seq=6, request_id="r")
    alone, other = AuditEntryView(seq=8), AuditEntryView(seq=5, request_id="s")
    by_another = AuditEntryView(seq=4, request_id="r", who="Dana Whitfield")
    rest = rest_of([placed, alone], [AuditEntryView(seq=7), asked, other, by_another])
    assert rest == [asked]
    assert [(action.first.seq, action.seqs) for action in actions([placed, alone, *rest])] == [(8, [8]), (6, [6, 9])]


def test_audit_verdict_states_the_length_of_the_chain():
    def words(length: int, broken: AuditBreak | None = None, erased: int = 0) -> str:
        facts = {"whole": broken is None, "length": length, "last_hash": None, "broken": broken}
        return _verdict(AuditVerification(**facts, erased=erased, erasures=[9] if erased else []))

    assert words(0) == "There are no entries yet."
    assert words(1) == "1 entry matches the recorded hashes."
    assert words(1200) == "All 1,200 entries match the recorded hashes."
    assert words(12, erased=3) == ("All 12 entries match the recorded hashes. Personal data was erased from 3 of them.")
    assert words(2, AuditBreak(seq=3, reason="Gone.")) == "Entry 3 is the first invalid one. Gone."


def test_date_filter_includes_the_last_day():
    assert [_end(day, UTC) for day in ("2026-12-31", "", "9999-12-31")] == ["2027-01-01T00:00:00Z", "", ""]
    tokyo = zone_of("Asia/Tokyo")
    assert (_start("2026-12-31", tokyo), _end("2026-12-31", tokyo)) == ("2026-12-30T15:00:00Z", "2026-12-31T15:00:00Z")
