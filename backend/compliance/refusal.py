"""The refusal of a movement: what refuses it, and how to resolve that."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.compliance.schemas import RuleVerdict
from backend.core.errors import Conflict


class Refused(Conflict):
    """Conflict"""

    def __init__(self, verdicts: Sequence[RuleVerdict]) -> None:
        revoked = dict.fromkeys(v.revocation.detail for v in verdicts if v.revocation)
        super().__init__(" ".join([*(v.reason for v in verdicts), *revoked]))
        self.verdicts = list(verdicts)

    def extensions(self) -> dict[str, Any]:
        """Every rule that refuses the movement, with its resolution."""
        return {"rules": [v.model_dump(mode="json") for v in self.verdicts]}


class Underfunded(Conflict):
    """Conflict"""

    def __init__(self, detail: str, resolution: Mapping[str, Any]) -> None:
        super().__init__(detail)
        self.resolution = dict(resolution)

    def extensions(self) -> dict[str, Any]:
        """Return the call that gives the wallet what it lacks."""
        return {"resolution": self.resolution}
