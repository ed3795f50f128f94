"""Whom an operation affects, as every page shows it: a line with a number for each kind, and its list."""

from dataclasses import dataclass, field

import reflex as rx

from backend.compliance.impact_schemas import Effects
from state.compliance.effect_rows import AffectedView, Written, claim_row, holder_row, names_of, order_row
from state.compliance.effect_words import (
    claims_words,
    counted,
    excluded_words,
    halting_words,
    orders_words,
    rule_name,
    source_words,
    stricter_words,
    unable_words,
)
from state.core.api import Api


@dataclass
class EffectGroup:
    """A line with a number, and its list. `more` entries are not listed."""

    kind: str = ""
    title: str = ""
    below: str = ""
    about: str = ""
    tone: str = ""
    more: int = 0
    rows: list[AffectedView] = field(default_factory=list)


def groups_of(effects: Effects, written: Written) -> list[EffectGroup]:
    """Return a line for each kind of effect that there is."""
    found = [
        _excluded(effects, written),
        _ineligible(effects, written),
        _distributions(effects, written),
        _orders(effects, written),
        _claims(effects, written),
    ]
    return [*(group for group in found if group.rows), *_halting(effects), *_stricter(effects)]


def _excluded(effects: Effects, written: Written) -> EffectGroup:
    rows = [holder_row(one, written) for one in effects.holders_excluded]
    return EffectGroup(
        kind="holders",
        title=excluded_words(effects, written.loses),
        below=names_of(rows),
        about="They keep their tokens. The reasons are the rules that they satisfy now and not afterwards.",
        tone="bad",
        more=effects.holders_excluded_total - len({row.address for row in rows}),
        rows=rows,
    )


def _ineligible(effects: Effects, written: Written) -> EffectGroup:
    rows = [holder_row(one, written) for one in effects.holders_ineligible]
    counted_above = {one.wallet_address for one in effects.holders_excluded}
    count = effects.holders_ineligible_total
    words = counted(count, "investor is", "investors are") if count else "On another chain, they are"
    return EffectGroup(
        kind="ineligible",
        title=f"{words} already ineligible",
        below=names_of(rows),
        about="They violate the current rules, and stay ineligible.",
        more=max(count - len({row.address for row in rows} - counted_above), 0),
        rows=rows,
    )


def _distributions(effects: Effects, written: Written) -> EffectGroup:
    rows = [holder_row(one, written) for one in effects.distributions_unable]
    return EffectGroup(
        kind="distributions",
        title=unable_words(len(rows)),
        below=names_of(rows),
        about="The rules refuse its contract as a sender: claims fail until they allow it again.",
        tone="warn",
        rows=rows,
    )


def _orders(effects: Effects, written: Written) -> EffectGroup:
    rows = [order_row(one, written) for one in effects.orders]
    return EffectGroup(
        kind="orders",
        title=orders_words(effects.orders_total),
        below=names_of(rows),
        about="They stay in the order book, marked, until they are cancelled or their makers are eligible again.",
        tone="warn",
        more=effects.orders_total - len(rows),
        rows=rows,
    )


def _claims(effects: Effects, written: Written) -> EffectGroup:
    rows = [claim_row(one, written) for one in effects.claims]
    return EffectGroup(
        kind="claims",
        title=claims_words(effects.claims_total),
        below=names_of(rows),
        about="The token refuses the claim until the recipient is eligible again. The amount stays reserved.",
        tone="warn",
        more=effects.claims_total - len(rows),
        rows=rows,
    )


def _halting(effects: Effects) -> list[EffectGroup]:
    halting = [market for market in effects.markets if market.halts]
    if not halting:
        return []
    rows = [AffectedView(str(m.market_id), f"Market on {m.chain_name}", "", "", m.reason) for m in halting]
    return [
        EffectGroup(
            kind="markets",
            title=halting_words(len(rows)),
            below=rows[0].why if len(rows) == 1 else names_of(rows),
            about="No order can be filled there until the rules allow it.",
            tone="warn",
            rows=rows,
        )
    ]


def _stricter(effects: Effects) -> list[EffectGroup]:
    kept = [market for market in effects.markets if market.stricter]
    rows = [
        AffectedView(str(m.market_id), f"Market on {m.chain_name}", "", "", f"{', '.join(map(rule_name, m.stricter))}.")
        for m in kept
    ]
    group = EffectGroup(
        kind="stricter",
        title=stricter_words(len(rows)),
        below=rows[0].why if len(rows) == 1 else names_of(rows),
        about="The rules of a market are final: this change does not reach them. A new market takes the new rules.",
        tone="info",
        rows=rows,
    )
    return [group] if rows else []


class ShowsEffects(Api, mixin=True):
    """A state that shows whom an operation affects."""

    effects: list[EffectGroup] = []
    effects_source: str = ""
    listed: EffectGroup = EffectGroup()
    listing: bool = False

    @rx.event
    def list_effect(self, kind: str) -> None:
        """Open the list behind a number."""
        self.listed = next((group for group in self.effects if group.kind == kind), EffectGroup())
        self.listing = bool(self.listed.rows)

    @rx.event
    def show_listed(self, is_open: bool) -> None:
        """Close the list."""
        self.listing = bool(is_open)

    def _take_effects(self, effects: Effects, written: Written) -> None:
        self.effects, self.listing = groups_of(effects, written), False
        self.effects_source = source_words(effects.as_of)
