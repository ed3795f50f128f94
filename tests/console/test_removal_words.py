"""The dialog that removes a member: what ends, and who can approve."""

from uuid import UUID, uuid4

import pytest

from backend.organizations.schemas import Access
from backend.users.schemas import Role
from state.members.removal import about_removal, approvers

ELIN, PRIYA, HUGO = uuid4(), uuid4(), uuid4()


def access(user_id: UUID, name: str, role: Role) -> Access:
    return Access.model_construct(user_id=user_id, display_name=name, role=role)


@pytest.mark.parametrize(
    ("role", "below", "loses"),
    [
        ("compliance_officer", 35, "Compliance officer here and in the 35 organizations below."),
        ("admin", 1, "Admin here and in the organization below."),
        ("viewer", 0, "Viewer here."),
        ("client", 35, "Client here."),
    ],
)
def test_removal_says_where_the_role_ends(role: str, below: int, loses: str) -> None:
    said = about_removal("Priya Shah", role, below)
    assert said.startswith(f"Priya Shah loses the role {loses} Roles granted elsewhere")


def test_approvers_are_admins_then_officers_without_requester_and_member() -> None:
    people = [access(ELIN, "Elin", Role.ADMIN), access(PRIYA, "Priya", Role.COMPLIANCE_OFFICER)]
    people += [access(HUGO, "Hugo", Role.COMPLIANCE_OFFICER)]
    assert approvers(people, {str(HUGO)}) == "Elin can approve it. "
    assert approvers(people, {str(ELIN), str(PRIYA)}) == "Hugo can approve it. "
    assert approvers(people[:2], {str(ELIN), str(PRIYA)}) == "The page Approvals shows who can approve it. "
