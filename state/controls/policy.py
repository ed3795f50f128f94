"""The actions for which an organization's policy requires a second person."""

from contextlib import suppress
from typing import Any

from backend.client import ApiProblem


async def guarded(api: Any, org_id: str) -> list[str]:
    """Return the actions for which the policy requires a second person, such as "token.mint"; none if it cannot be
    read."""
    with suppress(ApiProblem):
        return [str(action) for action in (await api.get_organization(org_id)).approvals]
    return []


async def is_guarded(api: Any, org_id: str, control: str) -> bool:
    """Return whether the policy requires a second person for a control; False where it cannot be read."""
    return f"token.{control}" in await guarded(api, org_id)
