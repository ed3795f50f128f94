"""Who a change of rules affects: pure decisions."""

from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.chain.abi.rule_sets import MarketRules, TokenRules
from backend.compliance.affected import Rules, able_buyers, judged, order_failures, reasons, stricter
from backend.compliance.rules import Account, Standing
from backend.compliance.standings import together

COUNTRIES = st.sets(st.sampled_from(["NLD", "PRK", "SWE"]), max_size=2).map(lambda some: tuple(sorted(some)))
TOKENS = st.builds(
    TokenRules,
    min_kyc_level=st.integers(0, 4),
    requires_accreditation=st.booleans(),
    org_only=st.booleans(),
    blocked_countries=COUNTRIES,
    max_tokens_per_holder=st.sampled_from([0, 5, 50]),
)
MARKETS = st.builds(
    MarketRules,
    min_kyc_level=st.integers(0, 4),
    requires_accreditation=st.booleans(),
    blocked_countries=COUNTRIES,
    max_tokens_per_holder=st.sampled_from([0, 5, 50]),
)
ATTESTATIONS = st.lists(
    st.builds(
        SimpleNamespace,
        kyc_level=st.integers(0, 4),
        accredited=st.booleans(),
        country=st.sampled_from(["NLD", "PRK", "SWE"]),
        is_own=st.booleans(),
    ),
    max_size=3,
)


def account_of(attestations: list[Any], held: int, is_treasury: bool) -> Account:
    own = together([one for one in attestations if one.is_own])
    return Account("0x1", together(attestations), own, held, held, is_treasury=is_treasury)


CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""The first draw is slow on a busy machine."""
ACCOUNTS = st.builds(account_of, ATTESTATIONS, st.sampled_from([0, 5, 6, 60]), st.booleans())


def holder(level: int = 2, country: str = "SWE", held: int = 10) -> Account:
    standing = Standing(True, level, countries=(country,))
    return Account("0x1", standing, standing, held, held)


@CALM
@given(TOKENS, ACCOUNTS)
def test_unchanged_rules_exclude_no_holder(rules: TokenRules, account: Account) -> None:
    assert judged(Rules(rules), Rules(rules), account, account).lost == []


@CALM
@given(TOKENS, MARKETS, ACCOUNTS)
def test_market_with_the_rules_of_its_token_excludes_no_eligible_holder(
    rules: TokenRules, market: MarketRules, account: Account
) -> None:
    """The editor and the market wizard name the same holders for the same rules."""
    as_market = MarketRules(
        min_kyc_level=rules.min_kyc_level,
        requires_accreditation=rules.requires_accreditation,
        blocked_countries=rules.blocked_countries,
        max_tokens_per_holder=rules.max_tokens_per_holder,
    )
    assert judged(Rules(rules), Rules(rules, as_market), account, account).lost == []
    loses = judged(Rules(rules), Rules(rules, market), account, account).lost
    may_buy = bool(able_buyers(rules, market, [account]))
    if not judged(Rules(rules), Rules(rules), account, account).before:
        assert bool(loses) != may_buy


@CALM
@given(TOKENS, TOKENS, ACCOUNTS)
def test_treasury_is_never_affected(old: TokenRules, new: TokenRules, account: Account) -> None:
    treasury = Account("0x1", account.standing, account.own_standing, 9, 9, is_treasury=True)
    found = judged(Rules(old), Rules(new, MarketRules(min_kyc_level=4)), treasury, treasury)
    assert (found.before, found.after) == ((), ())


def test_holder_who_was_ineligible_before_loses_nothing() -> None:
    low = holder(level=1)
    found = judged(Rules(TokenRules(min_kyc_level=2)), Rules(TokenRules(min_kyc_level=3)), low, low)
    assert found.lost == []
    assert [v.rule for v in found.after] == [v.rule for v in found.before]


def test_holder_of_a_removed_issuer_loses_the_attestation() -> None:
    before, after = holder(), Account("0x1", Standing(), Standing(), 10, 10)
    found = judged(Rules(TokenRules()), Rules(TokenRules()), before, after)
    assert [v.code for v in found.lost] == [9]


def test_rule_of_token_and_market_is_counted_once() -> None:
    low = holder(level=1, country="NLD")
    strict = TokenRules(min_kyc_level=2, blocked_countries=("NLD",))
    market = MarketRules(min_kyc_level=2, blocked_countries=("NLD",))
    lost = judged(Rules(TokenRules()), Rules(strict, market), low, low).lost
    assert len(lost) == 2
    assert len(reasons(lost)) == 2
    assert len(order_failures(strict, market, low, True, 0)) == 2


def test_order_is_blocked_by_its_maker_and_not_by_its_size() -> None:
    rules, market = TokenRules(max_tokens_per_holder=20), MarketRules()
    assert order_failures(rules, market, holder(held=19), True, 0) == []
    assert [v.code for v in order_failures(rules, market, holder(held=20), True, 0)] == [15]
    assert order_failures(rules, market, holder(held=0), False, 0) == []
    late = TokenRules(lockup_end_time=10)
    assert order_failures(late, market, holder(), False, 10) == []
    assert [v.code for v in order_failures(late, market, holder(), False, 9)] == [6]
    assert order_failures(late, market, holder(), True, 9) == []


@given(TOKENS, MARKETS)
def test_market_that_is_not_stricter_accepts_whom_the_tokens_rules_accept(
    token: TokenRules, market: MarketRules
) -> None:
    same = MarketRules(
        min_kyc_level=token.min_kyc_level,
        requires_accreditation=token.requires_accreditation,
        blocked_countries=token.blocked_countries,
        max_tokens_per_holder=token.max_tokens_per_holder,
    )
    assert stricter(same, token) == []
    found = stricter(market, token)
    assert ("min_kyc_level" in found) == (market.min_kyc_level > token.min_kyc_level)
    open_ended = token.max_tokens_per_holder == 0
    most = market.max_tokens_per_holder
    assert ("max_tokens_per_holder" in found) == (most > 0 and (open_ended or most < token.max_tokens_per_holder))
    if not found:
        levels = Standing(found=True, level=4, accredited=True, accredited_level=4, countries=("SWE",))
        account = Account("0x1", levels, levels)
        assert able_buyers(token, same, [account]) == able_buyers(token, market, [account])
