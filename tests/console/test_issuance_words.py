"""Values that the issuance pages calculate: amounts, rules, verdicts, prerequisites."""

from datetime import UTC, datetime
from fractions import Fraction
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.chain.abi.restrictions import RESTRICTIONS
from backend.client import ApiProblem
from backend.compliance.resolutions import resolved
from backend.compliance.schemas import RuleVerdict
from state.compliance.rule_values import after_months, moment, seconds
from state.compliance.rules import Checked, InvalidFields, Rules, asset_body, checked
from state.compliance.verdicts import Terms, verdicts_of
from state.core.arguments import id_of, number, texts
from state.core.prerequisites import prerequisites_of
from state.core.units import MAX_UINT256, column_decimals, cost, grouped, percent, priced, rounded, to_base, to_whole

AMOUNTS = st.integers(min_value=0, max_value=MAX_UINT256)
DECIMALS = st.integers(min_value=0, max_value=18)


@given(AMOUNTS, DECIMALS)
def test_amounts_round_trip_exactly(units: int, decimals: int) -> None:
    assert to_base(to_whole(units, decimals), decimals) == str(units)
    assert to_base(grouped(units, decimals), decimals) == str(units)


@pytest.mark.parametrize(
    "words", ["", ".", " ", "1e3", "-1", "+1", "1.2.3", "٣", "0x10", "NaN", "1.0000001", str(2**256), "9" * 400]
)
def test_malformed_amount_is_rejected_with_a_message(words: str) -> None:
    with pytest.raises(ValueError, match=r"[A-Z]\w+ "):
        to_base(words, 6)


@pytest.mark.parametrize(
    "words",
    ["1,5", "1,50", "1.000,50", "1,000,0", "1,0000", "1000,000", ",5", "5,", "1,,000", "1,000 000", "1 5", "1_0"],
)
def test_comma_is_never_read_as_something_else(words: str) -> None:
    with pytest.raises(ValueError, match=r"^Enter a number, such as 1250\.5"):
        to_base(words, 6)


@pytest.mark.parametrize(
    ("words", "units"),
    [
        ("1,250.5", 1_250_500_000),
        (" 1 250 000 ", 1_250_000_000_000),
        ("1_000", 10**9),
        (".5", 500_000),
        ("7.", 7 * 10**6),
    ],
)
def test_thousands_may_be_separated(words: str, units: int) -> None:
    assert to_base(words, 6) == str(units)


@given(st.integers(1, 10**30), st.integers(1, 10**30))
def test_cost_is_never_rounded_down(price: int, amount: int) -> None:
    total = cost(str(price), str(amount), 18)
    assert 0 <= total * 10**18 - price * amount < 10**18


def test_fees_are_shown_in_percent() -> None:
    assert [percent(bps) for bps in (0, 5, 30, 10_000)] == ["0.00%", "0.05%", "0.30%", "100.00%"]


@given(st.integers(min_value=1, max_value=2**33))
def test_times_round_trip_exactly(when: int) -> None:
    assert seconds(moment(when)) == when


@pytest.mark.parametrize(
    ("months", "begins", "ends"),
    [
        (12, (2026, 11, 29, 0, 9), "2027-11-30T00:00"),
        (12, (2026, 11, 29), "2027-11-29T00:00"),
        (12, (2028, 2, 29, 15), "2029-03-01T00:00"),
        (6, (2026, 8, 31, 12), "2027-03-01T00:00"),
        (1, (2026, 12, 31, 12), "2027-02-01T00:00"),
        (0, (2028, 1, 1), ""),
    ],
)
def test_preset_lockup_lasts_for_all_of_its_months(months: int, begins: tuple[int, ...], ends: str) -> None:
    assert after_months(months, datetime(*begins, tzinfo=UTC)) == ends  # type: ignore[misc, arg-type]


def test_unreadable_fields_are_all_named() -> None:
    with pytest.raises(InvalidFields) as invalid:
        checked(Rules(lockup="soon", max_holders="-1", max_tokens="x"), 18)
    assert set(invalid.value.errors) == {"lockup_end_time", "max_holders", "max_tokens_per_holder"}


def test_patch_contains_only_changes() -> None:
    old = checked(Rules(level=1, countries=["IRN"]), 18)
    new = checked(Rules(level=2, countries=["IRN"], max_tokens="1.5"), 18)
    assert isinstance(old, Checked)
    assert asset_body(new, old) == {
        "required_kyc_level": 2,
        "compliance_rules": {"max_tokens_per_holder": "1500000000000000000"},
    }
    assert asset_body(old, old) == {}


def test_reasons_use_whole_tokens_and_dates() -> None:
    reasons = [
        "The balance is smaller than the amount. The balance is 1500000 base units; the amount is 2000000 base units.",
        "2500000 base units afterwards; the maximum per holder is 2000000 base units.",
        "The lockup has not ended. It ends at Unix time 1826841600.",
        "3 holders afterwards; the maximum is 2.",
    ]
    rules = [RuleVerdict(rule="x", passed=False, code=i, reason=reason) for i, reason in enumerate(reasons)]
    texts_shown = [verdict.reason for verdict in verdicts_of(rules, Terms("o", "a", "ABC", 6))]
    assert texts_shown == [
        "The balance is smaller than the amount. The balance is 1.5 ABC; the amount is 2 ABC.",
        "2.5 ABC afterwards; the maximum per holder is 2 ABC.",
        "The lockup has not ended. It ends at 22 Nov 2027, 00:00 UTC.",
        "3 holders afterwards; the maximum is 2.",
    ]


