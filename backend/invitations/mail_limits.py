"""Daily limits on emails of invitations: recipients have not asked for them, and tenants share the mail server."""

from dataclasses import dataclass
from uuid import UUID

from limits import RateLimitItem

from backend.core.db import Write, is_rehearsal
from backend.core.roots import origin_of, root_of
from backend.limits import rate_limits


@dataclass(frozen=True)
class Counted:
    """A limit, the names it is counted under, and the rule as the refusal states it."""

    limit: RateLimitItem
    names: tuple[str, ...]
    rule: str


async def count(session: Write, organization_id: UUID, email: str, person_id: UUID | None) -> None:
    """Count an invitation; nothing in a rehearsal.

    Raises TooManyRequests with the limit and its end, and counts nothing, where a limit is reached.
    """
    if is_rehearsal(session):
        return
    organization, root = str(organization_id), str(await root_of(session, organization_id))
    counted = [
        *_of_sender(organization, root, person_id),
        *_to_address(organization, root, person_id, email),
        *_of_origin(await origin_of(session, organization_id), email),
        _to_address_in_all(email),
    ]
    for ask in (rate_limits.check, rate_limits.hit):
        for each in counted:
            await ask(each.limit, *each.names, rule=each.rule)


def _of_sender(organization: str, root: str, person_id: UUID | None) -> list[Counted]:
    of_organization, below = rate_limits.INVITATIONS_OF_ORGANIZATION, rate_limits.INVITATIONS_BELOW
    of_person = rate_limits.INVITATIONS_OF_PERSON
    counted = [
        Counted(
            of_organization,
            ("invite", organization),
            f"An organization sends at most {of_organization.amount:,} invitations a day.",
        ),
        Counted(
            below,
            ("invite below", root),
            f"A root organization and those below it send at most {below.amount:,} invitations a day together.",
        ),
    ]
    if person_id is not None:
        rule = f"A person sends at most {of_person.amount:,} invitations a day."
        counted.append(Counted(of_person, ("invite by", str(person_id)), rule))
    return counted


def _of_origin(origin: UUID | None, email: str) -> list[Counted]:
    """Return the limits that all new roots of one origin share."""
    if origin is None:
        return []
    in_all, of_one = rate_limits.INVITATIONS_BELOW, rate_limits.INVITATIONS_TO_ADDRESS_BELOW
    new = "New organizations whose founders' accounts come from one organization"
    return [
        Counted(
            in_all,
            ("invite of origin", str(origin)),
            f"{new} send at most {in_all.amount:,} invitations a day together.",
        ),
        Counted(
            of_one,
            ("invite of origin", str(origin), email),
            f"{new} invite one address at most {of_one.amount} times a day together.",
        ),
    ]


def _to_address(organization: str, root: str, person_id: UUID | None, email: str) -> list[Counted]:
    """Return the limits of one address for a tenant."""
    of_one, below = rate_limits.INVITATIONS_TO_ADDRESS, rate_limits.INVITATIONS_TO_ADDRESS_BELOW
    by_person = rate_limits.INVITATIONS_TO_ADDRESS_BY_PERSON
    counted = [
        Counted(
            of_one,
            ("invite", organization, email),
            f"An organization invites one address at most {of_one.amount} times a day.",
        ),
        Counted(
            below,
            ("invite below", root, email),
            f"A root organization and those below it invite one address at most {below.amount} times a day together.",
        ),
    ]
    if person_id is not None:
        rule = f"A person invites one address at most {by_person.amount} times a day."
        counted.append(Counted(by_person, ("invite by", str(person_id), email), rule))
    return counted


def _to_address_in_all(email: str) -> Counted:
    """Return the limit of one address that all tenants share. It is counted last, so that an invitation refused to one
    person or root takes nothing of it."""
    in_all = rate_limits.INVITATIONS_TO_ADDRESS_IN_ALL
    return Counted(in_all, ("invited", email), f"An address gets at most {in_all.amount} invitations a day.")
