"""The message that a wallet signs to prove whose account it is (EIP-4361)."""

from datetime import UTC, datetime
from typing import Any

from backend.addresses import checksummed
from backend.client import ApiProblem
from state.api import Form


class SignsWithWallet(Form, mixin=True):
    """Mixin of a form that a wallet's signature proves: the message that the wallet signs."""

    message: str = ""

    async def _write_message(self, account: Any, statement: str) -> None:
        """Write the message for an account of the browser's wallet, with a fresh nonce."""
        self._done()
        self.message = ""
        try:
            told = await self._api("POST", "/auth/siwe/nonce")
            self.message = message_of(account, told, statement, datetime.now(UTC).isoformat(timespec="seconds"))
        except ApiProblem as problem:
            self._refused(problem)
        except ValueError as error:
            self.form_problem = f"{error}."

    def _signed(self, signature: Any) -> dict[str, Any]:
        """Return the proof that the API takes, and forget the message: it counts once."""
        proof = {"message": self.message, "signature": str(signature)[:200]}
        self.message = ""
        return {"wallet": proof}


def message_of(account: Any, told: dict[str, Any], statement: str, issued_at: str) -> str:
    """The message of an account, with what POST /v1/auth/siwe/nonce has told; ValueError where the account is no EVM
    address."""
    address = checksummed(str(account)[:42], "The wallet's account")
    return (
        f"{told['domain']} wants you to sign in with your Ethereum account:\n{address}\n\n{statement}\n\n"
        f"URI: {told['uri']}\nVersion: {told['version']}\nChain ID: {told['chain_ids'][0]}\n"
        f"Nonce: {told['nonce']}\nIssued At: {issued_at}"
    )
