"""The demo's distribution, pending approval and webhook endpoint."""

from typing import Any
from uuid import UUID

from backend.approvals.removal import lift_within
from backend.chain.bindings import distributor
from backend.chain.deployment import contracts
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.demo import cast
from backend.demo.issuance import UNIT, Issuance
from backend.requests.schemas import Action


async def distribution(issuance: Issuance) -> None:
    """Distribute units to all holders of the first asset, in proportion; some have claimed them."""
    admin, org = issuance.admin, issuance.org
    base = f"{issuance.base}/assets/{issuance.assets['NREF']}/distributions"
    body = {
        "name": cast.DISTRIBUTION,
        "chain_eid": cast.SEPOLIA,
        "holders": {"total_amount": str(cast.DISTRIBUTED * UNIT)},
    }
    drawn = await admin.post(base, body, key="distribution")
    one = f"{base}/{drawn['id']}"
    root = {
        "chainEid": cast.SEPOLIA,
        "merkleRoot": drawn["merkle_root"],
        "totalRecipients": drawn["total_recipients"],
    }
    await admin.post(f"{one}/activate", root, key="distribution:activate")
    active = await admin.get(one)
    await admin.succeeded(org, active["request_id"], "distribution")
    active = await admin.get(one)
    for name in cast.CLAIMED:
        await _claim(issuance, active, await admin.get(f"{one}/proofs/{_custody(issuance, name)['address']}"))


async def _claim(issuance: Issuance, active: dict[str, Any], proof: dict[str, Any]) -> None:
    """Claim with a proof. Anyone may submit one; the units go to its recipient."""
    at, amount = str(active["distributor_address"]), int(proof["amount"])
    call = distributor.claim(at, proof["index"], proof["address"], amount, proof["proof"])
    await execute(
        call.intent(
            f"demo:claim:{issuance.org}:{proof['address']}",
            eid=cast.SEPOLIA,
            signer=await contracts.operator(),
            organization_id=UUID(issuance.org),
            label="claim",
        )
    )


async def approval(issuance: Issuance) -> None:
    """Create a forced transfer that awaits approval: the officer requests it, and the admin has not approved it yet.

    Later actions are executed immediately, so that one person alone can try them.
    """
    await issuance.admin.call("PATCH", issuance.base, {"approvals": [Action.FORCED_TRANSFER]})
    giver, receiver, amount, reason = cast.ORDERED
    body = {
        "chain_eid": cast.SEPOLIA,
        "from_address": _custody(issuance, giver)["address"],
        "to_address": _custody(issuance, receiver)["address"],
        "amount": str(amount * UNIT),
        "reason": reason,
    }
    path = f"{issuance.base}/assets/{issuance.assets['NREF']}/forced-transfer"
    await issuance.officer.post(path, body, key="forced-transfer")
    async with db.worker() as session:
        await lift_within(session, UUID(issuance.org), cast.ALONE)


async def webhook(issuance: Issuance) -> None:
    """Create a disabled endpoint: nothing may be sent to a fictional address."""
    made = await issuance.admin.post(f"{issuance.base}/webhooks", dict(cast.ENDPOINT), key="webhook")
    await issuance.admin.call("PATCH", f"{issuance.base}/webhooks/{made['id']}", {"status": "disabled"})


def _custody(issuance: Issuance, name: str) -> dict[str, Any]:
    return issuance.wallets[f"{name} custody"]
