"""Names of callers before their credential is looked up: the principal that the credential last belonged to."""

from collections import OrderedDict, deque
from dataclasses import dataclass, field

import sqlalchemy as sa
from starlette.requests import HTTPConnection

from backend.auth.credentials import client_address, cookie_name
from backend.auth.principal import NOWHERE, Context
from backend.auth.secrets import digest
from backend.core import db, roots
from backend.core.runtime import runtime
from backend.limits.client_address import group
from backend.limits.concurrency import Holder

MOST = 10_000
"""Credentials that are remembered, by their digests."""
MOST_EACH = 50
"""Those of one caller."""
_ROOTS = sa.text(
    """
    with staff as (select distinct signum_root(m.id) as id from signum_memberships(:person) m where m.role <> 'client')
    select id::text from staff union all
    select 'origin:' || coalesce(u.origin_id, u.id) from users u where u.id = :person and not exists (select from staff)
    """
)


@dataclass
class KnownCallers:
    """Names by the digests of credentials, the one used longest ago first; and the digests of each name."""

    names: OrderedDict[str, str] = field(default_factory=OrderedDict)
    digests: dict[str, deque[str]] = field(default_factory=dict)


def name_of(request: HTTPConnection) -> str:
    """Return the name of the caller's person, who for a key alone is its creator; for an unknown credential and for
    none, the network that the request comes from. Only for sharing: the credential may have ended since."""
    found = runtime.part(KnownCallers).names.get(credential_digest(request))
    return found or f"from {group(client_address(request))}"


async def count(request: HTTPConnection, context: Context) -> None:
    """Let a request count for whom its credential was found to be, now and from its beginning next time."""
    name = f"user {context.user_id}" if context.user_id else context.name
    _remember(credential_digest(request), name)
    await db.count_for(context.session, name)


async def holder(context: Context) -> Holder:
    """Return the names of a principal's key and person (for a key alone, its creator), and the root of the entered
    organization.

    Before one is entered, it is the root of the key's or application's organization, the roots where the person is
    staff, or the origin of their account: a client takes nothing of a tenant's share.
    """
    names: tuple[str, ...] = (f"key:{context.key.key_id}",) if context.key else ()
    if context.user_id:
        names += (f"user:{context.user_id}",)
    return Holder(names, await _roots(context))


async def _roots(context: Context) -> tuple[str, ...]:
    organization_id = context.home if context.organization_id == NOWHERE else context.organization_id
    if organization_id:
        return (str(await roots.root_of(context.session, organization_id)),)
    if context.person:
        found = await context.session.scalars(_ROOTS, {"person": context.person.user_id})
        return tuple(found)
    return ()


def forget(request: HTTPConnection) -> None:
    """Remember a credential no longer: it has ended."""
    _drop(credential_digest(request))


def _remember(credential: str, name: str) -> None:
    known = runtime.part(KnownCallers)
    if known.names.get(credential) != name:
        _drop(credential)
        mine = known.digests.setdefault(name, deque())
        mine.append(credential)
        if len(mine) > MOST_EACH:
            _drop(mine[0])
    known.names[credential] = name
    known.names.move_to_end(credential)
    if len(known.names) > MOST:
        _drop(next(iter(known.names)))


def _drop(credential: str) -> None:
    known = runtime.part(KnownCallers)
    name = known.names.pop(credential, None)
    if name is None:
        return
    known.digests[name].remove(credential)
    if not known.digests[name]:
        del known.digests[name]


def credential_digest(request: HTTPConnection) -> str:
    """Return the digest of the credentials and the client's address group.

    The address group is included: otherwise a request from elsewhere with a copied credential would count for its owner
    before the credential is looked up.
    """
    sent = [request.headers.get(name, "") for name in ("x-api-key", "authorization")]
    return digest("\0".join([*sent, request.cookies.get(cookie_name(), ""), group(client_address(request))]))
