"""What a change of rules leaves to ineligible investors, as a person reads it."""

import pytest

from backend.compliance.impact_schemas import Effects
from state.compliance.effect_words import excluded_words, rights_words

KEEP = "The ineligible investors keep their tokens and cannot receive more. "


@pytest.mark.parametrize(
    ("total", "unable", "words"),
    [
        (0, 0, ""),
        (2, 0, f"{KEEP}Both can still send them, and sell them under the rules of each market."),
        (2, 2, f"{KEEP}Neither can send or sell them either."),
        (7, 0, f"{KEEP}All 7 can still send them, and sell them under the rules of each market."),
        (7, 7, f"{KEEP}None of the 7 can send or sell them either."),
        (7, 2, f"{KEEP}2 of them cannot send or sell them either; the others can."),
        (1, 1, "The ineligible investor keeps its tokens and cannot receive more. It cannot send or sell them either."),
    ],
)
def test_rights_of_ineligible_investors_are_said_for_exactly_them(total: int, unable: int, words: str) -> None:
    effects = Effects(holders_total=10, holders_excluded_total=total, holders_unable_to_send_total=unable)
    assert rights_words(effects) == words


def test_impact_counts_investors() -> None:
    effects = Effects(holders_total=10, holders_excluded_total=7)
    assert excluded_words(effects) == "7 of 10 investors become ineligible"
