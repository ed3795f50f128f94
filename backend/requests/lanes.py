"""Lanes of runs: how many runs of one root organization work at a time, so that one tenant does not occupy the engine.

A run that waits for its place is a suspended coroutine: it holds no connection and no thread. The bounds are those of
one process.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from backend.core import db
from backend.core.fair_places import Place, Places, held, urgently, working_for
from backend.core.runtime import runtime


class Lane(Enum):
    """A kind of work, with its own places."""

    ORDINARY = "ordinary"
    URGENT = "urgent"
    """Controls that protect holders. They do not wait for the tenant's other work."""
    BULK = "bulk"
    """Long work without urgency, on a queue of its own."""


RUNS = {Lane.ORDINARY: 9, Lane.URGENT: 4, Lane.BULK: 1}
"""Runs of one root organization at a time. Their sum is below the connections of the worker's pool (15), of which all
runs of a tenant may hold one each while they wait for the lock of one wallet.
"""


@dataclass
class Running:
    """Places by lane, per event loop."""

    places: dict[Lane, Places] = field(default_factory=dict)


@asynccontextmanager
async def place(lane: Lane, organization_id: UUID) -> AsyncIterator[Place]:
    """Hold the place of a run while it works. Its calls of nodes count for its root too."""
    places, root = runtime.loop_part(Running).places, await db.root_of(organization_id)
    free = places.setdefault(lane, Places(sys.maxsize, None, each=RUNS[lane]))
    with working_for(root), urgently(lane is Lane.URGENT):
        async with held(free, name=root) as found:
            yield found
