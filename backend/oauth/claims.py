"""UserInfo (specification 4.13): the claims that a token's scopes allow."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import IdentityScope, Scope
from backend.oauth.schemas import ATTESTATIONS, IDENTITIES, AttestedClaim, ChainIdentity, UserInfo
from backend.users.models import UserRow, UserWalletRow


async def of(context: Context) -> UserInfo:
    """Return the caller's claims that their token's scopes allow. A person's own token has the identity scopes, and
    `chains:read` where their role has it."""
    person = context.require_token(IdentityScope.OPENID)
    scopes = person.token_scopes
    user = await context.session.get_one(UserRow, person.user_id)
    claims: dict[str, Any] = {"sub": str(user.id)}
    if IdentityScope.PROFILE in scopes:
        claims |= {"name": user.display_name, "picture": None}
    if user.email and IdentityScope.EMAIL in scopes:
        # An account is created through the link sent to its address, so every address is verified.
        claims |= {"email": user.email, "email_verified": True}
    if Scope.CHAINS_READ in scopes:
        claims[IDENTITIES] = await _identities(context, user)
    if IdentityScope.KYC_STATUS in scopes:
        rows = await context.session.execute(sa.text("select * from signum_attested(:person)"), {"person": user.id})
        claims[ATTESTATIONS] = [AttestedClaim.model_validate(r) for r in rows]
    return UserInfo.model_validate(claims)


async def _identities(context: Context, user: UserRow) -> list[ChainIdentity]:
    """Return the wallets with which a person has signed in; none for a placeholder, whose wallets are unverified."""
    if user.is_placeholder:
        return []
    query = sa.select(col(UserWalletRow.address), col(UserWalletRow.chain_eid)).where(
        col(UserWalletRow.user_id) == user.id
    )
    rows = await context.session.execute(query.order_by(col(UserWalletRow.created_at)).limit(200))
    return [ChainIdentity(address=r.address, chain_eid=r.chain_eid, vm_type="evm") for r in rows]
