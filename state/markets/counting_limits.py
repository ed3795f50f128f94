"""The rules of a planned market as text, and which limit counts where the token has one on the same chain."""

from collections.abc import Sequence

from backend.caps.schemas import CapEffect, CapRule
from state.compliance.cap_words import NAMES, amount_words
from state.compliance.rules import Checked, words

OF_ASSET = ("Organization only", "Trusted issuers")
"""Rules that a market does not have."""


def said_of(rules: Checked, caps: Sequence[CapEffect], eid: int, symbol: str, decimals: int) -> list[dict[str, str]]:
    """Return each rule: its name, its value, and a note on which limit counts on the market's chain; the note is empty
    where only one has a limit. `caps`: the token's limits after the deployment."""
    own = {CapRule.MAX_HOLDERS: rules.max_holders, CapRule.MAX_TOKENS: int(rules.max_tokens)}
    notes = {
        NAMES[cap.rule]: _note(own[cap.rule], int(cap.after), amount_words(cap.rule, cap.after, symbol, decimals))
        for cap in caps
        if cap.chain_eid == eid
    }
    shown = words(rules, symbol, decimals)
    return [{"name": name, "value": shown[name], "note": notes.get(name, "")} for name in shown if name not in OF_ASSET]


def _note(own: int, of_token: int, limit: str) -> str:
    if not of_token:
        return ""
    if not own or of_token < own:
        return f"The token's own limit on this chain is stricter: {limit}."
    if of_token == own:
        return "The token has the same limit on this chain."
    return f"This limit counts. The token's limit on this chain is {limit}."
