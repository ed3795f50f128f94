"""Limits by chain, as a person reads and confirms them."""

from backend.caps.schemas import CapEffect, CapRule, CapShare
from state.compliance.cap_words import cap_changes, confirmation, expected

UNIT = 10**18


def effect(eid: int, rule: CapRule, before: int | None, after: int) -> CapEffect:
    old = None if before is None else str(before)
    return CapEffect(
        chain_eid=eid, chain_name=f"Chain {eid}", rule=rule, before=old, after=str(after), used="0", total="0"
    )


EFFECTS = [
    effect(1, CapRule.MAX_HOLDERS, 500, 250),
    effect(2, CapRule.MAX_HOLDERS, None, 250),
    effect(1, CapRule.MAX_TOKENS, 400_000 * UNIT, 200_000 * UNIT),
    effect(2, CapRule.MAX_TOKENS, None, 200_000 * UNIT),
]


def test_confirmation_names_each_chain_whose_limits_change() -> None:
    words = "Change the limits on Chain 1: from 500 to 250 holders and from 400,000 to 200,000 NREF per holder"
    assert confirmation(EFFECTS, "NREF", 18) == words
    assert confirmation(EFFECTS[1:2], "NREF", 18) == "", "a new chain alone takes nothing from another"
    raised = [effect(1, CapRule.MAX_HOLDERS, 0, 1)]
    assert confirmation(raised, "NREF", 18) == "Change the limits on Chain 1: from no limit to 1 holder"


def test_changed_limits_are_shown_with_old_and_new_value() -> None:
    shown = [(one["name"], one["old"], one["new"]) for one in cap_changes(EFFECTS, "NREF", 18)]
    assert shown[:2] == [
        ("Maximum holders on Chain 1 (0 now)", "500 holders", "250 holders"),
        ("Maximum holders on Chain 2 (new chain)", "", "250 holders"),
    ]
    assert ("Maximum per holder on Chain 2 (new chain)", "", "200,000 NREF") in shown
    assert cap_changes([effect(1, CapRule.MAX_HOLDERS, 5, 5)], "NREF", 18) == []
    third = cap_changes([effect(1, CapRule.MAX_TOKENS, 10 * UNIT, 10 * UNIT // 3)], "NREF", 18)
    assert [(one["new"], one["new_full"]) for one in third] == [("3.33 NREF", "3.333333333333333333 NREF")]


def test_confirmed_shares_cover_both_limits_of_every_chain() -> None:
    whole = str(200_000 * UNIT)
    assert expected(EFFECTS) == [
        CapShare(chain_eid=eid, max_holders=250, max_tokens_per_holder=whole) for eid in (1, 2)
    ]
    assert expected(EFFECTS[:2])[0] == CapShare(chain_eid=1, max_holders=250)
