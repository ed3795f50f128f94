"""Compliance rules as pure functions: properties that hold for all facts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.chain.abi.restrictions import RESTRICTIONS
from backend.chain.abi.rule_sets import MarketRules, TokenRules
from backend.compliance import rules
from backend.compliance.rules import Account, Standing, TokenState, evaluate, evaluate_order, failures
from backend.core.addresses import ZERO_ADDRESS

NOW = 1_900_000_000
COUNTRIES = st.sampled_from(["USA", "DEU", "PRK", "SWE"])
standings = st.builds(
    Standing,
    found=st.just(True),
    level=st.integers(0, 4),
    accredited=st.booleans(),
    accredited_level=st.integers(0, 4),
    countries=st.lists(COUNTRIES, min_size=1, max_size=3).map(tuple),
) | st.just(Standing())
amounts = st.integers(0, 10)
accounts = st.builds(
    Account,
    address=st.sampled_from(["0xA", "0xB", "0xC"]),
    standing=standings,
    own_standing=standings,
    balance=amounts,
    holding=amounts,
    frozen=amounts,
    is_treasury=st.booleans(),
    can_hold=st.booleans(),
)
caps = {"max_holders": st.integers(0, 3), "max_tokens_per_holder": st.integers(0, 10)}
common = {
    "min_kyc_level": st.integers(0, 4),
    "requires_accreditation": st.booleans(),
    "blocked_countries": st.lists(COUNTRIES, unique=True).map(tuple),
    "lockup_end_time": st.sampled_from([0, NOW - 1, NOW, NOW + 1]),
    **caps,
}
token_rules = st.builds(TokenRules, org_only=st.booleans(), **common)
market_rules = st.builds(MarketRules, **common)
states = st.builds(TokenState, paused=st.booleans(), has_rules=st.booleans(), holder_count=st.integers(0, 3))


def codes(verdicts: list[rules.RuleVerdict]) -> list[int]:
    return [v.code for v in failures(verdicts)]


@given(token_rules, st.none() | accounts, accounts, amounts, states)
def test_verdicts_follow_the_rule_table_in_order(
    r: TokenRules, sender: Account | None, receiver: Account, amount: int, state: TokenState
) -> None:
    verdicts = evaluate(r, sender, receiver, amount, NOW, state)
    assert [v.code for v in verdicts] == sorted({v.code for v in verdicts})
    for v in verdicts:
        assert v.rule == RESTRICTIONS[v.code].rule
        assert v.passed or v.reason.startswith(RESTRICTIONS[v.code].message)
        assert v.reason


@given(token_rules, accounts, accounts, amounts, states)
def test_treasury_is_checked_for_its_balance_only(
    r: TokenRules, sender: Account, receiver: Account, amount: int, state: TokenState
) -> None:
    one, other = (replace(a, is_treasury=True, can_hold=True) for a in (sender, receiver))
    found = codes(evaluate(r, one, other, amount, NOW, replace(state, paused=False, has_rules=True)))
    assert set(found) <= {rules.INSUFFICIENT_BALANCE, rules.FROZEN}


@given(token_rules, accounts, accounts, amounts, states, st.integers(1, 4))
def test_higher_kyc_level_never_allows_more(
    r: TokenRules, sender: Account, receiver: Account, amount: int, state: TokenState, more: int
) -> None:
    before = codes(evaluate(r, sender, receiver, amount, NOW, state))
    stricter = replace(r, min_kyc_level=r.min_kyc_level + more)
    assert set(before) <= set(codes(evaluate(stricter, sender, receiver, amount, NOW, state)))


@given(token_rules, accounts, amounts, states)
def test_receiver_without_attestation_is_refused_unless_treasury(
    r: TokenRules, receiver: Account, amount: int, state: TokenState
) -> None:
    stranger = replace(receiver, standing=Standing(), is_treasury=False, can_hold=True)
    found = codes(evaluate(r, None, stranger, amount, NOW, state))
    assert rules.RECEIVER_NOT_ATTESTED in found
    assert not {rules.RECEIVER_KYC_LEVEL, rules.RECEIVER_ACCREDITATION, rules.RECEIVER_COUNTRY_BLOCKED} & set(found)


@pytest.mark.long
@given(token_rules, accounts, accounts, amounts, states)
def test_lockup_blocks_senders_until_its_last_second(
    r: TokenRules, sender: Account, receiver: Account, amount: int, state: TokenState
) -> None:
    holder = replace(sender, is_treasury=False)
    locked = rules.LOCKUP in codes(evaluate(r, holder, receiver, amount, NOW, state))
    assert locked == (r.lockup_end_time > NOW)


@given(token_rules, market_rules, accounts, st.booleans(), amounts, states, st.booleans())
def test_order_passes_only_when_token_and_market_allow_it(
    r: TokenRules, m: MarketRules, trader: Account, is_buy: bool, amount: int, state: TokenState, halted: bool
) -> None:
    found = codes(evaluate_order(r, m, trader, is_buy, amount, NOW, state, halted))
    assert (rules.MARKET_HALTED in found) == halted
    if is_buy:
        of_token = codes(evaluate(r, None, trader, amount, NOW, state))
        assert [c for c in found if c < rules.MARKET_HALTED] == of_token


@given(token_rules, accounts)
def test_person_is_checked_like_a_receiver(r: TokenRules, account: Account) -> None:
    found = set(codes(rules.person(r, account)))
    asked = set(codes(evaluate(r, None, account, 0, NOW)))
    assert asked - {rules.MAX_HOLDERS, rules.MAX_PER_HOLDER} <= found or account.is_treasury


def test_mint_to_the_zero_address_is_refused_as_invalid_receiver() -> None:
    receiver = Account(ZERO_ADDRESS, can_hold=False)
    assert codes(evaluate(TokenRules(max_tokens_per_holder=1), None, receiver, 5, NOW)) == [rules.INVALID_RECEIVER]


def test_wholly_frozen_account_is_named_without_its_stored_number() -> None:
    open_rules = TokenRules(**dict.fromkeys(("min_kyc_level", "lockup_end_time", "max_holders"), 0))
    state = TokenState(paused=False, has_rules=True, holder_count=1)
    attested = Standing(found=True, level=2, countries=("SWE",))
    sender = Account("0xA", attested, attested, balance=5, holding=5, frozen=2**256 - 1)
    receiver = Account("0xB", attested, attested)
    (refused,) = failures(evaluate(open_rules, sender, receiver, 1, NOW, state))
    said = "The amount includes frozen tokens."
    assert (refused.rule, refused.reason) == ("frozen", f"{said} The sender's whole account is frozen.")
    (refused,) = failures(evaluate(open_rules, replace(sender, frozen=5), receiver, 1, NOW, state))
    assert refused.reason == f"{said} 5 base units of the sender are frozen."
