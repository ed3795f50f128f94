"""What the removal of a member means, and who can approve it."""

from backend.auth.scopes import Scope
from backend.organizations.schemas import Access
from backend.users.schemas import Role
from state.core.session import names_of

CLIENT = str(Role.CLIENT)


def reach(role: str, below: int) -> str:
    """Return where a role ends. `below` is the number of organizations below, to which all roles but clients' apply."""
    if not below or role == CLIENT:
        return "here"
    return "here and in the organization below" if below == 1 else f"here and in the {below:,} organizations below"


def about_removal(name: str, role: str, below: int) -> str:
    """Return what a member loses, and what stays."""
    loses = f"{name} loses the role {role.replace('_', ' ').capitalize()} {reach(role, below)}."
    return f"{loses} Roles granted elsewhere, tokens and attestations stay."


def approvers(people: list[Access], without: set[str]) -> str:
    """Name up to two people who can approve a change of a member: admins, otherwise compliance officers, otherwise
    members, as the API asks them. `without` are IDs of people who cannot, such as the requester."""
    others = [one for one in people if str(one.user_id) not in without]
    scopes = (Scope.MEMBERS_WRITE, Scope.ASSETS_WRITE, Scope.TRANSFERS_WRITE)
    names = next(filter(None, (names_of(scope, others) for scope in scopes)), "")
    return f"{names} can approve it. " if names else "The page Approvals shows who can approve it. "
