"""The message that a wallet signs to prove an account (EIP-4361)."""

from datetime import UTC, datetime
from typing import Any

from backend.client import ApiProblem
from backend.core.addresses import checksummed
from backend.sign_in.schemas import SiweNonce
from state.core.api import Form


class SignsWithWallet(Form, mixin=True):
    """Mixin of a form that takes a wallet's signature as proof: the message to sign."""

    message: str = ""

    async def _write_message(self, account: Any, statement: str) -> None:
        """Create the message for an account of the browser's wallet, with a fresh nonce."""
        self._done()
        self.message = ""
        try:
            nonce = await self._api.begin_siwe()
            self.message = message_of(account, nonce, statement, datetime.now(UTC).isoformat(timespec="seconds"))
        except ApiProblem as problem:
            self._refused(problem)
        except ValueError as error:
            self.form_problem = f"{error}."

    def _signed(self, signature: Any) -> dict[str, Any]:
        """Return the proof for the API, and forget the message, which can be used once."""
        proof = {"message": self.message, "signature": str(signature)[:200]}
        self.message = ""
        return {"wallet": proof}


def message_of(account: Any, nonce: SiweNonce, statement: str, issued_at: str) -> str:
    """Return the message of an account, with the response of POST /v1/auth/siwe/nonce. Raises ValueError if the
    account is not an EVM address."""
    address = checksummed(str(account)[:42], "The wallet's account")
    return (
        f"{nonce.domain} wants you to sign in with your Ethereum account:\n{address}\n\n{statement}\n\n"
        f"URI: {nonce.uri}\nVersion: {nonce.version}\nChain ID: {nonce.chain_ids[0]}\n"
        f"Nonce: {nonce.nonce}\nIssued At: {issued_at}"
    )
