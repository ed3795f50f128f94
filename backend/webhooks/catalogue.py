"""Descriptions of the event types."""

from backend.webhooks.schemas import EventType, EventTypeInfo

_WORDS = {
    EventType.ORGANIZATION_CREATED: "An organization was created; its parent receives the event too",
    EventType.ORGANIZATION_UPDATED: "An organization's name, status, network or requirements changed",
    EventType.ORGANIZATION_MOVED: "An organization was moved to another parent; both parents receive the event too",
    EventType.MEMBER_ADDED: "A person became a member, or was invited",
    EventType.MEMBER_UPDATED: "A member's role or status changed",
    EventType.MEMBER_REMOVED: "A membership ended",
    EventType.INVITATION_CREATED: "A person was invited",
    EventType.INVITATION_ACCEPTED: "An invitation was accepted",
    EventType.INVITATION_REVOKED: "A pending invitation was revoked",
    EventType.INVITATION_EXPIRED: "An invitation expired after seven days",
    EventType.ASSET_CREATED: "An asset was created; its token is being deployed",
    EventType.ASSET_UPDATED: "An asset, its rules or its status changed",
    EventType.ASSET_FAILED: "An asset could not be deployed or updated on chain",
    EventType.BRIDGE_SUBMITTING: "A packet was sent from its source chain",
    EventType.BRIDGE_CONFIRMED: "A packet was delivered on its destination chain",
    EventType.BRIDGE_FAILED: "A packet reverted, or was abandoned",
    EventType.BRIDGE_RETURNED: "The packet of a failed bridge was dropped, and its supply minted back",
    EventType.MARKET_PENDING_BRIDGE: "A market waits for its asset to be bridged",
    EventType.MARKET_ACTIVE: "A market is open for orders",
    EventType.MARKET_HALTED: "A market was halted by its owner, a pause or a change of rules",
    EventType.MARKET_FAILED: "A market could not be deployed",
    EventType.ORDER_PLACED: "An order is on the chain",
    EventType.ORDER_PARTIALLY_FILLED: "A part of an order was filled",
    EventType.ORDER_FILLED: "An order was filled completely",
    EventType.ORDER_CANCELLED: "The rest of an order was cancelled on the chain",
    EventType.ORDER_FAILED: "An accepted order was denied or withdrawn, or could not be placed on the chain",
    EventType.TRADE_EXECUTED: "Two orders traded on the chain",
    EventType.DISTRIBUTION_CREATED: "A distribution was created",
    EventType.DISTRIBUTION_ACTIVATED: "A distribution can be claimed on chain",
    EventType.ISSUER_REGISTERED: "An issuer was confirmed on a chain",
    EventType.ISSUER_FAILED: "An issuer could not be registered on a chain",
    EventType.PARTY_VERIFIED: "A party's identity was verified",
    EventType.PARTY_REJECTED: "A party's identity was rejected",
    EventType.ATTESTATION_ACTIVE: "An attestation was confirmed on chain",
    EventType.ATTESTATION_REVOKED: "An attestation was revoked on chain",
    EventType.ATTESTATION_EXPIRED: "An attestation expired",
    EventType.ATTESTATION_FAILED: "An attestation could not be written to the chain",
    EventType.TRANSFER_CONFIRMED: "A transfer was confirmed on chain",
    EventType.TRANSFER_FAILED: "A transfer was refused or reverted",
    EventType.WALLET_CREATED: "A wallet was created or linked",
    EventType.API_KEY_CREATED: "An API key was created",
    EventType.API_KEY_REVOKED: "An API key was revoked",
    EventType.CHAIN_ENABLED: "A chain was enabled",
    EventType.CHAIN_DISABLED: "A chain was disabled",
    EventType.WEBHOOK_TEST: "A test of an endpoint; it is sent regardless of the endpoint's event types",
}


def event_types() -> list[EventTypeInfo]:
    """Return every type, by group, in the order of the document."""
    return [EventTypeInfo(type=t, group=group_of(t), description=_WORDS[t]) for t in EventType]


def group_of(event_type: str) -> str:
    """Return the group of an event: `api_key` of `api_key.created`."""
    return event_type.partition(".")[0]