def test_amounts_of_reasons_are_short_and_exact_on_hover() -> None:
    reason = "3397307692307692307692 base units of the sender are frozen."
    (verdict,) = verdicts_of([RuleVerdict(rule="x", passed=False, code=5, reason=reason)], Terms("o", "a", "NREF", 18))
    assert verdict.reason == "3,397.30 NREF of the sender are frozen."
    assert verdict.exact == "3,397.307692307692307692 NREF of the sender are frozen."


def _refused(code: int) -> RuleVerdict:
    rule = RuleVerdict(rule=RESTRICTIONS[code].rule, passed=False, code=code, reason=f"{RESTRICTIONS[code].message}.")
    return resolved([rule], UUID(int=2), UUID(int=1), 40161)[0]


def test_order_that_is_refused_twice_for_one_reason_has_one_refusal() -> None:
    terms = Terms("o", "a", "NREF", 18, trader="Alder custody")
    (buyer,) = verdicts_of([_refused(9), _refused(33)], terms)
    assert (
        buyer.reason == "Alder custody is not attested. An attestation is needed to hold the token and to trade here."
    )
    (seller,) = verdicts_of([_refused(7), _refused(33)], terms)
    assert seller.reason.endswith("needed to send the token and to trade here.")
    (level,) = verdicts_of([_refused(11), _refused(34)], terms)
    assert level.reason == ("The receiver's KYC level is too low. The trader's KYC level is too low for the market.")


def test_refusals_of_both_sides_of_a_transfer_stay_apart() -> None:
    both = verdicts_of([_refused(7), _refused(9)], Terms("o", "a", "NREF", 18))
    assert [verdict.title for verdict in both] == ["Attestation", "Attestation"]


@given(st.lists(st.sampled_from(sorted(RESTRICTIONS.keys() - {0})), unique=True))
def test_grouped_refusals_contain_every_reason_or_say_what_is_needed(codes: list[int]) -> None:
    shown = verdicts_of([_refused(code) for code in codes], Terms("o", "a", "NREF", 18))
    text = " ".join(verdict.reason for verdict in shown)
    for code in codes:
        assert RESTRICTIONS[code].message in text or (RESTRICTIONS[code].rule == "attestation" and "is needed" in text)
    assert len({verdict.id for verdict in shown}) == len(shown)


@pytest.mark.parametrize(
    ("units", "decimals", "shown"),
    [
        ("99800000", 6, "99.80"), ("100000000", 6, "100.00"), ("102137000", 6, "102.137"),
        ("1250500000", 6, "1,250.50"), ("7", 0, "7"), ("75", 1, "7.5"),
    ],
)  # fmt: skip
def test_price_has_two_decimals_or_those_that_it_has(units: str, decimals: int, shown: str) -> None:
    assert priced(units, decimals) == shown


def test_price_that_need_not_be_exact_is_rounded_like_amounts() -> None:
    assert priced("102" + "1" * 18, 18, is_exact=False) == "102.11"
    assert priced("100" + "0" * 18, 18, is_exact=False) == "100.00"


@given(units=st.integers(0, MAX_UINT256), decimals=st.integers(0, 18), digits=st.integers(0, 8))
def test_rounded_amount_never_exceeds_the_exact_one(units: int, decimals: int, digits: int) -> None:
    exact, shown = Fraction(units, 10**decimals), rounded(units, decimals, digits)
    step = Fraction(1, 10**digits)
    if shown.startswith("<"):
        assert 0 < exact < Fraction(shown[1:]) == step
        return
    read = Fraction(shown.replace(",", ""))
    assert read <= exact < read + step


@pytest.mark.parametrize(
    ("units", "shown"),
    [
        ("3397307692307692307692", "3,397.30"), ("1102137" + "0" * 15, "1,102.137"), ("6150" + "0" * 18, "6,150"),
        ("999999999999", "<0.000001"),
        ("1000000000000", "0.000001"), ("1" + "0" * 16 + "1", "0.100000"), ("0", "0"),
    ],
)  # fmt: skip
def test_amount_of_more_than_six_decimals_has_two_or_six_below_one(units: str, shown: str) -> None:
    assert rounded(units, 18) == shown


def test_prerequisites_open_in_order() -> None:
    entries = [
        {
            "state": "b",
            "satisfied": False,
            "detail": "",
            "resolution": {"method": "POST", "path": "/orgs/o/wallets", "href": "https://x/v1/orgs/o/wallets"},
        },
        {"state": "a", "satisfied": True, "detail": "", "resolution": {}},
        {"state": "c", "satisfied": False, "detail": "", "resolution": {}},
    ]
    problem = ApiProblem({"status": 409, "prerequisites": entries, "dependencyChain": ["a", "b", "c"]})
    items = prerequisites_of(problem, "o")
    assert [(item.name, item.state) for item in items] == [("a", "done"), ("b", "open"), ("c", "locked")]
    assert (items[1].href, items[1].call) == ("/o/o/wallets", "POST https://x/v1/orgs/o/wallets")


def test_event_arguments_of_any_shape_are_accepted_safely() -> None:
    assert texts([1]) == {}
    assert texts({"a": "b" * 9_000, "c": 1, "d": None}) == {"a": "b" * 4_000}
    assert id_of("../../orgs") == ""
    assert id_of(["x"]) == ""
    assert number("40161") == 40161
    assert [number(bad) for bad in ("-1", "1e9", None, [], "٣")] == [0] * 5


def test_column_shows_two_decimals_if_one_amount_is_no_whole_number() -> None:
    whole, part = str(10**18), str(10**18 + 1)
    assert [column_decimals(amounts, 18) for amounts in ([], [whole, ""], [whole, part])] == [0, 0, 2]
