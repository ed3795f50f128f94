"""A transaction as a step of a request: sent once even if the step runs again; its hash is shown while it is
pending."""

from backend.chain.abi.calls import Call
from backend.chain.abi.outcome import Outcome
from backend.chain.errors import Reverted
from backend.chain.transactions.execution import execute
from backend.requests.runs import OnStored, Run, StepNotes


async def write(
    run: Run,
    step: StepNotes,
    call: Call,
    key: str,
    *,
    eid: int,
    signer: str,
    label: str,
    on_stored: OnStored | None = None,
) -> Outcome:
    """Send a call for a request and wait for its result. `key` distinguishes it from the request's other transactions.

    `on_stored` writes the hash to the rows that store it, before the transaction is sent.
    """

    async def show(tx_hash: str) -> None:
        await step.say(step.detail or "", tx_hash, on_stored)

    intent = call.intent(
        run.key(key, eid),
        eid=eid,
        signer=signer,
        organization_id=run.organization_id,
        label=label,
        request_id=run.request_id,
    )
    try:
        outcome = await execute(intent, on_stored=show)
    except Reverted as refusal:
        refusal.eid = eid
        raise
    step.tx_hash = outcome.tx_hash
    return outcome
