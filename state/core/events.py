"""Types of what event handlers return and yield.

Reflex accepts an event handler (`Tracker.watch`), a handler with arguments, a redirect, a list of these, or None. Its
own type for this, `EventType`, cannot describe the result of a handler that is called by another one, nor a `yield`
without a value.
"""

from collections.abc import AsyncIterator
from typing import Any

Next = Any
"""The event that the browser runs next, or None."""
Events = AsyncIterator[Next]
"""A handler that yields: the state's changes are sent to the browser each time."""


def call(handler: Any, *values: Any) -> Next:
    """Return the event that calls a handler with values: `call(Tracker.retry, id)`.

    To mypy, `Tracker.retry` has the type of the decorator, which cannot be called.
    """
    return handler(*values)
