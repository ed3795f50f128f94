"""What is done for an accepted bridge."""

from backend.bridges import carrying, giving_up
from backend.bridges.returns import KIND
from backend.errors import SignumError
from backend.workflows import Run, workflow


async def send_failed(run: Run, error: SignumError) -> None:
    """The bridge has failed, with the reason; a retry goes on where it stopped."""
    await carrying.failed(run, run.subject_id, error)


@workflow("bridge.send", on_failure=send_failed)
async def send(run: Run) -> None:
    """Token and peers, packet, delivery."""
    await carrying.carry(run, run.subject_id)


@workflow(KIND, on_failure=giving_up.failed)
async def give_back(run: Run) -> None:
    """The packet dropped, and its supply minted back."""
    await giving_up.give_back(run)
