"""Signatures of wallets whose keys Signum does not hold."""

import re

HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Half the order of secp256k1. Above it is the second signature that anyone can derive from the first (EIP-2)."""


def signer_of(text: str, signature: str) -> str | None:
    """Return the address that signed a text (EIP-191), in EIP-55; None if the signature is invalid or has a high s."""
    if not re.fullmatch(r"0x[0-9a-fA-F]{130}", signature) or int(signature[66:130], 16) > HALF_ORDER:
        return None
    # Imported here, because it would add a tenth to the start time.
    from eth_account import Account
    from eth_account.messages import encode_defunct

    try:
        return str(Account.recover_message(encode_defunct(text=text), signature=signature))
    except Exception:  # the libraries below raise many kinds of errors for malformed signatures
        return None
