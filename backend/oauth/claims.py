"""UserInfo (specification 4.13): the claims that a token's scopes allow."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import IdentityScope, Scope
from backend.members.models import UserRow, UserWalletRow
from backend.oauth.schemas import ATTESTATIONS, IDENTITIES, AttestedClaim, ChainIdentity, UserInfo


async def of(context: Context) -> UserInfo:
    """The caller's claims, by what their token was granted; one of their own has every claim."""
    person = context.require_token(IdentityScope.OPENID)
    scopes = person.granted
    user = await context.session.get_one(UserRow, person.user_id)
    claims: dict[str, Any] = {"sub": str(user.id)}
    if scopes is None or IdentityScope.PROFILE in scopes:
        claims |= {"name": user.display_name, "picture": None}
    if user.email and (scopes is None or IdentityScope.EMAIL in scopes):
        # An account is made by the link that was sent to its address, so every address is a proven one.
        claims |= {"email": user.email, "email_verified": True}
    if scopes is None or Scope.CHAINS_READ in scopes:
        claims[IDENTITIES] = await _identities(context, user)
    if scopes is None or IdentityScope.KYC_STATUS in scopes:
        rows = await context.session.execute(sa.text("select * from signum_attested(:person)"), {"person": user.id})
        claims[ATTESTATIONS] = [AttestedClaim.model_validate(r) for r in rows]
    return UserInfo.model_validate(claims)


async def _identities(context: Context, user: UserRow) -> list[ChainIdentity]:
    """The wallets a person has signed in with; those of a placeholder are what others say of it."""
    if user.is_placeholder:
        return []
    query = sa.select(col(UserWalletRow.address), col(UserWalletRow.chain_eid)).where(
        col(UserWalletRow.user_id) == user.id
    )
    rows = await context.session.execute(query.order_by(col(UserWalletRow.created_at)).limit(200))
    return [ChainIdentity(address=r.address, chain_eid=r.chain_eid, vm_type="evm") for r in rows]
