"""Titles of requests as an activity names them: nouns, like the events beside them."""

NOUNS = {
    "Activate": "Activation of", "Bridge": "Bridge of", "Burn": "Burn of",
    "Cancel": "Cancellation of", "Change": "Change of", "Close": "Closing of", "Deploy": "Deployment of",
    "Freeze": "Freeze of", "Limit": "Limit of", "Mint": "Mint of", "Open": "Opening of", "Pause": "Pause of",
    "Pay": "Payment of", "Recover": "Recovery of", "Return": "Return of", "Transfer": "Transfer of",
    "Unfreeze": "Unfreeze of", "Unpause": "Unpause of", "Update": "Update of",
}  # fmt: skip
"""The verbs with which titles of requests begin."""


def as_noun(title: str) -> str:
    """Return `Mint of 500 NREF to Treasury` for the request `Mint 500 NREF to Treasury`; other titles unchanged."""
    verb, _, rest = title.partition(" ")
    return f"{NOUNS[verb]} {rest}" if rest and verb in NOUNS and not rest.startswith("of ") else title
