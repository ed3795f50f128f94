"""Rules of granting roles and of inviting addresses. Pure functions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from email_validator import validate_email as parse
from pydantic import validate_email

from backend.auth.scopes import ACTIONS, ROLE_SCOPES, Scope, scopes_of
from backend.core.errors import BadRequest, Conflict, Forbidden, InsufficientScope
from backend.members.schemas import EligibilityWarning, MemberCreate, OrgRequirements, Severity, WarningCode
from backend.organizations.schemas import MemberRequirements
from backend.users.schemas import Role

SEVERITY = {
    WarningCode.INVALID_EMAIL: Severity.ERROR,
    WarningCode.ALREADY_MEMBER: Severity.ERROR,
    WarningCode.PENDING_INVITATION: Severity.ERROR,
    WarningCode.DOMAIN_NOT_ALLOWED: Severity.WARNING,
    WarningCode.JURISDICTION_BLOCKED: Severity.WARNING,
    WarningCode.KYC_MISSING: Severity.WARNING,
    WarningCode.KYC_LEVEL_INSUFFICIENT: Severity.WARNING,
    WarningCode.ACCREDITATION_MISSING: Severity.WARNING,
    WarningCode.DUPLICATE_IN_REQUEST: Severity.INFO,
    WarningCode.NO_ACCOUNT: Severity.INFO,
}
"""An invitation with an error would be refused; the inviter judges the other findings."""
ORDER = list(Severity)
CODES = list(SEVERITY)
Finding = tuple[WarningCode, str]


def check_identity(body: MemberCreate) -> None:
    """Raise 400 unless exactly one of `user_id` and `wallet_address` is given."""
    if (body.user_id is None) == (body.wallet_address is None):
        raise BadRequest("Give either user_id or wallet_address, not both.")


def check_grant(role: Role, held: frozenset[Scope], *, is_person: bool) -> None:
    """Raise 403 for a role with more scopes than the caller holds, and for an admin role that is not granted by a
    signed-in person."""
    missing = sorted(ROLE_SCOPES[role] - held)
    if missing:
        detail = f"The role {role} has the scope {missing[0]}, which this credential lacks. Grant a narrower role."
        raise InsufficientScope(missing[0], detail=detail)
    if role is Role.ADMIN and not is_person:
        raise Forbidden(
            "Only a signed-in admin can grant or take the admin role. An API key or application cannot. Use the "
            "console, or an access token of a person."
        )


def may_grant(held: Collection[Role], role: Role) -> bool:
    """Return whether a person with some roles may grant a role."""
    return scopes_of(list(held)) >= ROLE_SCOPES[role] | {Scope.MEMBERS_WRITE}


def widens(before: Role, after: Role) -> bool:
    """Return whether a change of role adds a scope."""
    return not ROLE_SCOPES[after] <= ROLE_SCOPES[before]


def approves(role: Role | None) -> bool:
    """Return whether a role can approve any action as second person."""
    return role is not None and not ROLE_SCOPES[role].isdisjoint(ACTIONS)


def gains(before: Role | None, after: Role | None) -> bool:
    """Return whether a change of role adds a right to approve."""
    held, given = (frozenset() if r is None else ROLE_SCOPES[r].intersection(ACTIONS) for r in (before, after))
    return not given <= held


def person(body: MemberCreate) -> str:
    """Return the person of an addition in words: the owner of a wallet, or a user ID."""
    address = body.wallet_address
    return f"the owner of {address[:6]}…{address[-4:]}" if address else f"the user {body.user_id}"


def as_words(role: Role) -> str:
    """Return a role with its article: `an admin`, `a compliance officer`."""
    words = role.replace("_", " ")
    return f"an {words}" if words[0] in "aeiou" else f"a {words}"


def check_admin_stays(role: Role, other_admins: int) -> None:
    """Raise 409 if the organization's last own admin would go. An admin who inherits the role from above does not
    count."""
    if role is Role.ADMIN and other_admins == 0:
        raise Conflict("The last admin of an organization cannot be removed. Make another person an admin first.")


@dataclass(frozen=True)
class Identity:
    """The verified facts about a party of this organization."""

    verified: bool
    kyc_level: int
    country: str
    accredited: bool

    @property
    def rank(self) -> tuple[bool, int, bool]:
        """The sort key of identities: if an address belongs to several parties, the best one is used."""
        return self.verified, self.kyc_level, self.accredited


@dataclass(frozen=True)
class Known:
    """What this organization knows about some addresses (all normalized by `canonical`)."""

    members: Collection[str] = ()
    invited: Collection[str] = ()
    parties: Mapping[str, Identity] | None = None


def canonical(address: str) -> str | None:
    """Return an address as stored and compared: lower case, domain in Unicode; None if it is not an address."""
    try:
        return validate_email(address.strip())[1].lower()
    except ValueError:
        return None


def findings(addresses: Sequence[str], known: Known, asks: MemberRequirements) -> list[EligibilityWarning]:
    """Return all findings about some addresses: most severe first, then in the order of the request."""
    seen: set[str] = set()
    found: list[tuple[int, int, int, EligibilityWarning]] = []
    for position, address in enumerate(addresses):
        key = canonical(address)
        for code, message in _about(key, seen, known, asks):
            severity = SEVERITY[code]
            warning = EligibilityWarning(email=address, code=code, severity=severity, message=message)
            found.append((ORDER.index(severity), position, CODES.index(code), warning))
        seen.add(key or "")
    return [entry[3] for entry in sorted(found, key=lambda f: f[:3])]


def _about(key: str | None, seen: set[str], known: Known, asks: MemberRequirements) -> list[Finding]:
    if key is None:
        return [(WarningCode.INVALID_EMAIL, "This is not an email address.")]
    if key in seen:
        return [(WarningCode.DUPLICATE_IN_REQUEST, "This address appears earlier in the list.")]
    if key in known.members:
        return [(WarningCode.ALREADY_MEMBER, "This person is already a member.")]
    party = (known.parties or {}).get(key)
    invited = key in known.invited
    return [*_standing(invited, party), *_domain(key, asks), *_identity(party, asks)]


def _standing(invited: bool, party: Identity | None) -> list[Finding]:
    if invited:
        return [
            (
                WarningCode.PENDING_INVITATION,
                ("An invitation to this address is already pending. Revoke it to send another."),
            )
        ]
    if party is None:
        return [(WarningCode.NO_ACCOUNT, "No account has this address yet. Accepting the invitation creates one.")]
    return []


def _domain(key: str, asks: MemberRequirements) -> list[Finding]:
    domain = str(parse(key, check_deliverability=False).ascii_domain).lower()
    if not asks.allowed_email_domains or domain in asks.allowed_email_domains:
        return []
    return [(WarningCode.DOMAIN_NOT_ALLOWED, f"{domain} is not a domain that this organization allows.")]


def _identity(party: Identity | None, asks: MemberRequirements) -> list[Finding]:
    found: list[Finding] = []
    if party is not None and party.country in asks.blocked_countries:
        found.append((WarningCode.JURISDICTION_BLOCKED, f"The country {party.country} is blocked here."))
    if asks.kyc_required or asks.min_kyc_level:
        if party is None or not party.verified:
            found.append((WarningCode.KYC_MISSING, "No verified identity is on record."))
        elif party.kyc_level < asks.min_kyc_level:
            text = f"The KYC level is {party.kyc_level}; this organization requires {asks.min_kyc_level}."
            found.append((WarningCode.KYC_LEVEL_INSUFFICIENT, text))
    if asks.accreditation_required and not (party and party.verified and party.accredited):
        found.append((WarningCode.ACCREDITATION_MISSING, "No accreditation is on record."))
    return found


def org_requirements(asks: MemberRequirements, seats_taken: int) -> OrgRequirements:
    """Return the organization's requirements, with the seats left (null if unlimited)."""
    return OrgRequirements(
        kycRequired=asks.kyc_required or asks.min_kyc_level > 0,
        minKycLevel=asks.min_kyc_level,
        accreditationRequired=asks.accreditation_required,
        blockedCountries=asks.blocked_countries,
        allowedEmailDomains=asks.allowed_email_domains,
        seatsRemaining=max(0, asks.seats - seats_taken) if asks.seats else None,
    )
