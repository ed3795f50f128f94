"""Ownership of running workflows: a process that lost a workflow to another one writes nothing more for it.

The engine gives each execution of a workflow a token, which is replaced when another process takes the workflow over,
because this one was silent for too long or lost its connection. Transactions of a workflow's steps, and those that
assign a nonce, lock the row with the token until they end. So a takeover waits for an open transaction, and a process
that wakes up after the takeover finds another token before it writes or signs.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from backend.core import db
from backend.engine import dbos_internals


@contextmanager
def checked() -> Iterator[None]:
    """Check the ownership of the current workflow in its transactions while inside. Outside a workflow this has no
    effect."""
    workflow, token = dbos_internals.execution()
    if token is None:
        yield
        return

    with db.guarded_by(db.Guard("signum_holds_workflow", (workflow, token), lambda: dbos_internals.Taken(workflow))):
        yield
