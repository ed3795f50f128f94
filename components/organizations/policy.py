"""What the settings of an organization offer: KYC levels, and actions that can need a second person."""

LEVELS = [("0", "No minimum"), ("1", "Level 1"), ("2", "Level 2"), ("3", "Level 3"), ("4", "Level 4"), ("5", "Level 5")]
ACTIONS = [
    (
        "Assets",
        [
            ("asset.deploy", "Create an asset"), ("asset.update", "Change an asset's rules"),
            ("asset.share_caps", "Set limits by chain"),
        ],
    ),
    (
        "Tokens and holders",
        [
            ("token.mint", "Mint"), ("token.burn", "Burn"), ("token.pause", "Pause"), ("token.unpause", "Unpause"),
            ("token.freeze", "Freeze"), ("token.unfreeze", "Unfreeze"), ("token.forced_transfer", "Forced transfer"),
            ("token.recover", "Recover a wallet"), ("transfer.send", "Transfer"),
        ],
    ),
    (
        "Markets and chains",
        [
            ("market.deploy", "Deploy a market"), ("order.place", "Place an order"),
            ("order.cancel", "Cancel an order"), ("bridge.send", "Bridge"),
            ("token.pause_path", "Pause a bridge path"), ("token.unpause_path", "Resume a bridge path"),
            ("token.limit_path", "Limit a bridge path"),
        ],
    ),
    ("Attestations", [("attestation.issue", "Attest"), ("attestation.revoke", "Revoke an attestation")]),
    (
        "Distributions",
        [("distribution.activate", "Activate a distribution"), ("distribution.cancel", "Cancel a distribution")],
    ),
    (
        "Members",
        [("member.change_role", "Grant or remove a member's right to approve"), ("member.remove", "Remove a member")],
    ),
]  # fmt: skip
"""Actions that can require a second person, in groups."""
MORE = {"member.change_role": "Your own, too", "member.remove": "Viewers and clients, too"}
"""What an action adds to what needs a second person while any is selected."""
