"""A step of a guided tour: what to do, where, and which entry of the audit log shows that it really happened.

Texts and paths are templates over the facts of the tour, such as the fund of its first step. Of several variants, the
first one counts whose facts are all known; the last one has none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import Formatter

from backend.audit.schemas import AuditEntry

PAGE, SIDE, HEAD = "main, aside:not(.side):not(.tour), [role=dialog]", ".side", ".head"
DIALOG, WIZARD, FOOT, CARD = "[role=dialog]", ".wizard", ".drawer-foot", ".tour"


class Fact(StrEnum):
    """What a tour knows about what it has made; names are as pages show them."""

    FUND_ID = "fund_id"
    FUND = "fund"
    FUND_CHAIN = "fund_chain"
    NEEDS = "needs"
    """A sentence on what the fund requires of its holders, after a space; empty if it requires nothing."""
    LEVEL = "level"
    """The KYC level that the fund requires, if it requires one."""
    ACCREDITED = "accredited"
    """Known if the fund requires accredited investors."""
    LACKS = "lacks"
    """What the verified party lacks of what the fund requires; unknown if it lacks nothing."""
    NEXT = "next"
    """The chain that is still without an attestation."""
    OTHER = "other"
    """The chain of the market: one without the fund."""
    APPLICANT_ID = "applicant_id"
    APPLICANT = "applicant"
    READING = "reading"
    """What to read of the applicant; unknown if there are no documents."""
    PARTY_ID = "party_id"
    PARTY = "party"
    COUNTRY = "country"
    MARKET_ID = "market_id"
    BEGUN = "begun"
    """Known once half of a step is done."""
    ASSET_ID = "asset_id"
    ASSET = "asset"
    ATTESTATION_ID = "attestation_id"
    HOLDER = "holder"
    RECEIVER = "receiver"
    APPROVAL_ID = "approval_id"
    APPROVAL = "approval"
    COLLEAGUE = "colleague"
    VIEW = "view"
    """The view of the approvals that has the one that waits; unknown for those who can decide about it."""


class Learns(StrEnum):
    """What the entries that complete a step say about what the tour has made."""

    NOTHING = ""
    FUND = "fund"
    PARTY = "party"
    CHAINS = "chains"
    MARKET = "market"
    APPROVAL = "approval"


class Finds(StrEnum):
    """What a step looks for before it is done."""

    NOTHING = ""
    FUND = "fund"
    APPLICANT = "applicant"
    HOLDER = "holder"
    COLLEAGUE = "colleague"


class Verifies(StrEnum):
    """What a verification computes that completes a step, of which no log knows."""

    NOTHING = ""
    LOG = "log"
    PACK = "pack"


@dataclass(frozen=True)
class Point:
    """A control to outline: the first one in view below `within` whose text begins with `words`, and that is not
    ticked yet. It is skipped unless the fact `needs` is known, and if the fact `unless` is. `about`: a fact that the
    heading of its drawer names, if the fact is known: the drawer of another record has the same buttons. `filled`: only
    once its form has everything that it needs."""

    words: str
    within: str = PAGE
    needs: str = ""
    about: str = ""
    unless: str = ""
    filled: bool = False

    def is_shown(self, facts: Mapping[str, str]) -> bool:
        """Return whether the known facts let it be outlined."""
        return (not self.needs or self.needs in facts) and self.unless not in facts


@dataclass(frozen=True)
class TourStep:
    """One step. `path` is below `/o/{org}/`; `actions` are the audit log's, one of which completes it.

    `chains`: on how many chains the first action has to happen; the second one names the chain. `verifies`: a
    verification completes it. `was`: the status that the action ends.
    `begun`: an action after which half of the step is done, and the words for that. `then`: the rest of the step then.
    `points`: the controls to outline, the latest first.
    """

    title: str
    why: str
    what: Sequence[str]
    path: Sequence[str]
    points: Sequence[Point]
    actions: Sequence[str] = ()
    chains: int = 1
    verifies: Verifies = Verifies.NOTHING
    was: str = ""
    begun: tuple[str, str] = ("", "")
    then: Sequence[str] = ()
    learns: Learns = Learns.NOTHING
    finds: Finds = Finds.NOTHING

    def is_done(self, entries: Sequence[AuditEntry]) -> bool:
        """Return whether these entries of its actions, all from after the tour's start, complete it."""
        if self.was:
            return any((entry.before or {}).get("status") == self.was for entry in entries)
        if self.chains == 1:
            return bool(entries)
        return len(self.chains_of(entries)) >= self.chains

    def chains_of(self, entries: Sequence[AuditEntry]) -> list[int]:
        """Return the chains on which the first action has happened, the latest first."""
        done = {entry.subject.id for entry in entries if entry.action == self.actions[0]}
        begun = [entry for entry in entries if entry.action == self.actions[1] and entry.subject.id in done]
        return list(dict.fromkeys(int((entry.after or {})["chain_eid"]) for entry in begun))


def fill(variants: Sequence[str], facts: Mapping[str, str]) -> str:
    """Return the first variant whose facts are all known, with them; an empty string without one."""
    known = {str(Fact.NEEDS): ""} | dict(facts)
    for text in variants:
        if all(known.get(name) is not None for _, name, _, _ in Formatter().parse(text) if name):
            return text.format_map(known)
    return ""
