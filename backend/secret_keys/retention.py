"""Nightly deletion of data keys that were retired long ago."""

from backend.core import threads
from backend.engine.schedules import nightly
from backend.secret_keys import rotation

LATER = 1
"""Hours after the reconciliation of the chains."""


async def once() -> None:
    """Delete them. Contents that still need one are sealed again first."""
    await threads.run(threads.Work.WALLET_KEYS, rotation.delete_retired)


NIGHTLY = nightly("retired_data_keys", once, "retired data keys could not be deleted; will retry tomorrow", LATER)
