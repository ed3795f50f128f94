"""Lanes of runs: how many runs of one root organization work at a time, so that one tenant does not occupy the engine.

A run that waits for its place is a suspended coroutine: it holds no connection and no thread. The bounds are those of
one process.
"""

import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from backend.core import db
from backend.core.fair_places import Place, Places, held
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


async def place(lane: Lane, organization_id: UUID) -> AbstractAsyncContextManager[Place]:
    """Return the place of a run, to be held while it works."""
    places = runtime.loop_part(Running).places
    free = places.setdefault(lane, Places(sys.maxsize, None, each=RUNS[lane]))
    return held(free, name=await db.root_of(organization_id))
