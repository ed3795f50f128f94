"""The impact of new rules, as the editor shows it."""

from dataclasses import dataclass, field

from backend.assets.schemas import AssetPlan
from backend.compliance.impact_schemas import Effects
from state.compliance.effect_words import (
    claims_words,
    counted,
    excluded_words,
    halting_words,
    orders_words,
    rights_words,
    stricter_words,
    unable_words,
)


@dataclass
class Impact:
    """The impact of saving."""

    headline: str = ""
    rights: str = ""
    stricter: str = ""
    staying: str = ""
    orders: str = ""
    is_harmless: bool = True
    total: int = 0
    steps: list[str] = field(default_factory=list)
    caps: list[dict[str, str]] = field(default_factory=list)


def impact_of(plan: AssetPlan, caps: list[dict[str, str]]) -> Impact:
    """Convert the response to a dry run; `caps` are the limits by chain that change, as text."""
    effects, words = plan.impact.effects, headline(plan.impact.effects)
    stay = effects.holders_total - effects.holders_excluded_total - effects.holders_ineligible_total
    kept = sum(bool(market.stricter) for market in effects.markets)
    return Impact(
        headline=words or "No investor becomes ineligible, no market halts",
        rights=rights_words(effects),
        stricter=stricter_words(kept) if kept else "",
        staying=counted(stay, "investor stays", "investors stay") + " eligible",
        orders=counted(effects.orders_total, "open order", "open orders") if effects.orders_total else "",
        is_harmless=not words,
        total=effects.holders_total,
        steps=plan.steps,
        caps=caps,
    )


def headline(effects: Effects) -> str:
    """Return a headline such as `3 of 212 investors become ineligible, 1 market halts`; empty without effects."""
    halting = sum(market.halts for market in effects.markets)
    parts = (
        (effects.holders_excluded_total, excluded_words(effects)),
        (len(effects.distributions_unable), unable_words(len(effects.distributions_unable))),
        (effects.orders_total, orders_words(effects.orders_total)),
        (effects.claims_total, claims_words(effects.claims_total)),
        (halting, halting_words(halting)),
    )
    return ", ".join(text for count, text in parts if count)
