"""The event types in words."""

from backend.webhooks.schemas import EventType, EventTypeInfo

_WORDS = {
    EventType.ORGANIZATION_CREATED: "An organization was made; its parent is told too",
    EventType.ORGANIZATION_UPDATED: "Its name, status, network or requirements have changed",
    EventType.ORGANIZATION_MOVED: "It has another parent; both parents are told too",
    EventType.MEMBER_ADDED: "Somebody has become a member, or is about to",
    EventType.MEMBER_UPDATED: "A member's role or status has changed",
    EventType.MEMBER_REMOVED: "Somebody is no longer a member",
    EventType.INVITATION_CREATED: "Somebody was invited",
    EventType.INVITATION_ACCEPTED: "An invitation was accepted",
    EventType.INVITATION_REVOKED: "A pending invitation was taken back",
    EventType.INVITATION_EXPIRED: "An invitation's seven days are over",
    EventType.ASSET_CREATED: "An asset was made; its token is on its way to the chain",
    EventType.ASSET_UPDATED: "An asset, its rules or its status have changed",
    EventType.ASSET_FAILED: "An asset could not be deployed or updated on chain",
    EventType.BRIDGE_SUBMITTING: "A packet is on its way from its source chain",
    EventType.BRIDGE_CONFIRMED: "A packet has arrived on its destination chain",
    EventType.BRIDGE_FAILED: "A packet reverted, or was given up",
    EventType.BRIDGE_RETURNED: "The packet of a failed bridge was dropped, and its supply minted back.",
    EventType.MARKET_PENDING_BRIDGE: "A market waits until its asset is bridged",
    EventType.MARKET_ACTIVE: "A market takes orders",
    EventType.MARKET_HALTED: "A market is halted by its owner, a pause or a change of rules",
    EventType.MARKET_FAILED: "A market could not be deployed",
    EventType.DISTRIBUTION_CREATED: "A distribution was written down",
    EventType.DISTRIBUTION_ACTIVATED: "A distribution can be claimed on chain",
    EventType.ISSUER_REGISTERED: "An issuer is confirmed on a chain",
    EventType.ISSUER_FAILED: "An issuer could not be registered on a chain",
    EventType.PARTY_VERIFIED: "A party's identity was confirmed",
    EventType.PARTY_REJECTED: "A party's identity was not confirmed",
    EventType.ATTESTATION_ACTIVE: "An attestation is on chain",
    EventType.ATTESTATION_REVOKED: "An attestation was revoked on chain",
    EventType.ATTESTATION_EXPIRED: "An attestation's time is over",
    EventType.ATTESTATION_FAILED: "An attestation did not reach the chain",
    EventType.TRANSFER_CONFIRMED: "A transfer is confirmed on chain",
    EventType.TRANSFER_FAILED: "A transfer was refused or reverted",
    EventType.WALLET_CREATED: "A wallet was made or linked",
    EventType.API_KEY_CREATED: "An API key was made",
    EventType.API_KEY_REVOKED: "An API key was revoked",
    EventType.CHAIN_ENABLED: "A chain was enabled",
    EventType.CHAIN_DISABLED: "A chain was disabled",
    EventType.WEBHOOK_TEST: "Somebody tries an endpoint; it comes whatever the endpoint asks for",
}


def event_types() -> list[EventTypeInfo]:
    """Every type, by group, in the order of the document."""
    return [EventTypeInfo(type=t, group=group_of(t), description=_WORDS[t]) for t in EventType]


def group_of(event_type: str) -> str:
    """What an event is about: `api_key` of `api_key.created`."""
    return event_type.partition(".")[0]
