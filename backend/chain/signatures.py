"""Signatures of wallets whose keys are not ours."""


def signer_of(text: str, signature: str) -> str | None:
    """The address that signed a text (EIP-191), in EIP-55; None where the signature is none."""
    # Here, because what it brings along would be a tenth of the start.
    from eth_account import Account
    from eth_account.messages import encode_defunct

    try:
        return str(Account.recover_message(encode_defunct(text=text), signature=signature))
    except Exception:  # the libraries below raise errors of many kinds for bytes that are no signature
        return None
