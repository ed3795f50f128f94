"""Signatures of wallets whose keys are not ours."""

import re

HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Of secp256k1. Above it lies the twin that everybody can make of a signature (EIP-2)."""


def signer_of(text: str, signature: str) -> str | None:
    """The address that signed a text (EIP-191), in EIP-55; None where the signature is none, or has a high s."""
    if not re.fullmatch(r"0x[0-9a-fA-F]{130}", signature) or int(signature[66:130], 16) > HALF_ORDER:
        return None
    # Here, because what it brings along would be a tenth of the start.
    from eth_account import Account
    from eth_account.messages import encode_defunct

    try:
        return str(Account.recover_message(encode_defunct(text=text), signature=signature))
    except Exception:  # the libraries below raise errors of many kinds for bytes that are no signature
        return None
