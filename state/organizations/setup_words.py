"""The words of getting started: what each step is, why it is needed, and what its button does."""

from dataclasses import dataclass

from backend.auth.scopes import Scope
from backend.setup.schemas import SetupStep, SetupStepStatus

COMPLETE_AT = {SetupStep.ASSET: 2, SetupStep.MARKET: 2}
"""With so many of these, an organization no longer gets started: it may omit the other steps deliberately."""
FORMS: dict[str, tuple[str, ...]] = {
    "chain": ("chain",),
    "issuer": ("register",),
    "party": ("party", "verify"),
    "attestation": ("attestation",),
    "asset": ("asset",),
    "invitation": ("invitation",),
}
"""The forms of each step that has any."""
SCOPES = {
    SetupStep.CHAIN: Scope.CHAINS_WRITE,
    SetupStep.TREASURY: Scope.WALLETS_WRITE,
    SetupStep.ISSUER: Scope.API_KEYS_WRITE,
    SetupStep.PARTY: Scope.ATTESTATIONS_WRITE,
    SetupStep.ATTESTATION: Scope.ATTESTATIONS_WRITE,
    SetupStep.ASSET: Scope.ASSETS_WRITE,
    SetupStep.MARKET: Scope.ASSETS_WRITE,
    SetupStep.INVITATION: Scope.MEMBERS_WRITE,
}
"""What each step needs. A registration creates a temporary key, for which people need both scopes."""
WORDS: dict[SetupStep, tuple[str, str, str]] = {
    SetupStep.CHAIN: ("Enable a chain", "Assets, attestations and markets are written there.", "Choose a chain"),
    SetupStep.TREASURY: ("Create the treasury", "A server wallet that holds what you issue.", "Create wallet"),
    SetupStep.ISSUER: ("Register as an issuer", "Your attestations then count on your chains.", "Register"),
    SetupStep.PARTY: ("Verify an investor", "Add a person or company, and confirm the identity.", "Add an investor"),
    SetupStep.ATTESTATION: (
        "Attest the investor",
        "Proves on a chain what you verified, without personal data.",
        "Attest",
    ),
    SetupStep.ASSET: (
        "Issue an asset",
        "A token for verified investors; refine its rules at any time.",
        "Create asset",
    ),
    SetupStep.MARKET: ("Open a market", "Only investors whom the rules admit can trade there.", "Open the wizard"),
    SetupStep.INVITATION: ("Invite your team", "Officers review investors; members trade.", "Invite"),
}
"""Title, reason and button of each step."""
ONGOING = {
    SetupStep.ISSUER: "The registration is in progress.",
    SetupStep.PARTY: "An investor waits for your decision.",
    SetupStep.ATTESTATION: "The attestation is being written.",
    SetupStep.ASSET: "The asset is being deployed.",
    SetupStep.MARKET: "The market is being opened.",
}
"""What has begun and is not done."""


@dataclass
class SetupStepView:
    """A step: `done`, `open`, `busy` (in progress on a chain) or `blocked`, with the button's word and its form."""

    name: str = ""
    title: str = ""
    detail: str = ""
    state: str = ""
    word: str = ""
    form: str = ""
    scope: str = ""


def step_view(status: SetupStepStatus) -> SetupStepView:
    """Return a step as the card shows it."""
    title, reason, word = WORDS[status.step]
    form = next(iter(FORMS.get(status.step, ())), "")
    detail, state = reason, "done" if status.is_done else "open"
    if not status.is_done and status.blocked_by:
        names = " and ".join(f'"{WORDS[step][0]}"' for step in status.blocked_by)
        detail, state = f"After {names}.", "blocked"
    elif not status.is_done and status.in_progress:
        detail = ONGOING.get(status.step, reason)
        if status.step is SetupStep.PARTY:
            word, form = "Verify identity", "verify"
        else:
            state = "busy"
    return SetupStepView(status.step, title, detail, state, word, form, SCOPES[status.step])
