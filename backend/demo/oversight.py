"""What the demo's second person and other programs see: a distribution, an action that waits, a webhook endpoint."""

from typing import Any
from uuid import UUID

from backend import db
from backend.approvals import operator
from backend.chain import deployment, distributor
from backend.chain.transactions import execute
from backend.demo import cast
from backend.demo.issuance import UNIT, Issuance
from backend.requests.schemas import Action


async def distribution(issuance: Issuance) -> None:
    """Units for everybody who holds the first asset, in proportion; some have claimed theirs."""
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
    """Anybody may hand in a proof; the units go to whose it is."""
    at, amount = str(active["distributor_address"]), int(proof["amount"])
    call = distributor.claim(at, proof["index"], proof["address"], amount, proof["proof"])
    await execute(
        call.intent(
            f"demo:claim:{issuance.org}:{proof['address']}",
            eid=cast.SEPOLIA,
            signer=await deployment.operator(),
            organization_id=UUID(issuance.org),
            label="claim",
        )
    )


async def approval(issuance: Issuance) -> None:
    """A forced transfer, which takes two: the officer asks, and the admin has yet to agree. What is tried after it is
    done at once, for whoever tries it alone."""
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
        await operator.lift_within(session, UUID(issuance.org), cast.ALONE)


async def webhook(issuance: Issuance) -> None:
    """An endpoint that nobody has switched on: an invented address should be sent nothing."""
    made = await issuance.admin.post(f"{issuance.base}/webhooks", dict(cast.ENDPOINT), key="webhook")
    await issuance.admin.call("PATCH", f"{issuance.base}/webhooks/{made['id']}", {"status": "disabled"})


def _custody(issuance: Issuance, name: str) -> dict[str, Any]:
    return issuance.wallets[f"{name} custody"]
