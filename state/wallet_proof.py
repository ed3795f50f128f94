"""The message that a wallet signs to prove whose account it is (EIP-4361). Pure."""

from typing import Any

from backend.addresses import checksummed

STATEMENT = "Set up a second factor in Signum"


def message_of(account: Any, told: dict[str, Any], issued_at: str) -> str:
    """The message of an account, with what POST /v1/auth/siwe/nonce has told; ValueError where the account is no EVM
    address."""
    address = checksummed(str(account)[:42], "The wallet's account")
    return (
        f"{told['domain']} wants you to sign in with your Ethereum account:\n{address}\n\n{STATEMENT}\n\n"
        f"URI: {told['uri']}\nVersion: {told['version']}\nChain ID: {told['chain_ids'][0]}\n"
        f"Nonce: {told['nonce']}\nIssued At: {issued_at}"
    )
