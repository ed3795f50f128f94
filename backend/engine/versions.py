"""Versions of workflows, for upgrades of one process after the other.

A process takes only workflows whose names are registered in it. A workflow whose arguments or rows mean something else
than in the release before gets the next version, so that old processes leave it to new ones. New processes run the
earlier versions too, with the same code.
"""

from collections.abc import Awaitable, Callable

from dbos import DBOS

# Declared at import.
_current: dict[str, str] = {}
"""The engine's name of a workflow's newest version."""


def register(name: str, run: Callable[..., Awaitable[None]], version: int = 1) -> None:
    """Register a workflow with the engine under the name of each version: `name`, `name@2`, and so on."""
    for number in range(1, version + 1):
        _current[name] = f"{name}@{number}" if number > 1 else name
        _register(_current[name], run)


def current(name: str) -> str:
    """Return the name under which a workflow is enqueued."""
    return _current.get(name, name)


def _register(name: str, run: Callable[..., Awaitable[None]]) -> None:
    @DBOS.workflow(name=name)
    async def once(*arguments: str) -> None:
        await run(*arguments)
