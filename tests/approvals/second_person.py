"""An organization where actions need a second person, and the second person's steps."""

from typing import Any

from tests.conftest import Actor, World
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import Issuance

WHY = "Suspicious movements"


async def asking(world: World, *actions: str, eids: tuple[int, ...] = (SEPOLIA,)) -> tuple[Issuance, Actor]:
    """A firm that requires a second person for some actions, and its second admin."""
    firm = await Issuance.ready(world, *eids)
    await firm.patch("", {"approvals": list(actions)})
    return firm, await world.person(firm.id)


async def waiting(firm: Firm, accepted: Any) -> Any:
    """Return the approval that an accepted action waits for."""
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert request["status"] == "awaiting_approval", request
    found = (await firm.get("/approvals", params={"status": "pending"}))["approvals"]
    approval = next(a for a in found if a["request_id"] == request["id"])
    assert request["approval_id"] == approval["id"]
    return approval


def path_of(firm: Firm, approval: Any, verb: str = "") -> str:
    """Path of an approval."""
    return f"{firm.base}/approvals/{approval['id']}" + (f"/{verb}" if verb else "")


async def approve(firm: Firm, actor: Actor, approval: Any) -> Any:
    """Approve, and wait for the request to finish."""
    decided = await actor.call("POST", path_of(firm, approval, "approve"))
    assert decided["requestId"] == approval["request_id"]
    return await firm.settle(approval["request_id"])


async def deny(firm: Firm, actor: Actor, approval: Any) -> Any:
    """Deny, and return the request."""
    await actor.call("POST", path_of(firm, approval, "deny"), json={"reason": "Not now"})
    return await firm.get(f"/requests/{approval['request_id']}")
