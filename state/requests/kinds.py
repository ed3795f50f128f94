"""Kinds of requests for people."""

KINDS = {
    "asset.deploy": "Asset deployment",
    "asset.limits": "Change of daily limits",
    "asset.share_caps": "Sharing of limits among chains",
    "asset.update": "Change of an asset",
    "attestation.issue": "Attestation",
    "attestation.revoke": "Revocation of an attestation",
    "bridge.return": "Return of a bridge packet",
    "bridge.send": "Bridge",
    "distribution.activate": "Activation of a distribution",
    "distribution.cancel": "Cancellation of a distribution",
    "distribution.pay": "Payment to a recipient",
    "issuer.register": "Issuer registration",
    "market.deploy": "Market deployment",
    "member.add": "Addition of a member",
    "member.change_role": "Change of a role",
    "member.invite": "Invitation",
    "member.remove": "Removal of a member",
    "order.cancel": "Cancellation of an order",
    "order.place": "Order",
    "organization.approvals": "Change of what needs a second person",
    "organization.lineage": "Parent of an organization on chain",
    "token.limit_path": "Limit of a bridge path",
    "token.pause_path": "Pause of a bridge path",
    "token.recover": "Wallet recovery",
    "token.unpause_path": "Resumption of a bridge path",
    "transfer.send": "Transfer",
    "wallet.test_funds": "Test funds",
    "webhook.recover": "Recovery of webhook deliveries",
}
"""Kinds whose parts do not read as words."""


def kind_words(kind: str) -> str:
    """Return the kind of a request for people: `token.forced_transfer` is "Forced transfer"."""
    return KINDS.get(kind) or kind.removeprefix("token.").replace(".", " ").replace("_", " ").capitalize()
