"""Settings that a person changes, because a key alone could lock everyone else out or take their say away."""

from typing import Any

from backend.auth.principal import Context
from backend.organizations.models import OrganizationRow
from backend.organizations.schemas import MemberRequirements

BECAUSE = "This setting decides who can join, sign in and act here. A person has to change it: sign in as an admin."


def check_person(context: Context) -> None:
    """Raise 403 for an API key alone and for an application."""
    context.require_person(because=BECAUSE)


PERSONAL = ("approver_wait_hours", "require_second_factor", "require_if_match", "network")
"""Settings that decide who can act, beside those with a check of their own."""


def check_may_change(context: Context, row: OrganizationRow, patch: dict[str, Any]) -> None:
    """Raise 403 for an API key or application that changes such a setting. Unchanged values are allowed.

    `member_requirements` are complete. Allowed IP ranges have their own check.
    """
    wanted, held = patch.get("approvals", row.approvals) or [], row.approvals
    changes = any(_differs(row, patch, name) for name in PERSONAL)
    asked = MemberRequirements.model_validate(row.member_requirements).model_dump(mode="json")
    if changes or set(wanted) != set(held) or patch.get("member_requirements", asked) != asked:
        check_person(context)


def _differs(row: OrganizationRow, patch: dict[str, Any], name: str) -> bool:
    held = getattr(row, name)
    return bool(patch.get(name, held) != held)
