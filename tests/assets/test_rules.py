"""Decisions about assets, as pure functions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.assets import rules
from backend.assets.rules import Terms
from backend.assets.schemas import AssetStatus, AssetUpdate
from backend.client import ApiProblem, body
from backend.compliance.schemas import RulesPatch
from backend.core.errors import BadRequest, Conflict

NOW = 1_900_000_000


CHAINS = st.lists(st.integers(1, 2**32), min_size=1, max_size=20, unique=True)


@given(st.integers(1, 2**64), CHAINS)
def test_cap_shares_sum_to_the_cap_and_are_positive(cap: int, chains: list[int]) -> None:
    if cap < len(chains):
        with pytest.raises(Conflict):
            rules.share(cap, chains, chains[0], {})
        return
    shares = [rules.share(cap, chains, eid, {}) for eid in chains]
    assert sum(shares) == cap
    assert min(shares) > 0
    assert max(shares) - min(shares) <= 1


@given(CHAINS, st.data())
def test_cap_share_covers_current_holdings_and_keeps_the_sum(chains: list[int], data: st.DataObject) -> None:
    used = {eid: data.draw(st.integers(0, 50)) for eid in chains}
    cap = data.draw(st.integers(1, 600))
    try:
        shares = {eid: rules.holders_share(cap, chains, eid, used) for eid in chains}
    except Conflict:
        # Only if there are more chains than parts, or the others have taken everything.
        empty = sum(used[eid] == 0 for eid in chains)
        assert cap < len(chains) or (empty and sum(used.values()) + empty > cap)
        return
    assert min(shares.values()) > 0
    if sum(used.values()) <= cap:
        assert sum(shares.values()) == cap
        assert all(shares[eid] >= used[eid] for eid in chains)
    else:
        assert all(shares[eid] <= max(used[eid], 1) for eid in chains)
        assert sum(shares.values()) <= cap


def test_cap_share_grows_with_holdings() -> None:
    assert [rules.share(10, [1, 2], eid, {1: 8}) for eid in (1, 2)] == [8, 2]
    assert [rules.share(10, [1, 2], eid, {1: 3}) for eid in (1, 2)] == [5, 5]
    assert [rules.holders_share(4, [1, 2], eid, {1: 8, 2: 1}) for eid in (1, 2)] == [2, 1]
    assert rules.holders_share(4, [1], 1, {1: 8}) == 4
    with pytest.raises(Conflict, match="10 of it is taken already"):
        rules.share(10, [1, 2], 2, {1: 10})


def test_cap_shares_of_an_uncapped_asset_or_a_single_chain_are_unchanged() -> None:
    assert rules.share(0, [1, 2, 3], 2, {1: 5}) == 0
    assert rules.holders_share(0, [1, 2, 3], 2, {1: 5}) == 0
    assert rules.share(7, [2], 2, {2: 9}) == 7


def test_asset_patch_merges_nested_rules_and_zero_or_empty_removes() -> None:
    terms = Terms(max_holders=5, required_kyc_level=2, compliance_rules={"requires_accreditation": True})  # type: ignore[arg-type]
    patch = AssetUpdate.model_validate(
        {"required_kyc_level": 0, "compliance_rules": {"blocked_countries": ["USA"], "max_tokens_per_holder": "9"}}
    )
    after = rules.merged(terms, patch, NOW)
    assert (after.max_holders, after.required_kyc_level) == (5, 0)
    assert after.compliance_rules.requires_accreditation
    assert after.compliance_rules.blocked_countries == ["USA"]
    taken = rules.merged(after, AssetUpdate.model_validate({"compliance_rules": {"blocked_countries": []}}), NOW)
    assert taken.compliance_rules.blocked_countries == []
    assert taken.compliance_rules.max_tokens_per_holder == "9"
    assert {c.field for c in rules.changes(terms, after)} == {
        "required_kyc_level",
        "compliance_rules.blocked_countries",
        "compliance_rules.max_tokens_per_holder",
    }


@pytest.mark.parametrize(
    ("patch", "pointer", "removal"),
    [
        ({"regulation_type": None}, "/regulation_type", '"none"'),
        ({"max_holders": None}, "/max_holders", "0"),
        ({"required_kyc_level": None}, "/required_kyc_level", "0"),
        ({"org_only": None}, "/org_only", "false"),
        ({"compliance_rules": None}, "/compliance_rules", "each rule as 0, false or an empty list"),
        ({"compliance_rules": {"requires_accreditation": None}}, "/compliance_rules/requires_accreditation", "false"),
        ({"compliance_rules": {"blocked_countries": None}}, "/compliance_rules/blocked_countries", "an empty list"),
        ({"compliance_rules": {"lockup_end_time": None}}, "/compliance_rules/lockup_end_time", "0"),
        ({"compliance_rules": {"max_tokens_per_holder": None}}, "/compliance_rules/max_tokens_per_holder", '"0"'),
        ({"compliance_rules": {"trusted_issuers": None}}, "/compliance_rules/trusted_issuers", "an empty list"),
    ],
    ids=lambda value: value if str(value).startswith("/") else "",
)
def test_null_for_a_protection_is_refused_with_the_value_that_removes_it(
    patch: dict[str, Any], pointer: str, removal: str
) -> None:
    with pytest.raises(ApiProblem) as refused:
        body(AssetUpdate, patch)
    [finding] = refused.value.errors
    assert finding["pointer"] == pointer
    assert f"must not be null. Omit the field to keep it, or send {removal} to remove it" in finding["detail"]


def test_asset_patch_rules_are_parsed_like_a_creation_body() -> None:
    for bad, pointer in [
        ({"blocked_countries": ["ZZZ"]}, "/compliance_rules/blocked_countries/0"),
        ({"max_tokens_per_holder": 5}, "/compliance_rules/max_tokens_per_holder"),
        ({"max_tokens_per_holder": str(2**256)}, "/compliance_rules/max_tokens_per_holder"),
        ({"unknown": 1}, "/compliance_rules/unknown"),
        ({"trusted_issuers": ["0x12"]}, "/compliance_rules/trusted_issuers/0"),
    ]:
        with pytest.raises(ApiProblem) as refused:
            body(AssetUpdate, {"compliance_rules": bad})
        assert [e["pointer"] for e in refused.value.errors] == [pointer]


def test_new_lockup_in_the_past_is_rejected() -> None:
    ended = rules.merged(Terms(), AssetUpdate(compliance_rules=RulesPatch(lockup_end_time=NOW + 1)), NOW)
    rules.merged(ended, AssetUpdate(max_holders=3), NOW + 10)
    with pytest.raises(BadRequest):
        rules.merged(ended, AssetUpdate(compliance_rules=RulesPatch(lockup_end_time=NOW + 2)), NOW + 10)


@pytest.mark.parametrize("decimals", [6, 12, 18])
def test_supply_that_cannot_be_bridged_is_rejected(decimals: int) -> None:
    most = (2**64 - 1) * 10 ** (decimals - 6)
    rules.check_supply(most, decimals)
    with pytest.raises(BadRequest):
        rules.check_supply(most + 10 ** (decimals - 6), decimals)


def test_asset_status_decides_whether_it_is_archivable_or_updatable() -> None:
    for status in AssetStatus:
        archivable = status in (AssetStatus.DRAFT, AssetStatus.FAILED)
        updatable = status in (AssetStatus.ACTIVE, AssetStatus.UPDATING, AssetStatus.FAILED)
        for check, may in ((rules.check_archivable, archivable), (rules.check_updatable, updatable)):
            if may:
                check(status)
            else:
                with pytest.raises(Conflict):
                    check(status)
