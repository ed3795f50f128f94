"""The steps of the guided tours: what to do, where, and which entry of the audit log shows that it really happened."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.audit.schemas import AuditEntry

PAGE, SIDE = "main, aside:not(.side):not(.tour), [role=dialog]", ".side"


@dataclass(frozen=True)
class Point:
    """A control to outline: the first one in view below `within` whose text begins with `words`."""

    words: str
    within: str = PAGE


@dataclass(frozen=True)
class TourStep:
    """One step. `path` is below `/o/{org}/`; `actions` are the audit log's, one of which completes it.

    `chains`: on how many chains the first action has to happen; the second one names the chain. `verifies_log`: a
    verification of the audit log completes it, which is in no log. `was`: the status that the action ends.
    `points`: the controls to outline, the latest first.
    """

    title: str
    why: str
    what: str
    path: str
    points: Sequence[Point]
    actions: Sequence[str] = ()
    chains: int = 1
    verifies_log: bool = False
    was: str = ""

    def is_done(self, entries: Sequence[AuditEntry]) -> bool:
        """Return whether these entries of its actions, all from after the tour's start, complete it."""
        if self.was:
            return any((entry.before or {}).get("status") == self.was for entry in entries)
        if self.chains == 1:
            return bool(entries)
        done = {entry.subject.id for entry in entries if entry.action == self.actions[0]}
        begun = [entry for entry in entries if entry.action == self.actions[1] and entry.subject.id in done]
        return len({(entry.after or {}).get("chain_eid") for entry in begun}) >= self.chains


ISSUER = (
    TourStep(
        "Issue a fund",
        "A fund's token enforces its own rules on the chain. A framework fills them in.",
        "Open New asset, choose a framework such as Reg D, a chain and a supply, and create it.",
        "assets/new",
        (Point("Create asset"), Point("New asset"), Point("Assets", SIDE)),
        ("asset.deployed",),
    ),
    TourStep(
        "Verify an investor",
        "Rules need facts about people. An officer's decision is one, with its reason.",
        "Open a party that awaits review, and verify it.",
        "parties",
        (Point("Verify"), Point("Parties", SIDE)),
        ("party.verified",),
    ),
    TourStep(
        "Attest on two chains",
        "An attestation puts the decision on a chain, without the documents. Every contract there can read it.",
        "Attest a verified party on one chain, then on another one.",
        "parties?status=verified",
        (Point("Issue attestation"), Point("Attest"), Point("Parties", SIDE)),
        ("attestation.active", "attestation.created"),
        chains=2,
    ),
    TourStep(
        "Mint tokens",
        "The same rules decide about new tokens: only who may hold them can receive them.",
        "Open your fund, choose the tab Controls, and mint to the treasury or to the investor.",
        "assets",
        (Point("Mint tokens"), Point("Mint"), Point("Controls"), Point("Assets", SIDE)),
        ("control.confirmed",),
    ),
    TourStep(
        "Open a market elsewhere",
        "A market on a chain where the fund is not yet brings the fund, its rules and the bridge with it.",
        "Choose Deploy market, a chain without the fund, and watch the steps.",
        "markets/new",
        (Point("Deploy market"), Point("Review"), Point("Continue"), Point("Deploy market"), Point("Markets", SIDE)),
        ("market.active",),
    ),
    TourStep(
        "Let an investor buy",
        "The market checks each order against the rules of the token and its own.",
        "Open a market. Sell from the treasury and buy from an investor's wallet, at the same price.",
        "markets",
        (Point("Place buy order"), Point("Place sell order"), Point("Place order"), Point("Markets", SIDE)),
        ("trade.executed",),
    ),
    TourStep(
        "Change a rule",
        "Before you save, you see who would no longer be eligible, and which orders would be affected.",
        "Open an asset, choose Compliance, change the KYC level or a country, then review and save.",
        "assets",
        (Point("Save rules"), Point("Review and save"), Point("Compliance"), Point("Assets", SIDE)),
        ("asset.updated",),
        was="updating",
    ),
    TourStep(
        "Take the evidence",
        "An auditor gets rules, holders, attestations and changes in one archive, with the hash of each file.",
        "Open your fund, choose Evidence, and create a pack.",
        "assets",
        (Point("Create evidence pack"), Point("Evidence"), Point("Assets", SIDE)),
        ("asset.evidence_exported",),
    ),
)
OFFICER = (
    TourStep(
        "Review an applicant",
        "Your day begins with the people who wait. The case shows their documents next to the decision.",
        "Open a party that awaits review, read the documents, and verify or reject it.",
        "parties",
        (Point("Verify"), Point("Parties", SIDE)),
        ("party.verified", "party.rejected"),
    ),
    TourStep(
        "Attest it",
        "An attestation puts your decision on a chain, without the documents, until it expires.",
        "Attest a verified party on a chain.",
        "parties?status=verified",
        (Point("Issue attestation"), Point("Attest"), Point("Parties", SIDE)),
        ("attestation.active",),
    ),
    TourStep(
        "Revoke one",
        "A revocation takes effect in the next block. The dialog says first which holdings and orders it stops.",
        "Open an attestation, choose Revoke, read what it stops, and confirm.",
        "attestations",
        (Point("Revoke"), Point("Attestations", SIDE)),
        ("attestation.revoked",),
    ),
    TourStep(
        "Force a transfer",
        "After a court order, tokens move without the holder's consent. The reason stays on record, and an "
        "organization can require a second person.",
        "Open an asset, choose the tab Controls, and force a transfer to an eligible holder.",
        "assets",
        (Point("Force the transfer"), Point("Force transfer"), Point("Controls"), Point("Assets", SIDE)),
        ("control.requested",),
    ),
    TourStep(
        "Check the audit log",
        "Each entry has the hash of the one before it: a changed or missing one breaks the chain.",
        "Open the audit log. Verify computes every hash again.",
        "audit",
        (Point("Verify"), Point("Audit log", SIDE)),
        verifies_log=True,
    ),
)
TOURS = {"issuer": ISSUER, "officer": OFFICER}
ROLES = {"admin": "issuer", "compliance_officer": "officer"}
"""Which tour is for which role."""
