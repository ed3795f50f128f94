"""Eligibility of invited addresses as the page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.members.schemas import EligibilityWarning, OrgRequirements, WarningCode
from backend.organizations.schemas import MemberRequirements
from state.core.countries import written

SEVERITIES = ("error", "warning", "info", "ready")


@dataclass
class FindingView:
    """Why an invitation may fail or be of little use."""

    code: str
    severity: str
    message: str


@dataclass
class AddressView:
    """A row of the check.

    `outcome` is "", "invited", "awaiting_approval" or "refused"; `reason` says why it was refused.
    """

    email: str
    severity: str = "ready"
    findings: list[FindingView] = field(default_factory=list)
    is_chosen: bool = True
    can_invite: bool = True
    outcome: str = ""
    reason: str = ""


@dataclass
class RequirementsView:
    """The organization's requirements for members; `seats` are those left, negative if they are
    unlimited or unknown; `limit` are all of them."""

    kyc: bool = False
    kyc_level: int = 0
    accredited: bool = False
    countries: list[str] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)
    seats: int = -1
    limited: bool = False
    limit: int = 0


def address_view(email: str, warnings: Sequence[EligibilityWarning]) -> AddressView:
    """Convert the API's warnings to a row."""
    mine = [warning for warning in warnings if warning.email.casefold() == email.casefold()]
    findings = [FindingView(warning.code, warning.severity, warning.message) for warning in mine]
    severity = min((finding.severity for finding in findings), key=SEVERITIES.index, default="ready")
    can_invite = all(warning.code is not WarningCode.INVALID_EMAIL for warning in mine)
    return AddressView(email, severity, findings, severity != "error" and can_invite, can_invite)


def requirements_view(required: MemberRequirements) -> RequirementsView:
    """Convert the organization's record; the seats left are unknown before the first check."""
    return RequirementsView(
        kyc=required.kyc_required,
        kyc_level=required.min_kyc_level,
        accredited=required.accreditation_required,
        countries=[written(code) for code in required.blocked_countries],
        domains=required.allowed_email_domains,
        limited=required.seats > 0,
        limit=required.seats,
    )


def checked_requirements(required: OrgRequirements) -> RequirementsView:
    """Convert a check's response."""
    seats = required.seatsRemaining
    return RequirementsView(
        kyc=required.kycRequired,
        kyc_level=required.minKycLevel,
        accredited=required.accreditationRequired,
        countries=[written(code) for code in required.blockedCountries],
        domains=required.allowedEmailDomains,
        seats=-1 if seats is None else seats,
        limited=seats is not None,
    )
