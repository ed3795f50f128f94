"""The drawer of a failed bridge: where its tokens are, and what a retry needs."""

import pytest

from state.bridges.whereabouts import UNATTESTED, retry_needs, tokens_of_failed, words_of_amount
from state.requests.views import StepView


@pytest.mark.parametrize(
    ("sending", "has_packet", "said"),
    [
        (StepView(name="bridge_submitting"), False, "No tokens left Base."),
        (StepView(name="bridge_submitting", status="failed"), False, ""),
        (StepView(name="bridge_submitting", tx_hash="0xab"), False, ""),
        (
            StepView(name="bridge_submitting", status="succeeded", tx_hash="0xab"), True,
            "1,000 NIB31 left Base. They arrive when Sepolia accepts the packet.",
        ),
    ],
)  # fmt: skip
def test_failed_bridge_says_where_the_tokens_are_only_if_known(sending: StepView, has_packet: bool, said: str) -> None:
    steps = [StepView(name="bridge_pending", status="failed"), sending]
    place = {"symbol": "NIB31", "source": "Base", "destination": "Sepolia", "has_packet": has_packet}
    assert tokens_of_failed(steps, amount=words_of_amount("1000" + "0" * 18, 18), **place) == said
    assert tokens_of_failed(steps, amount=words_of_amount("0", 18), **place) == ""
    if not has_packet:
        assert tokens_of_failed([], amount="1,000", **place) == ""


def test_retry_to_an_unattested_receiver_needs_an_attestation_first() -> None:
    needs = "A retry succeeds only after Unverified broker is attested on Sepolia."
    assert retry_needs(UNATTESTED, "Unverified broker", "Sepolia") == needs
    assert retry_needs(UNATTESTED, "", "Sepolia") == "A retry succeeds only after the receiver is attested on Sepolia."
    assert retry_needs("The chain is down.", "Unverified broker", "Sepolia") == ""
