"""A visit of a page begins without what was open when the person left or reloaded it: dialogs, confirmations, menus.

A state that has something open implements `_leave`, which ends it. What is shown only once, such as a new key, stays.
"""

from collections.abc import Iterator
from functools import cache
from typing import Protocol, cast

import reflex as rx
from reflex.state import BaseState


class Leaves(Protocol):
    """A state that has something open."""

    def _leave(self) -> None:
        """End what is open."""


async def leave_all(state: rx.State) -> None:
    """End what the states of this browser tab have open."""
    for kind in _kinds():
        cast(Leaves, await state.get_state(kind))._leave()


@cache
def _kinds() -> tuple[type[BaseState], ...]:
    return tuple(kind for kind in _below(rx.State) if hasattr(kind, "_leave"))


def _below(kind: type[BaseState]) -> Iterator[type[BaseState]]:
    for child in sorted(kind.get_substates(), key=lambda one: one.get_full_name()):
        yield child
        yield from _below(child)
