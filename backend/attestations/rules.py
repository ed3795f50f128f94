"""Prerequisites and content of attestations, and whether record and chain agree. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from backend.attestations.schemas import AttestationStatus
from backend.chains.rules import enabled_entry
from backend.compliance import rules as compliance
from backend.compliance.rules import Account, Rules, Standing
from backend.core.errors import BadRequest, Conflict
from backend.core.problems import resolutions
from backend.core.problems.resolutions import example
from backend.parties.schemas import PartyStatus
from backend.wallets.rules import server_wallet_call

ANY_ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"


@dataclass(frozen=True)
class PartyFacts:
    """The facts about a party that count."""

    id: UUID
    status: PartyStatus
    has_wallet: bool


@dataclass(frozen=True)
class Facts:
    """The facts about a requested attestation. `party` is `None` if the organization has no such party."""

    organization_id: UUID
    chain_id: UUID
    chain_name: str
    is_enabled: bool
    has_server_wallet: bool
    is_registered: bool
    is_registering: bool
    party: PartyFacts | None


@dataclass(frozen=True)
class Statement:
    """The content of an attestation."""

    kyc_level: int
    accredited: bool


Entry = dict[str, Any]


def prerequisites(facts: Facts) -> list[Entry]:
    """Return every prerequisite in order, satisfied or not, each with the call that satisfies it (specification
    2.7)."""
    return [_party_exists(facts), _party_verified(facts), _chain_enabled(facts), _attestation_eligible(facts)]


def _party_exists(facts: Facts) -> Entry:
    if facts.party is None:
        return _entry("party_exists", False, "This organization has no party with this ID.", _create(facts))
    return _entry("party_exists", True, "The party exists.", _create(facts))


def _party_verified(facts: Facts) -> Entry:
    if facts.party is None:
        return _entry("party_verified", False, "There is no party to verify.", _create(facts))
    path = f"/identity/parties/{facts.party.id}/verify"
    call = resolutions.call("POST", path, "Verify the party's identity.", kyc_level=example(1))
    if facts.party.status is PartyStatus.VERIFIED:
        return _entry("party_verified", True, "The party's identity is verified.", call)
    return _entry("party_verified", False, f"The party's identity is not verified; it is {facts.party.status}.", call)


def _chain_enabled(facts: Facts) -> Entry:
    return enabled_entry(facts.organization_id, facts.chain_id, facts.chain_name, is_enabled=facts.is_enabled)


def _attestation_eligible(facts: Facts) -> Entry:
    lacking = _lacking(facts)
    if not lacking:
        detail = f"The organization attests on {facts.chain_name}, and the party has a wallet."
        return _entry("attestation_eligible", True, detail, _register(facts))
    return _entry("attestation_eligible", False, " ".join(words for words, _ in lacking), lacking[0][1])


Call = dict[str, Any]


def _lacking(facts: Facts) -> Sequence[tuple[str, Call]]:
    organization = f"/orgs/{facts.organization_id}"
    found: list[tuple[str, Call]] = []
    if not facts.has_server_wallet:
        found.append(("The organization has no server wallet.", server_wallet_call(facts.organization_id)))
    if facts.is_registering:
        words = f"The organization's registration as an issuer on {facts.chain_name} is in progress."
        wait = "Wait until the chain has confirmed the issuer."
        found.append((words, resolutions.call("GET", f"{organization}/issuer", wait)))
    elif not facts.is_registered:
        found.append((f"The organization is not registered as an issuer on {facts.chain_name}.", _register(facts)))
    if facts.party is not None and not facts.party.has_wallet:
        words, wallet = "Link the party's wallet (wallet_address).", example(ANY_ADDRESS)
        call = resolutions.call("PATCH", f"/identity/parties/{facts.party.id}", words, wallet_address=wallet)
        found.append(("The party has no wallet.", call))
    if facts.party is None:
        found.append(("There is no party to attest.", _create(facts)))
    return found


def _register(facts: Facts) -> Call:
    path = f"/orgs/{facts.organization_id}/issuer/register"
    return resolutions.call("POST", path, "Register the organization as an issuer.")


def _create(facts: Facts) -> Call:
    path = f"/identity/parties?organization_id={facts.organization_id}"
    return resolutions.call("POST", path, "Create the party.", name=example("Marta Lindqvist"), country=example("SWE"))


def _entry(state: str, satisfied: bool, detail: str, call: Call) -> Entry:
    return {"state": state, "satisfied": satisfied, "detail": detail, "resolution": call}


def statement(asked: tuple[int | None, bool | None], proven: Statement, issuer_max: int) -> Statement:
    """Return what to attest: at most what was verified of the party, and what the issuer may attest."""
    level = proven.kyc_level if asked[0] is None else asked[0]
    accredited = proven.accredited if asked[1] is None else asked[1]
    if level > proven.kyc_level:
        raise BadRequest(
            (f"The party is verified only for level {proven.kyc_level}. Verify it for the requested level first."),
            pointer="/kyc_level",
        )
    if level > issuer_max:
        raise BadRequest(
            (f"The organization may attest only up to level {issuer_max}. Request a lower level."), pointer="/kyc_level"
        )
    if accredited and not proven.accredited:
        raise BadRequest("The party's accreditation is not verified. Verify it first.", pointer="/accredited")
    return Statement(level, accredited)


@dataclass(frozen=True)
class Described:
    """What an attestation says of a party, or what is known of the party now."""

    wallet: str | None
    country: str
    statement: Statement


def check_is_true(said: Described, known: Described, status: PartyStatus) -> None:
    """Raise 409 if the party is no longer as an attestation that was not sent would say."""
    proven = known.statement
    differing = [
        words
        for words, differs in (
            (f"it is {status}", status is not PartyStatus.VERIFIED),
            ("it has another wallet", said.wallet != known.wallet),
            ("it has another country", said.country != known.country),
            (f"it is verified only for level {proven.kyc_level}", said.statement.kyc_level > proven.kyc_level),
            ("its accreditation is not verified", said.statement.accredited and not proven.accredited),
        )
        if differs
    ]
    if differing:
        raise Conflict(f"The party has changed since this request: {', '.join(differing)}. Attest it again.")


def expiry(asked: datetime | None, at: datetime) -> datetime | None:
    """Return the expiry in whole seconds, as chains count; 400 if it is in the past."""
    if asked is None:
        return None
    if asked.replace(microsecond=0) <= at:
        raise BadRequest("expires_at is in the past. Give a later time.", pointer="/expires_at")
    return asked.replace(microsecond=0)


def seconds(expires_at: datetime | None) -> int:
    """Return the chain's encoding of an expiry; 0 is never."""
    return int(expires_at.timestamp()) if expires_at else 0


