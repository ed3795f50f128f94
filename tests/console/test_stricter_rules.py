"""The rules of a market that are stricter than its asset's, in words."""

from state.markets.stricter_rules import stricter_words


def test_stricter_rule_has_both_values() -> None:
    here = {"Maximum holders": "300", "Maximum per holder": "250,000 NREF"}
    asset = {"Maximum holders": "500", "Maximum per holder": "400,000 NREF"}
    said = stricter_words(["max_holders", "max_tokens_per_holder"], here, asset)
    assert said == "Maximum holders 300 instead of 500, Maximum per holder 250,000 NREF instead of 400,000 NREF"


def test_stricter_rule_without_the_rules_of_the_asset_is_named() -> None:
    assert stricter_words(["max_holders"], {"Maximum holders": "300"}, {}) == "Maximum holders"
