"""Where the tokens of a failed bridge are, and what a retry needs."""

from collections.abc import Sequence

from state.core.units import rounded
from state.requests.views import StepView

UNATTESTED = "The receiver has no valid attestation."


def tokens_of_failed(
    steps: Sequence[StepView], *, amount: str, symbol: str, source: str, destination: str, has_packet: bool
) -> str:
    """Return where the tokens are, read from the bridge's packet and the steps of its request; empty where a bridge
    carries none, or a transaction that sends them may be under way. `amount` is in whole tokens, empty for none."""
    if not amount:
        return ""
    if has_packet:
        return f"{amount} {symbol} left {source}. They arrive when {destination} accepts the packet."
    sending = next((step for step in steps if step.name == "bridge_submitting"), None)
    is_unsent = sending is not None and sending.status == "waiting" and not sending.tx_hash
    return f"No tokens left {source}." if is_unsent else ""


def retry_needs(failure: str, receiver: str, destination: str) -> str:
    """Return what must be done before a retry succeeds; empty if that is not known."""
    if failure != UNATTESTED:
        return ""
    return f"A retry succeeds only after {receiver or 'the receiver'} is attested on {destination}."


def words_of_amount(units: str, decimals: int) -> str:
    """Return an amount as a sentence shows it; empty for zero."""
    return rounded(units, decimals) if units not in ("", "0") else ""
