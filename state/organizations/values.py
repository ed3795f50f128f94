"""The values of an organization as texts: what its version consists of."""

from backend.organizations.schemas import MemberRequirements, Organization
from state.core.countries import written
from state.organizations.ip_ranges import shown

NAMES = {
    "name": "Name",
    "org_type": "Type",
    "email": "Contact email",
    "website": "Website",
    "jurisdiction": "Jurisdiction",
    "description": "Description",
    "network": "Network",
}
"""The fields of the dialog that edits an organization, by their names on the page."""


def values_of(organization: Organization) -> dict[str, str]:
    """Return an organization's values by their names on the page; empty for null."""
    given = organization.model_dump(mode="json")
    return {title: given[name] or "" for name, title in NAMES.items()} | {
        "Status": str(organization.status),
        **_requirements(organization.member_requirements),
        "Actions with a second person": ", ".join(organization.approvals),
        "Wait of a new approver, hours": str(organization.approver_wait_hours),
        "Second factor required": _yes(organization.require_second_factor),
        "If-Match required": _yes(organization.require_if_match),
        "Allowed IP ranges": shown(organization.allowed_ip_ranges),
    }


def _requirements(required: MemberRequirements) -> dict[str, str]:
    return {
        "Minimum KYC level": str(required.min_kyc_level),
        "Seats": str(required.seats or ""),
        "Verified identity required": _yes(required.kyc_required),
        "Accredited investors only": _yes(required.accreditation_required),
        "Blocked countries": ", ".join(map(written, required.blocked_countries)),
        "Allowed email domains": ", ".join(required.allowed_email_domains),
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"
