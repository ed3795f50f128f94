"""Who answers for a request body, by the names that limits count it under."""

from dataclasses import dataclass

import sqlalchemy as sa
from fastapi import Request

from backend import db
from backend.auth.credentials import authenticate, cookie_name
from backend.auth.principal import Context

_ROOT = sa.text("select id from signum_path(:id) order by height desc limit 1")
_ROOTS = sa.text(
    "select distinct r.id from signum_memberships(:person) m,"
    " lateral (select p.id from signum_path(m.id) p order by p.height desc limit 1) r"
)


@dataclass(frozen=True)
class Holder:
    """Names of a caller: its own, and those of the root organizations it belongs to."""

    names: tuple[str, ...]
    roots: tuple[str, ...] = ()


def has_credential(request: Request) -> bool:
    """Whether a request carries a credential, valid or not."""
    return any(name in request.headers for name in ("authorization", "x-api-key")) or cookie_name() in request.cookies


async def holder_of(request: Request) -> Holder:
    """Look up the credential of a request in a transaction of its own. Return the names of its key and of its person,
    who for a key alone is its creator; and the root of the key's or application's organization, or the roots of all
    organizations of the person.

    Raises what the operation would refuse the credential with: Unauthenticated, Forbidden or AddressNotAllowed.
    """
    async with db.transaction() as session:
        context = await authenticate(request, session)
        names: tuple[str, ...] = (f"key:{context.key.key_id}",) if context.key else ()
        if context.user_id:
            names += (f"user:{context.user_id}",)
        return Holder(names, await _roots(context))


async def _roots(context: Context) -> tuple[str, ...]:
    if context.home:
        found = await context.session.scalars(_ROOT, {"id": context.home})
    elif context.person:
        found = await context.session.scalars(_ROOTS, {"person": context.person.user_id})
    else:
        return ()
    return tuple(str(root) for root in found)
