"""API schemas of wallets."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from backend.core.fields import Address, Body, Changes, Flag, Name, Record, Timestamp, never_null
from backend.lists.schemas import RecordPage


class WalletKind(StrEnum):
    """`server`: Signum holds the key. `linked`: another party holds it, and Signum knows only the address."""

    SERVER = "server"
    LINKED = "linked"


class AddressKind(StrEnum):
    """What an address is to the organization. `linked_wallet`: a wallet whose key Signum does not hold."""

    OWN_WALLET = "own_wallet"
    LINKED_WALLET = "linked_wallet"
    PARTY = "party"
    DISTRIBUTION = "distribution"
    MARKET = "market"
    TOKEN = "token"  # noqa: S105  (a kind of contract)
    UNKNOWN = "unknown"


class WalletCreate(Body):
    """A new wallet: a server wallet, or with `address` a linked one."""

    label: Name
    kind: WalletKind = WalletKind.SERVER
    address: Address | None = None


class WalletUpdate(Changes):
    """A new label, or whether the wallet is the default (the treasury)."""

    label: Annotated[Name | None, Field(json_schema_extra=never_null)] = None
    is_default: Annotated[Flag | None, Field(json_schema_extra=never_null)] = None


class Balance(BaseModel):
    """A wallet's balance on a chain, read now. Amounts in base units."""

    chain_eid: int
    chain_name: str
    symbol: str
    decimals: int
    amount: str
    asset_id: UUID | None = None
    is_native: bool = False


class Wallet(Record):
    """A wallet record."""

    id: UUID
    organization_id: UUID
    label: str
    address: str
    kind: WalletKind
    provider: str | None
    is_default: bool
    created_at: Timestamp
    updated_at: Timestamp


class WalletCreated(Wallet):
    """A new wallet. `message` says that the first server wallet is the treasury, and how to choose another one; it is
    absent for any other wallet."""

    message: str | None = Field(default=None, exclude_if=lambda message: message is None)


class WalletDetail(Wallet):
    """A wallet with its balances; `unreachable` names the chains that did not answer."""

    balances: list[Balance]
    unreachable: list[int] = []


class Holding(BaseModel):
    """What a wallet has of an asset on all chains together, in base units, from indexed events. Tokens in open orders
    are not part of it."""

    asset_id: UUID
    symbol: str
    decimals: int
    amount: str


class ListedWallet(Wallet):
    """A wallet with the party that uses it and the organization's assets that it has; a single wallet has `balances`
    instead, read from the chains."""

    party_id: UUID | None
    party_name: str | None
    holdings: list[Holding]


class WalletList(RecordPage):
    """A page of wallets."""

    wallets: list[ListedWallet]
    nextCursor: str | None
