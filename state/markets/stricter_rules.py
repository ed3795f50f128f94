"""The rules of a market that refuse more than its asset's, as text."""

from collections.abc import Mapping, Sequence

from state.compliance.effect_words import rule_name


def stricter_words(names: Sequence[str], here: Mapping[str, str], asset: Mapping[str, str]) -> str:
    """Return the named rules with both values: `Maximum holders 300 instead of 500`. `here` and `asset` are the rules
    as text, by displayed name; a rule that one of them lacks is only named."""
    shown = [rule_name(name) for name in names]
    return ", ".join(
        f"{name} {here[name]} instead of {asset[name]}" if name in here and name in asset else name for name in shown
    )
