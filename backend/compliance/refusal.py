"""The refusal of a movement: every rule that refuses it, and how to resolve each."""

from collections.abc import Sequence
from typing import Any

from backend.compliance.schemas import RuleVerdict
from backend.core.errors import Conflict


class Refused(Conflict):
    """Conflict"""

    def __init__(self, verdicts: Sequence[RuleVerdict]) -> None:
        super().__init__(" ".join(v.reason for v in verdicts))
        self.verdicts = list(verdicts)

    def extensions(self) -> dict[str, Any]:
        """Every rule that refuses the movement, with its resolution."""
        return {"rules": [v.model_dump() for v in self.verdicts]}
