"""Decisions about assets, by themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.assets import rules
from backend.assets.rules import Terms
from backend.assets.schemas import AssetStatus, AssetUpdate
from backend.errors import BadRequest, Conflict, Invalid

NOW = 1_900_000_000


CHAINS = st.lists(st.integers(1, 2**32), min_size=1, max_size=20, unique=True)


@given(st.integers(1, 2**64), CHAINS)
def test_the_shares_of_a_cap_sum_to_the_cap_and_none_is_zero(cap: int, chains: list[int]) -> None:
    if cap < len(chains):
        with pytest.raises(Conflict):
            rules.share(cap, chains, chains[0], {})
        return
    shares = [rules.share(cap, chains, eid, {}) for eid in chains]
    assert sum(shares) == cap
    assert min(shares) > 0
    assert max(shares) - min(shares) <= 1


@given(CHAINS, st.data())
def test_no_chain_gets_less_than_it_holds_and_the_sum_is_kept(chains: list[int], data: st.DataObject) -> None:
    used = {eid: data.draw(st.integers(0, 50)) for eid in chains}
    cap = data.draw(st.integers(1, 600))
    try:
        shares = {eid: rules.holders_share(cap, chains, eid, used) for eid in chains}
    except Conflict:
        # Only where there are more chains than parts, or others have taken everything.
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


def test_a_share_follows_what_is_held() -> None:
    assert [rules.share(10, [1, 2], eid, {1: 8}) for eid in (1, 2)] == [8, 2]
    assert [rules.share(10, [1, 2], eid, {1: 3}) for eid in (1, 2)] == [5, 5]
    assert [rules.holders_share(4, [1, 2], eid, {1: 8, 2: 1}) for eid in (1, 2)] == [2, 1]
    assert rules.holders_share(4, [1], 1, {1: 8}) == 4
    with pytest.raises(Conflict, match="10 of it is taken already"):
        rules.share(10, [1, 2], 2, {1: 10})


def test_no_cap_stays_no_cap_and_one_chain_has_it_whole() -> None:
    assert rules.share(0, [1, 2, 3], 2, {1: 5}) == 0
    assert rules.holders_share(0, [1, 2, 3], 2, {1: 5}) == 0
    assert rules.share(7, [2], 2, {2: 9}) == 7


def test_a_patch_merges_also_inside_the_rules_and_null_takes_back() -> None:
    terms = Terms(max_holders=5, required_kyc_level=2, compliance_rules={"requires_accreditation": True})  # type: ignore[arg-type]
    patch = AssetUpdate.model_validate(
        {"required_kyc_level": None, "compliance_rules": {"blocked_countries": ["USA"], "max_tokens_per_holder": "9"}}
    )
    after = rules.merged(terms, patch, NOW)
    assert (after.max_holders, after.required_kyc_level) == (5, 0)
    assert after.compliance_rules.requires_accreditation
    assert after.compliance_rules.blocked_countries == ["USA"]
    taken = rules.merged(after, AssetUpdate.model_validate({"compliance_rules": {"blocked_countries": None}}), NOW)
    assert taken.compliance_rules.blocked_countries == []
    assert taken.compliance_rules.max_tokens_per_holder == "9"
    assert (
        rules.merged(after, AssetUpdate.model_validate({"compliance_rules": None}), NOW).compliance_rules
        == Terms().compliance_rules
    )
    assert {c.field for c in rules.changes(terms, after)} == {
        "required_kyc_level",
        "compliance_rules.blocked_countries",
        "compliance_rules.max_tokens_per_holder",
    }


def test_rules_inside_a_patch_are_read_like_any_body() -> None:
    for bad, pointer in [
        ({"blocked_countries": ["ZZZ"]}, "/compliance_rules/blocked_countries/0"),
        ({"max_tokens_per_holder": 5}, "/compliance_rules/max_tokens_per_holder"),
        ({"max_tokens_per_holder": str(2**256)}, "/compliance_rules/max_tokens_per_holder"),
        ({"unknown": 1}, "/compliance_rules/unknown"),
        ({"trusted_issuers": ["0x12"]}, "/compliance_rules/trusted_issuers/0"),
    ]:
        with pytest.raises(Invalid) as raised:
            rules.merged(Terms(), AssetUpdate(compliance_rules=bad), NOW)
        assert [e["pointer"] for e in raised.value.errors] == [pointer]


def test_only_a_new_lockup_must_end_in_the_future() -> None:
    ended = rules.merged(Terms(), AssetUpdate(compliance_rules={"lockup_end_time": NOW + 1}), NOW)
    rules.merged(ended, AssetUpdate(max_holders=3), NOW + 10)
    with pytest.raises(BadRequest):
        rules.merged(ended, AssetUpdate(compliance_rules={"lockup_end_time": NOW + 2}), NOW + 10)


@pytest.mark.parametrize("decimals", [6, 12, 18])
def test_a_supply_must_be_able_to_cross(decimals: int) -> None:
    most = (2**64 - 1) * 10 ** (decimals - 6)
    rules.check_supply(most, decimals)
    with pytest.raises(BadRequest):
        rules.check_supply(most + 10 ** (decimals - 6), decimals)


def test_what_an_asset_may_become() -> None:
    for status in AssetStatus:
        archivable = status in (AssetStatus.DRAFT, AssetStatus.FAILED)
        updatable = status in (AssetStatus.ACTIVE, AssetStatus.UPDATING, AssetStatus.FAILED)
        for check, may in ((rules.check_archivable, archivable), (rules.check_updatable, updatable)):
            if may:
                check(status)
            else:
                with pytest.raises(Conflict):
                    check(status)
