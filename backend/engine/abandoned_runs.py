"""Runs that this process claimed and that nothing in it executes.

The database can die between the commit of a claim and its answer, or before a run that ended with an error can record
its end. The row then says that this process runs the workflow, and no other process takes it over, because this one
lives.
"""

import asyncio
from dataclasses import dataclass

import structlog

from backend.core.runtime import runtime
from backend.engine import dbos_internals

log = structlog.get_logger()


@dataclass
class Suspects:
    """Workflows without an execution at the last check, each with the token of its claim."""

    claims: frozenset[tuple[str, str]] = frozenset()


async def requeue() -> list[str]:
    """Put workflows that had no execution at two checks in a row back into their queues, and return them.

    At one check alone, a run may be between its claim and its start, or between its end and the end's record.
    """
    suspects = runtime.part(Suspects)
    found = frozenset(await asyncio.to_thread(dbos_internals.unexecuted))
    abandoned = sorted(workflow for workflow, _ in found & suspects.claims)
    suspects.claims = found
    if abandoned:
        await asyncio.to_thread(dbos_internals.requeue_own, abandoned)
        log.warning("executor.abandoned_runs", workflows=abandoned)
    return abandoned
