"""Schemas of an asset's activity."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel

from backend.core.fields import Timestamp
from backend.lists.schemas import RecordPage


class ActivityKind(StrEnum):
    """What an entry is. `control`: a freeze, a pause, a forced transfer or a recovery. `market`: its deployment, a halt
    by its owner, and whether it may settle. `bridge`: a bridge, its return, or a limit of its path. `operation`: any
    other operation that a person or a program requested. The others are the records of an asset."""

    OPERATION = "operation"
    TRANSFER = "transfer"
    ORDER = "order"
    TRADE = "trade"
    RULES = "rules"
    DISTRIBUTION = "distribution"
    CLAIM = "claim"
    FUNDING = "funding"
    MINT = "mint"
    BURN = "burn"
    CONTROL = "control"
    MARKET = "market"
    BRIDGE = "bridge"


class Activity(BaseModel):
    """An entry of an asset's activity. `id` is the ID of the request, transfer, order, trade, rule set, distribution,
    claim, bridge, movement of tokens or event of a contract.

    `title` says in words what happened, with amounts in whole tokens. `actor_name` is the person who requested it, or
    the name of the wallet or party that did it where it was not requested here; null where the organization knows none.
    `approver_name` is the second person who approved it; null where none did. Of a request on one chain, `tx_hash` is
    its last transaction.
    `from_name` and `to_name` are the accounts that give and receive the tokens: sender and receiver, seller and buyer,
    by name or as short addresses. `market_id` is the market of an order or trade, `request_id` the request that made
    the entry.
    """

    id: UUID
    kind: ActivityKind
    title: str
    status: str | None
    chain_eid: int | None
    chain_name: str | None
    actor_name: str | None
    approver_name: str | None = None
    from_name: str | None
    to_name: str | None
    tx_hash: str | None
    market_id: UUID | None
    request_id: UUID | None
    created_at: Timestamp


class ActivityList(RecordPage):
    """A page of an asset's activity."""

    activity: list[Activity]
    nextCursor: str | None
