"""Who may grant what, and what stands against inviting an address. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from email_validator import validate_email as parse
from pydantic import validate_email

from backend.auth.scopes import ACTIONS, ROLE_SCOPES, Scope, scopes_of
from backend.errors import BadRequest, Conflict, Forbidden, InsufficientScope
from backend.members.schemas import EligibilityWarning, MemberCreate, OrgRequirements, Role, Severity, WarningCode
from backend.organizations.schemas import MemberRequirements

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
"""An error is what an invitation would be refused for; the rest is for the inviter to judge."""
ORDER = list(Severity)
CODES = list(SEVERITY)
Finding = tuple[WarningCode, str]


def check_identity(body: MemberCreate) -> None:
    """400 unless exactly one of `user_id` and `wallet_address` is given."""
    if (body.user_id is None) == (body.wallet_address is None):
        raise BadRequest("Either user_id or wallet_address is given, and not both.")


def check_grant(role: Role, held: frozenset[Scope], *, is_person: bool) -> None:
    """403 for a role with more scopes than the caller holds, and for an admin role that no signed-in person grants."""
    missing = sorted(ROLE_SCOPES[role] - held)
    if missing:
        detail = f"The role {role} has the scope {missing[0]}, which this credential lacks. Grant a narrower role."
        raise InsufficientScope(missing[0], detail=detail)
    if role is Role.ADMIN and not is_person:
        raise Forbidden(
            "Only a signed-in admin can grant or take the admin role. An API key or application cannot: "
            "do it in the console, or with an access token of the person."
        )


def may_grant(held: Collection[Role], role: Role) -> bool:
    """Whether a person with some roles may give others a role."""
    return scopes_of(list(held)) >= ROLE_SCOPES[role] | {Scope.MEMBERS_WRITE}


def widens(before: Role, after: Role) -> bool:
    """Whether a change of role gives a person a scope that they did not have."""
    return not ROLE_SCOPES[after] <= ROLE_SCOPES[before]


def approves(role: Role | None) -> bool:
    """Whether a role can be a second person for anything."""
    return role is not None and not ROLE_SCOPES[role].isdisjoint(ACTIONS)


def gains(before: Role | None, after: Role | None) -> bool:
    """Whether a change of role lets a person approve what they could not approve before."""
    held, given = (frozenset() if r is None else ROLE_SCOPES[r].intersection(ACTIONS) for r in (before, after))
    return not given <= held


def as_words(role: Role) -> str:
    """A role with its article: `an admin`, `a compliance officer`."""
    words = role.replace("_", " ")
    return f"an {words}" if words[0] in "aeiou" else f"a {words}"


def check_admin_stays(role: Role, other_admins: int) -> None:
    """409 where an organization's own last admin would go. One who inherits the role from above does not count."""
    if role is Role.ADMIN and other_admins == 0:
        raise Conflict("The last admin of an organization stays; make somebody else an admin first.")


@dataclass(frozen=True)
class Identity:
    """What a party of this organization has shown about itself."""

    verified: bool
    kyc_level: int
    country: str
    accredited: bool

    @property
    def rank(self) -> tuple[bool, int, bool]:
        """Where one address belongs to several parties, the best one speaks for it."""
        return self.verified, self.kyc_level, self.accredited


@dataclass(frozen=True)
class Known:
    """What this organization, and no other, knows of some addresses (all as `canonical` writes them)."""

    members: Collection[str] = ()
    invited: Collection[str] = ()
    parties: Mapping[str, Identity] | None = None


def canonical(address: str) -> str | None:
    """An address as it is kept and compared: lower case, domain in Unicode; None where it is not an address."""
    try:
        return validate_email(address.strip())[1].lower()
    except ValueError:
        return None


def findings(addresses: Sequence[str], known: Known, asks: MemberRequirements) -> list[EligibilityWarning]:
    """Everything that stands against inviting some addresses: the gravest first, then in the order of the request."""
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
        return [(WarningCode.DUPLICATE_IN_REQUEST, "This address came earlier in the list.")]
    if key in known.members:
        return [(WarningCode.ALREADY_MEMBER, "This person is a member already.")]
    party = (known.parties or {}).get(key)
    invited = key in known.invited
    return [*_standing(invited, party), *_domain(key, asks), *_identity(party, asks)]


def _standing(invited: bool, party: Identity | None) -> list[Finding]:
    if invited:
        return [
            (WarningCode.PENDING_INVITATION, "An invitation to this address is pending; revoke it to send another.")
        ]
    if party is None:
        return [(WarningCode.NO_ACCOUNT, "Nobody here has this address yet; an account is made on acceptance.")]
    return []


def _domain(key: str, asks: MemberRequirements) -> list[Finding]:
    domain = str(parse(key, check_deliverability=False).ascii_domain).lower()
    if not asks.allowed_email_domains or domain in asks.allowed_email_domains:
        return []
    return [(WarningCode.DOMAIN_NOT_ALLOWED, f"{domain} is not one of the domains this organization allows.")]


def _identity(party: Identity | None, asks: MemberRequirements) -> list[Finding]:
    found: list[Finding] = []
    if party is not None and party.country in asks.blocked_countries:
        found.append((WarningCode.JURISDICTION_BLOCKED, f"The country {party.country} is blocked here."))
    if asks.kyc_required or asks.min_kyc_level:
        if party is None or not party.verified:
            found.append((WarningCode.KYC_MISSING, "No verified identity is known here."))
        elif party.kyc_level < asks.min_kyc_level:
            text = f"KYC level {party.kyc_level}; this organization asks for {asks.min_kyc_level}."
            found.append((WarningCode.KYC_LEVEL_INSUFFICIENT, text))
    if asks.accreditation_required and not (party and party.verified and party.accredited):
        found.append((WarningCode.ACCREDITATION_MISSING, "No accreditation is known here."))
    return found


def org_requirements(asks: MemberRequirements, seats_taken: int) -> OrgRequirements:
    """What the organization asks, with the seats that are left (null where there is no limit)."""
    return OrgRequirements(
        kycRequired=asks.kyc_required or asks.min_kyc_level > 0,
        minKycLevel=asks.min_kyc_level,
        accreditationRequired=asks.accreditation_required,
        blockedCountries=asks.blocked_countries,
        allowedEmailDomains=asks.allowed_email_domains,
        seatsRemaining=None if asks.seats is None else max(0, asks.seats - seats_taken),
    )
