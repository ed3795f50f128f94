"""An audit entry in words."""

from state.audit import _end, _entry, _verdict
from state.differences import action_words, changes, summary


def test_an_action_is_read_as_words():
    assert action_words("api_key.created") == "API key created"
    assert action_words("market.pending_bridge") == "Market pending bridge"
    assert action_words("webhook_endpoint.created") == "Webhook endpoint created"


def test_only_what_differs_is_shown_and_deep_fields_by_their_path():
    before = {"status": "active", "compliance_rules": {"blocked_countries": ["USA"], "lockup_end_time": 0}, "x": 1}
    after = {
        "status": "updating",
        "compliance_rules": {"blocked_countries": [], "lockup_end_time": 0},
        "org_only": True,
    }
    assert changes(before, after) == [
        {"name": "status", "old": "active", "new": "updating"},
        {"name": "compliance rules › blocked countries", "old": "USA", "new": ""},
        {"name": "org only", "old": "", "new": "yes"},
        {"name": "x", "old": "1", "new": ""},
    ]
    assert changes(None, None) == []


def test_a_line_says_the_first_two():
    found = changes({"a": "1", "b": "2"}, {"a": "2", "b": None, "c": False, "d": [{"chain_eid": 1, "none": None}]})
    assert summary(found) == "a: 1 → 2; b: 2 → none, 2 more"
    assert found[3]["new"] == "chain eid 1"
    assert summary([]) == ""


def test_the_line_leaves_out_what_only_programs_read_and_says_moments_as_people_do():
    found = changes(
        {"status": "pending"},
        {"status": "active", "request_id": "0f", "tx_hash": "0xab", "expires_at": "2027-03-01T09:05:00.000000Z"},
    )
    assert summary(found) == "status: pending → active; expires at: 1 Mar 2027 09:05 UTC"
    assert {change["name"] for change in found} == {"status", "expires at", "request id", "transaction"}


def test_who_it_was_and_what_may_not_be_seen():
    row = {
        "seq": 1, "at": "2026-01-01T00:00:00.000000Z", "actor_name": None, "credential": "system", "action": "a.b",
        "subject": {"type": "a", "id": "1"}, "subject_name": None, "before": None, "after": {"n": 1},
        "withheld": False, "request_id": None, "address": None, "previous_hash": "0", "hash": "1",
    }  # fmt: skip
    assert (_entry(row).who, _entry(row).by, _entry(row).line) == ("Signum", "", "n: 1")
    by_key = row | {"credential": "key:1", "actor_name": "Ann", "withheld": True, "after": None}
    assert (_entry(by_key).who, _entry(by_key).by) == ("Ann", "by an API key")
    assert _entry(by_key).line == "Not shown to your role"
    assert _entry(row | {"credential": "none"}).who == "Somebody"


def test_the_verdict_says_how_long_the_chain_is():
    assert _verdict({"broken": None, "length": 0}) == "There are no entries yet."
    assert _verdict({"broken": None, "length": 1}) == "1 entry is as written."
    assert _verdict({"broken": None, "length": 1200}) == "All 1,200 entries are as written."
    assert _verdict({"broken": {"seq": 3, "reason": "Gone."}}) == "Entry 3 is the first that is wrong. Gone."


def test_the_last_day_is_within():
    assert (_end("2026-12-31"), _end(""), _end("9999-12-31")) == ("2027-01-01T00:00:00Z", "", "")
