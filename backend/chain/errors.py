"""Errors of nodes.

SignumError
├── ChainUnavailable      503   no node answers; retry
│   └── UnexpectedAnswer  503   not an answer of the contract: a node behind the chain, or another contract
├── RpcError              503   a node's own error, not a contract's refusal
├── Reverted              409   a contract refused, with its reason decoded
│   └── Undone            409   a reorg undid a transaction, and it was refused when sent again
└── InsufficientFunds     409   the signer cannot pay for gas and value
MissingEvent                    a receipt lacks an event its transaction must emit
"""

from collections.abc import Mapping
from typing import Any

from backend.core.errors import Conflict, Unavailable


class ChainUnavailable(Unavailable):
    """Service Unavailable"""


class NodeBusy(ChainUnavailable):
    """Service Unavailable"""


class UnexpectedAnswer(ChainUnavailable):
    """Service Unavailable"""


class InsufficientFunds(Conflict):
    """Conflict"""


class Reverted(Conflict):
    """Conflict"""

    def __init__(
        self,
        detail: str,
        *,
        name: str = "",
        arguments: Mapping[str, Any] | None = None,
        code: int | None = None,
        resolution: str | None = None,
        eid: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.name = name
        self.arguments = dict(arguments or {})
        self.code = code
        self.reason = detail
        self.resolution = resolution
        self.eid = eid
        """The chain whose contract refused, where the caller has noted it."""

    def extensions(self) -> dict[str, Any]:
        """The contract's own error, for readers of its source."""
        arguments = {key: value if isinstance(value, bool) else str(value) for key, value in self.arguments.items()}
        return {"revert": {"error": self.name, "code": self.code, "arguments": arguments}}

    def stored(self) -> dict[str, Any]:
        """Return what a failed transaction stores; `restored` reads it."""
        return {
            "detail": self.detail,
            "name": self.name,
            "arguments": self.arguments,
            "code": self.code,
            "resolution": self.resolution,
        }

    @classmethod
    def restored(cls, problem: Mapping[str, Any]) -> "Reverted":
        """Return the error of a failed transaction."""
        return cls(
            problem["detail"],
            name=problem.get("name", ""),
            arguments=problem.get("arguments"),
            code=problem.get("code"),
            resolution=problem.get("resolution"),
            eid=problem.get("eid"),
        )


class Undone(Reverted):
    """Conflict"""


class MissingEvent(LookupError):
    """A receipt without the event that its transaction must emit: the contract is not the expected one."""


class RpcError(Unavailable):
    """Service Unavailable"""

    def __init__(self, message: str, code: int = 0, data: str = "", eid: int | None = None) -> None:
        """`message` is the node's, for the log only: it may name an account with a provider. `data` is the revert data,
        if any."""
        chain = "a chain" if eid is None else f"the chain {eid}"
        super().__init__(f"The node of {chain} answered with an error ({code}). Retry later.")
        self.message = message
        self.code = code
        self.data = data
        self.eid = eid

    def says(self, *words: str) -> bool:
        """Return whether the message contains one of the phrases; nodes use different wordings."""
        text = self.message.lower()
        return any(word in text for word in words)
