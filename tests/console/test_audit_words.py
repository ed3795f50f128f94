"""An audit entry in words."""

from typing import Any

import pytest

from state.audit import _end, _entry, _verdict
from state.differences import action_words, changes, summary
from state.record_values import Known, Market, Unit


def test_an_action_is_read_as_words():
    assert action_words("api_key.created") == "API key created"
    assert action_words("market.pending_bridge") == "Market pending bridge"
    assert action_words("control.requested", "forced_transfer") == "Forced transfer requested"
    assert action_words("webhook_endpoint.created") == "Webhook endpoint created"
    assert action_words("chain.repaired") == "Repaired from the chain"


def test_only_what_differs_is_shown_and_deep_fields_by_their_path():
    before = {"status": "active", "compliance_rules": {"blocked_countries": ["USA"], "lockup_end_time": 0}, "x": 1}
    after = {
        "status": "updating",
        "compliance_rules": {"blocked_countries": [], "lockup_end_time": 0},
        "org_only": True,
    }
    assert changes(before, after) == [
        {"name": "status", "old": "active", "new": "updating"},
        {"name": "organization only", "old": "", "new": "yes"},
        {"name": "rules › blocked countries", "old": "USA", "new": ""},
        {"name": "x", "old": "1", "new": ""},
    ]
    assert changes(None, None) == []


def test_a_line_says_the_first_two():
    found = changes({"a": "1", "b": "2"}, {"a": "2", "b": None, "c": False, "d": [{"chain_eid": 1, "none": None}]})
    assert summary(found) == "a: 1 → 2; b: 2 → none, 2 more"
    assert found[3]["new"] == "chain 1"
    assert summary([]) == ""


def test_the_line_leaves_out_what_only_programs_read_and_says_moments_as_people_do():
    found = changes(
        {"status": "pending"},
        {"status": "active", "request_id": "0f", "tx_hash": "0xab", "expires_at": "2027-03-01T09:05:00.000000Z"},
    )
    assert summary(found) == "status: pending → active; expires: 1 Mar 2027, 09:05:00 UTC"
    assert {change["name"] for change in found} == {"status", "expires", "request id", "transaction"}


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
         {"market id": "m", "price": "99.8 tUSD", "amount": "2,100 NREF", "filled": "0 NREF"}),
        ("market:m", {"maker_fee_bps": 5, "max_tokens_per_holder": "0", "lockup_end_time": 1826668800},
         {"maker fee": "0.05%", "most per holder": "no limit", "lockup ends": "20 Nov 2027, 00:00:00 UTC"}),
        ("market:m", {"currency": "tUSD", "amount": "2000000", "side": "buy"},
         {"currency": "tUSD", "amount": "2 tUSD", "side": "buy"}),
        ("asset:a", {"quote": "1500000", "balance": "0"}, {"quote": "1.5 tUSD", "balance": "0 NREF"}),
        ("asset:elsewhere", {"supply": "12", "rwa_token_address": "0x1", "regulation_type": "reg_d", "name": "007"},
         {"name": "007", "supply": "12 base units", "token": "0x1", "framework": "Reg D 506(c)"}),
    ],
)  # fmt: skip
def test_values_are_read_with_their_units_and_fields_by_what_people_call_them(
    subject: str, record: dict[str, Any], said: dict[str, str]
):
    kind, _, id_ = subject.partition(":")
    found = changes(None, record, KNOWN.about({"type": kind, "id": id_}, record))
    assert {change["name"]: change["new"] for change in found} == said


def test_who_it_was_and_what_may_not_be_seen():
    row = {
        "seq": 1, "at": "2026-01-01T00:00:00.000000Z", "actor_name": None, "credential": "system", "action": "a.b",
        "subject": {"type": "a", "id": "1"}, "subject_name": None, "before": None, "after": {"n": 1},
        "withheld": False, "request_id": None, "address": None, "previous_hash": "0", "hash": "1",
    }  # fmt: skip
    assert (_entry(row, Known()).who, _entry(row, Known()).by, _entry(row, Known()).line) == ("Signum", "", "n: 1")
    by_key = row | {"credential": "key:1", "actor_name": "Ann", "withheld": True, "after": None}
    assert (_entry(by_key, Known()).who, _entry(by_key, Known()).by) == ("Ann", "by an API key")
    assert _entry(by_key, Known()).line == "Not shown to your role"
    assert _entry(row | {"credential": "none"}, Known()).who == "Somebody"


def test_the_verdict_says_how_long_the_chain_is():
    assert _verdict({"broken": None, "length": 0}) == "There are no entries yet."
    assert _verdict({"broken": None, "length": 1}) == "1 entry is as written."
    assert _verdict({"broken": None, "length": 1200}) == "All 1,200 entries are as written."
    assert _verdict({"broken": {"seq": 3, "reason": "Gone."}}) == "Entry 3 is the first that is wrong. Gone."


def test_the_last_day_is_within():
    assert (_end("2026-12-31"), _end(""), _end("9999-12-31")) == ("2027-01-01T00:00:00Z", "", "")
