"""The words of an asset's activity: amounts in whole tokens, names before addresses."""

from types import SimpleNamespace
from typing import Any

import pytest

from backend.activity import rules
from backend.activity.nouns import as_noun

ALDER = "0x52908400098527886E0F7030069857D2E4169EE7"
UNIT = 10**18


def entry(kind: str, **fields: Any) -> SimpleNamespace:
    """An entry as the list reads it."""
    empty = dict.fromkeys(("name", "code", "side", "amount", "price", "actor", "receiver"))
    return SimpleNamespace(**{**empty, "kind": kind, **fields})


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (entry("transfer", amount=120 * UNIT, receiver=ALDER), "Transfer of 120 NREF to Alder Family Office"),
        (entry("transfer", amount=1, receiver="0x" + "11" * 20), "Transfer of <0.000001 NREF to 0x1111…1111"),
        (
            entry("order", side="buy", amount=2500 * UNIT, price=1_020_000, name="tUSD", code="6"),
            "Buy order for 2,500 NREF at 1.02 tUSD",
        ),
        (entry("trade", amount=UNIT // 3, price=10**6, name="tUSD", code="6"), "Trade of 0.333333 NREF at 1.00 tUSD"),
        (entry("trade", amount=UNIT, price=7), "Trade of 1 NREF at 7"),
        (entry("claim", amount=UNIT // 2), "Claim of 0.5 NREF"),
        (entry("claim", amount=2_500_000, name="tUSD", code="6"), "Claim of 2.5 tUSD"),
        (entry("funding", amount=18_000 * UNIT), "Funding of 18,000 NREF"),
        (entry("mint", amount=UNIT), "Mint of 1 NREF"),
        (entry("burn", amount=UNIT), "Burn of 1 NREF"),
        (entry("control", name="Paused", code=""), "NREF paused"),
        (entry("control", name="Unpaused", code=""), "NREF unpaused"),
        (entry("control", name="Frozen", code=ALDER, amount=9 * UNIT), "9 NREF of Alder Family Office frozen"),
        (entry("control", name="Frozen", code=ALDER, amount=0), "No NREF of Alder Family Office frozen"),
        (entry("market", name="Halted", code="true"), "Market halted by its owner"),
        (entry("market", name="Halted", code="false"), "Market reopened by its owner"),
        (entry("market", name="VenueSet", code="false"), "The market may no longer settle trades"),
        (
            entry("bridge", name="HyperEVM", code="Sepolia", amount=100 * UNIT),
            "Bridge of 100 NREF from HyperEVM to Sepolia",
        ),
        (entry("bridge", name="Base", code="Sepolia", amount=0), "Bridge of the rules of NREF from Base to Sepolia"),
        (entry("rules", name="3"), "Rules set, version 3"),
        (entry("funding", amount=9_000_000_000, name="tUSD", code="6"), "Funding of 9,000 tUSD"),
        (entry("distribution", name="Income Q3"), 'Distribution "Income Q3" created'),
        (entry("distribution", name="Income Q3", amount=9 * UNIT), 'Distribution "Income Q3" of 9 NREF created'),
        (
            entry("distribution", name="Income Q3", amount=2_500_000, side="tUSD", code="6"),
            'Distribution "Income Q3" of 2.5 tUSD created',
        ),
    ],
)
def test_title_of_an_entry_says_what_happened(row: Any, words: str) -> None:
    assert rules.title(row, "NREF", 18, {ALDER: "Alder Family Office"}) == words


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Mint 500 NREF to Treasury", "Mint of 500 NREF to Treasury"),
        ('Activate the distribution "Q3"', 'Activation of the distribution "Q3"'),
        ("Forced transfer of 120 NREF", "Forced transfer of 120 NREF"),
        ("Transfer of 120 NREF", "Transfer of 120 NREF"),
        ("Pause", "Pause"),
    ],
)
def test_request_is_named_like_the_events_beside_it(title: str, words: str) -> None:
    assert as_noun(title) == words