def check_revocable(status: AttestationStatus) -> None:
    """Check that an attestation is active and can be revoked."""
    if status is not AttestationStatus.ACTIVE:
        raise Conflict(f"Only an active attestation can be revoked; this one is {status}.")


def abilities(of_token: Rules, every: Standing, own: Standing) -> tuple[bool, bool]:
    """Return whether an account with these standings could send a token, and receive it, apart from what changes
    without an attestation: lock-ups, amounts and caps."""
    account = Account("", every, own)
    sends = compliance.failures(compliance.payer(of_token, account, of_token.lockup_end_time))
    receives = compliance.failures(compliance.person(of_token, account))
    return not sends, not receives


def revocation_words(at: datetime | None, by: str | None, reason: str | None) -> str:
    """Return when an attestation was revoked, by whom and why, as far as it is known."""
    on = f" on {at.astimezone(UTC):%-d %b %Y}" if at else ""
    who, why = f" by {by}" if by else "", f": {reason}" if reason else "."
    return f"The attestation was revoked{on}{who}{why}"


def agrees(status: AttestationStatus, is_same: bool, is_valid: bool, has_lapsed: bool) -> bool:
    """Return whether the chain agrees with a record. An expired attestation may look valid until the chain's next
    block."""
    if status is AttestationStatus.ACTIVE:
        return is_same and is_valid
    if status is AttestationStatus.EXPIRED:
        return is_same and (has_lapsed or not is_valid)
    return not is_valid
