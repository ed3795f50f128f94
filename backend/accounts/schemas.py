"""API schemas of accounts."""

from uuid import UUID

from pydantic import BaseModel

from backend.core.fields import Timestamp
from backend.wallets.schemas import AddressKind


class Account(BaseModel):
    """An address, with what the organization knows of it.

    `balance`: tokens of the asset on the chain, without those in open orders, as the indexer has read them.
    `quote_balance`: the market's quote currency, read now. `eligible`: whether the rules of the token, and of the
    market if one is given, let the account hold and trade it; `reasons` are those that do not. Each is null where it
    was not asked for, or the chain did not answer. `last_used_at`: when the caller last made a request with this
    address.
    """

    address: str
    kind: AddressKind
    name: str | None
    wallet_id: UUID | None
    party_id: UUID | None
    balance: str | None
    quote_balance: str | None
    eligible: bool | None
    reasons: list[str]
    last_used_at: Timestamp | None


class AccountList(BaseModel):
    """The best matches, best first: recently used, then by name and balance. `has_more`: others match too. `symbol` and
    `decimals` are those of the asset whose balances are shown."""

    accounts: list[Account]
    has_more: bool
    symbol: str | None = None
    decimals: int | None = None
