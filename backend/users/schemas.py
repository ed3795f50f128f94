"""Roles of members, and states of memberships."""

from enum import StrEnum


class Role(StrEnum):
    """The role of a member, which determines their scopes."""

    ADMIN = "admin"
    COMPLIANCE_OFFICER = "compliance_officer"
    MEMBER = "member"
    VIEWER = "viewer"
    CLIENT = "client"


class MemberStatus(StrEnum):
    """States of a membership. `pending`: the person has not accepted yet and has no rights."""

    PENDING = "pending"
    ACTIVE = "active"
    INACTIVE = "inactive"
