"""What a node can answer with, as errors of the house.

SignumError
├── ChainUnavailable      503   no node answers: try again
│   └── UnexpectedAnswer  503   not what the contract would say: a node behind the chain, or another contract
├── RpcError              503   a node answered with an error of its own, which is no contract's refusal
├── Reverted              409   a contract refused, with its reason decoded
│   └── Undone            409   a reorganization undid a transaction, and it was refused when it was sent again
└── InsufficientFunds     409   the signer cannot pay for gas and value
MissingEvent                    a receipt lacks an event its transaction must emit
"""

from collections.abc import Mapping
from typing import Any

from backend.errors import Conflict, Unavailable


class ChainUnavailable(Unavailable):
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
    ) -> None:
        super().__init__(detail)
        self.name = name
        self.arguments = dict(arguments or {})
        self.code = code
        self.reason = detail
        self.resolution = resolution

    def extensions(self) -> dict[str, Any]:
        """The contract's own error, for whoever has its source at hand."""
        arguments = {key: value if isinstance(value, bool) else str(value) for key, value in self.arguments.items()}
        return {"revert": {"error": self.name, "code": self.code, "arguments": arguments}}

    def stored(self) -> dict[str, Any]:
        """What a failed transaction keeps; `restored` reads it."""
        return {
            "detail": self.detail,
            "name": self.name,
            "arguments": self.arguments,
            "code": self.code,
            "resolution": self.resolution,
        }

    @classmethod
    def restored(cls, problem: Mapping[str, Any]) -> "Reverted":
        """The error a failed transaction ended with."""
        return cls(
            problem["detail"],
            name=problem.get("name", ""),
            arguments=problem.get("arguments"),
            code=problem.get("code"),
            resolution=problem.get("resolution"),
        )


class Undone(Reverted):
    """Conflict"""


class MissingEvent(LookupError):
    """A receipt without the event that its transaction must emit: the contract is not the one it was taken for."""


class RpcError(Unavailable):
    """Service Unavailable"""

    def __init__(self, message: str, code: int = 0, data: str = "", eid: int | None = None) -> None:
        """`message` is the node's, which is for the log: it may name an account with a provider. `data` is the revert
        data, where there is some."""
        chain = "a chain" if eid is None else f"the chain {eid}"
        super().__init__(f"The node of {chain} answered with an error of its own ({code}). Try again later.")
        self.message = message
        self.code = code
        self.data = data
        self.eid = eid

    def says(self, *words: str) -> bool:
        """Whether the message has one of the words; nodes word the same thing differently."""
        text = self.message.lower()
        return any(word in text for word in words)
