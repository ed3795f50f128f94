"""The judgement of recipients: for each, what the rules say about that account alone."""

from hypothesis import given
from hypothesis import strategies as st

from backend.chain.abi.rule_sets import TokenRules
from backend.compliance.affected import reasons
from backend.compliance.rules import Account, Standing, failures, person
from backend.distributions.recipient_rules import Case, judge, new_holders, split
from backend.distributions.recipients import Recipients

ADDRESSES = [f"0x{number:040x}" for number in range(1, 9)]
STANDINGS = st.builds(
    Standing,
    found=st.just(True),
    level=st.integers(0, 3),
    accredited=st.booleans(),
    accredited_level=st.integers(0, 3),
    countries=st.sampled_from([("SWE",), ("PRK",), ("XXX",)]),
)
RULES = st.builds(
    TokenRules,
    min_kyc_level=st.integers(0, 3),
    requires_accreditation=st.booleans(),
    org_only=st.booleans(),
    blocked_countries=st.sampled_from([(), ("PRK",)]),
    max_tokens_per_holder=st.sampled_from([0, 50]),
)
PAIRS = st.tuples(STANDINGS, st.one_of(STANDINGS, st.just(Standing())))
CASES = st.builds(
    Case,
    rules=RULES,
    symbol=st.just("NREF"),
    decimals=st.just(1),
    pays_asset=st.booleans(),
    standings=st.dictionaries(st.sampled_from(ADDRESSES), PAIRS),
    holdings=st.dictionaries(st.sampled_from(ADDRESSES), st.integers(0, 60)),
    treasuries=st.frozensets(st.sampled_from(ADDRESSES), max_size=1),
    contracts=st.frozensets(st.sampled_from(ADDRESSES), max_size=1),
)
LISTS = st.lists(st.tuples(st.sampled_from(ADDRESSES), st.integers(1, 60)), min_size=1, unique_by=lambda one: one[0])


def recipients(pairs: list[tuple[str, int]]) -> Recipients:
    return Recipients([address for address, _ in pairs], [amount for _, amount in pairs])


@given(CASES, LISTS)
def test_recipients_are_judged_as_each_account_alone(case: Case, pairs: list[tuple[str, int]]) -> None:
    most = case.rules.max_tokens_per_holder
    for (address, amount), words in zip(pairs, judge(case, recipients(pairs)), strict=True):
        standing, own = case.standings.get(address, (Standing(), Standing()))
        alone = Account(address, standing, own, can_hold=address not in case.contracts)
        if address in case.treasuries:
            assert words == ()
            continue
        is_over = case.pays_asset and 0 < most < case.holdings.get(address, 0) + amount
        by_rules = tuple(reasons(failures(person(case.rules, alone))))
        assert words[: len(by_rules)] == by_rules
        assert len(words) == len(by_rules) + is_over


@given(CASES, LISTS)
def test_split_recipients_are_all_there_once(case: Case, pairs: list[tuple[str, int]]) -> None:
    whole = recipients(pairs)
    judged = judge(case, whole)
    eligible, blocked = split(whole, judged)
    assert all(judged[i] for i in blocked)
    assert sorted([*eligible.addresses, *(whole.addresses[i] for i in blocked)]) == sorted(whole.addresses)
    assert eligible.total + sum(whole.amounts[i] for i in blocked) == whole.total
    assert new_holders(case, eligible) <= len(eligible.addresses)


def test_amount_above_the_maximum_is_named_in_whole_tokens() -> None:
    known = {ADDRESSES[0]: (Standing(True, 1, countries=("SWE",)),) * 2}
    case = Case(TokenRules(max_tokens_per_holder=50), "NREF", 1, standings=known, holdings={ADDRESSES[0]: 15})
    assert judge(case, recipients([(ADDRESSES[0], 35)])) == [()]
    (words,) = judge(case, recipients([(ADDRESSES[0], 40)]))[0]
    assert words.endswith("The recipient would hold 5.5 NREF; the maximum is 5 NREF.")
    assert "base units" not in words
