"""The review of a market says which limit counts: the market's, or the token's on the same chain."""

import pytest

from backend.caps.schemas import CapEffect, CapRule
from backend.markets.schemas import MarketPlan, MarketPlanImpact, PlanCost
from state.compliance.rules import Checked
from state.markets.counting_limits import said_of
from state.markets.plan import plan_of

UNIT = 10**18


@pytest.mark.parametrize(
    ("own", "of_token", "note"),
    [
        (500, 250, "The token's own limit on this chain is stricter: 250 holders."),
        (0, 1, "The token's own limit on this chain is stricter: 1 holder."),
        (100, 250, "This limit counts. The token's limit on this chain is 250 holders."),
        (250, 250, "The token has the same limit on this chain."),
        (500, 0, ""),
    ],
)
def test_lower_limit_of_holders_counts(own: int, of_token: int, note: str) -> None:
    rules = Checked("none", 0, False, False, [], 0, own, str(400_000 * UNIT), [])
    caps = [
        _share(1, CapRule.MAX_HOLDERS, 7),
        _share(2, CapRule.MAX_HOLDERS, of_token),
        _share(2, CapRule.MAX_TOKENS, 200_000 * UNIT),
    ]
    notes = {line["name"]: line["note"] for line in said_of(rules, caps, 2, "NREF", 18)}
    assert notes["Maximum holders"] == note
    assert notes["Maximum per holder"] == "The token's own limit on this chain is stricter: 200,000 NREF."
    assert notes["Framework"] == ""
    assert "Organization only" not in notes


@pytest.mark.parametrize(
    ("wei", "words"),
    [
        ("242187500000000", "0.00024"),
        ("18945000000000000", "0.019"),
        ("1234567000000000000000", "1,234.57"),
        ("0", "0"),
    ],
)
def test_cost_of_a_plan_has_two_digits(wei: str, words: str) -> None:
    impact = MarketPlanImpact(
        will_bridge=False, source_chain_eid=None, rules={}, taker_fee_bps=0, maker_fee_bps=0, eligible_parties=0,
        costs=[PlanCost(chain_eid=2, chain_name="Chain", amount=wei, currency="ETH")], warnings=[],
    )  # fmt: skip
    assert plan_of(MarketPlan(steps=[], impact=impact), "", "NREF", 18).cost == f"{words} ETH on Chain"


def _share(eid: int, rule: CapRule, after: int) -> CapEffect:
    return CapEffect(chain_eid=eid, chain_name="Chain", rule=rule, before=None, after=str(after), used="0", total="0")
