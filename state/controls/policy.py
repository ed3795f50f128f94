"""Whether an organization's policy requires a second person for a control."""

from contextlib import suppress
from typing import Any

from backend.client import ApiProblem


async def is_guarded(api: Any, org_id: str, control: str) -> bool:
    """Return whether the policy requires a second person; False where it cannot be read."""
    with suppress(ApiProblem):
        return f"token.{control}" in (await api.get_organization(org_id)).approvals
    return False
