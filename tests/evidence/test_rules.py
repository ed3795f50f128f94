"""Which archives are read, and how a verification ends."""

import pytest

from backend.core.errors import BadRequest, PayloadTooLarge
from backend.evidence import rules, words
from backend.evidence.schemas import CheckKind, CheckResult, EvidenceCheck


@pytest.mark.parametrize("name", ["../a", "/a", "a/b", "a\\b", ".a", "a..b", "", "a" * 121])
def test_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(BadRequest):
        rules.check_entries([(name, 1)])


def test_archive_is_bounded() -> None:
    rules.check_entries([("rules.json", rules.MOST_BYTES)])
    with pytest.raises(PayloadTooLarge):
        rules.check_entries([("rules.json", rules.MOST_BYTES), ("asset.json", 1)])
    with pytest.raises(BadRequest):
        rules.check_entries([("rules.json", 1), ("rules.json", 1)])


def test_verification_ends_as_its_worst_check() -> None:
    def verdict(*results: CheckResult) -> CheckResult:
        return rules.verdict(EvidenceCheck(kind=CheckKind.FILE, subject="a", result=one) for one in results)

    assert verdict(CheckResult.OK, CheckResult.UNCHECKED, CheckResult.DIFFERS) is CheckResult.DIFFERS
    assert verdict(CheckResult.OK, CheckResult.UNCHECKED) is CheckResult.UNCHECKED
    assert verdict(CheckResult.OK) is CheckResult.OK


def test_hash_of_rules_ignores_their_order() -> None:
    assert rules.rules_sha256({"a": 1, "b": "2"}) == rules.rules_sha256({"b": "2", "a": 1})
    assert rules.rules_sha256({"a": 1}) != rules.rules_sha256({"a": 2})


def test_change_is_said_in_words_with_names() -> None:
    before = {"max_holders": 0, "asset_id": "6f1c"}
    after = {"max_holders": 9, "asset_id": "7f1c", "chain_eid": 40161, "supply": "2500000"}
    assert words.changes(before, after, 6, {40161: "Sepolia"}, {}) == (
        "maximum holders: unlimited → 9; chain: Sepolia; supply: 2.5"
    )


def test_change_names_the_accounts_that_the_pack_knows() -> None:
    known, other = "0x" + "aB" * 20, "0x" + "cd" * 20
    after = {"from": known, "to": other}
    said = words.changes(None, after, 6, {}, {known.lower(): "Marta Lindqvist"})
    assert said == f"from: Marta Lindqvist; to: {words.short(other)}"


def test_changes_say_nothing_that_only_machines_read() -> None:
    after = {
        "acts": ["minted"],
        "control": "mint",
        "caps": [{"chain_eid": 1}, {"chain_eid": 2}],
        "approved_by": "Tomas",
    }
    assert words.changes(None, after, 6, {}, {}) == "limits by chain: 2 chains; approved by: Tomas"


def test_changes_are_whole_and_have_the_names_of_the_audit_log() -> None:
    reason = "Court order 14/2026, " + "settlement of an estate " * 30
    after = {"to_address": "0x" + "cd" * 20, "tx_hashes": ["0x" + "ab" * 32], "reason": reason}
    assert words.changes(None, after, 6, {}, {}) == (
        f"to: {words.short('0x' + 'cd' * 20)}; transactions: {words.short('0x' + 'ab' * 32)}; reason: {reason}"
    )
