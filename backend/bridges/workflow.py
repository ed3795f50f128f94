"""Workflows of an accepted bridge and of an accepted return."""

from backend.bridges import delivery, return_steps
from backend.bridges.returns import KIND
from backend.core.errors import SignumError
from backend.requests.runs import Run
from backend.requests.workflows import workflow


async def send_failed(run: Run, error: SignumError) -> None:
    """Mark the bridge as failed, with the reason; a retry continues where it stopped."""
    await delivery.failed(run, run.subject_id, error)


@workflow("bridge.send", on_failure=send_failed)
async def send(run: Run) -> None:
    """Run token and peers, packet, delivery."""
    await delivery.carry(run, run.subject_id)


@workflow(KIND, on_failure=return_steps.failed)
async def give_back(run: Run) -> None:
    """Drop the packet, and mint its supply back."""
    await return_steps.give_back(run)
