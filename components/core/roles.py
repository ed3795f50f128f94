"""Names and descriptions of roles."""

import reflex as rx

from backend.users.schemas import Role

NAMES: dict[Role, str] = {
    Role.ADMIN: "Admin",
    Role.COMPLIANCE_OFFICER: "Compliance officer",
    Role.MEMBER: "Member",
    Role.VIEWER: "Viewer",
    Role.CLIENT: "Client",
}
ABOUT: dict[Role, str] = {
    Role.ADMIN: "Full access, including API keys and roles, here and in every sub-organization",
    Role.COMPLIANCE_OFFICER: "Sees everything, issues and revokes attestations, changes assets and their rules",
    Role.MEMBER: "Sees everything but API keys, starts transfers and places orders",
    Role.VIEWER: "Sees organizations, assets, members, wallets, chains, attestations and transfers",
    Role.CLIENT: "An investor: sees and uses their own holdings, claims and orders, in the investor console only",
}
OPTIONS = [(str(role), name) for role, name in NAMES.items()]


def role_about(role: rx.Var[str]) -> rx.Var[str]:
    """Return the description of a role."""
    return rx.match(role, *[(str(key), words) for key, words in ABOUT.items()], "").to(str)


def role_name(role: rx.Var[str]) -> rx.Var[str]:
    """Return the display name of a role."""
    return rx.match(role, *[(str(key), name) for key, name in NAMES.items()], role).to(str)
