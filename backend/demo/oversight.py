"""The demo's pending approval and webhook endpoint."""

from backend.demo import cast
from backend.demo.issuance import UNIT, Issuance
from backend.requests.schemas import Action


async def approval(issuance: Issuance) -> None:
    """Require a second person for forced transfers, and create one that awaits approval: the officer requests it, and
    the admin has not approved it yet."""
    await issuance.admin.call("PATCH", issuance.base, {"approvals": [Action.FORCED_TRANSFER]})
    giver, receiver, amount, reason = cast.ORDERED
    body = {
        "chain_eid": cast.SEPOLIA,
        "from_address": issuance.custody(giver)["address"],
        "to_address": issuance.custody(receiver)["address"],
        "amount": str(amount * UNIT),
        "reason": reason,
    }
    path = f"{issuance.base}/assets/{issuance.assets['NREF']}/forced-transfer"
    await issuance.officer.post(path, body, key="forced-transfer")


async def webhook(issuance: Issuance) -> None:
    """Create a disabled endpoint: nothing may be sent to a fictional address."""
    made = await issuance.admin.post(f"{issuance.base}/webhooks", dict(cast.ENDPOINT), key="webhook")
    await issuance.admin.call("PATCH", f"{issuance.base}/webhooks/{made['id']}", {"status": "disabled"})
