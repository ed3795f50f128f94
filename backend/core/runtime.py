"""State of this process, in one object: connections, caches, counters and background work.

A module declares its state as a small class next to the functions that use it, and reads it as `runtime.part(Floors)`.
The object is not passed from function to function, because DBOS, FastAPI and SQLAlchemy call workflows, routes and
listeners with arguments of their own. Every function between those and the one that uses a part would need a parameter
only to hand the object on.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
Parts = dict[Callable[[], Any], Any]


class Runtime:
    """Parts of a process's state, each made on first use by its class, or by a function without arguments."""

    def __init__(self) -> None:
        self._parts: Parts = {}
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Parts] = WeakKeyDictionary()
        # Reentrant, because making a part may need another one.
        self._lock = threading.RLock()

    def part(self, make: Callable[[], T]) -> T:
        """Return this process's part, from any thread."""
        try:
            found: T = self._parts[make]
        except KeyError:
            return self._made(self._parts, make)
        return found

    def loop_part(self, make: Callable[[], T]) -> T:
        """Return the running event loop's part. It ends with the loop, unless it refers to the loop itself."""
        loop = asyncio.get_running_loop()
        parts = self._by_loop.get(loop)
        if parts is None:
            with self._lock:
                parts = self._by_loop.setdefault(loop, {})
        return parts[make] if make in parts else self._made(parts, make)

    def loop_parts(self, make: Callable[[], T]) -> list[T]:
        """Return the parts that the event loops have made so far."""
        with self._lock:
            return [parts[make] for parts in self._by_loop.values() if make in parts]

    def reset(self, *makes: Callable[[], Any]) -> None:
        """Forget these parts, or all of them; the next use makes them again.

        It closes nothing: end the processes, connections and tasks of a part first.
        """
        with self._lock:
            for parts in (self._parts, *self._by_loop.values()):
                for make in makes or list(parts):
                    parts.pop(make, None)

    def _made(self, parts: Parts, make: Callable[[], T]) -> T:
        with self._lock:
            if make not in parts:
                parts[make] = make()
            made: T = parts[make]
            return made


# Declared at import.
runtime = Runtime()
"""The only variable of the process."""
