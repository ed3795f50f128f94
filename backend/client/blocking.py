"""The client without `await`, for scripts and notebooks: its calls run in a loop of their own, in a thread."""

from collections.abc import AsyncIterable, Awaitable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

if TYPE_CHECKING:
    from backend.client.client import SignumClient

T = TypeVar("T")


class Blocking:
    """Waits for what the client's methods give: `wait(wait.client.get_asset(…))`, or the records of
    `wait.each(wait.client.list_assets(…))`.

    Types are those of the methods. Used as a context manager, it closes the client's connections at the end.
    """

    def __init__(self, client: "SignumClient") -> None:
        self.client, self._stack = client, ExitStack()
        self._portal: BlockingPortal | None = None

    def __enter__(self) -> "Blocking":
        """Start the loop."""
        self._portal = self._stack.enter_context(start_blocking_portal())
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections and end the loop."""
        self(self.client.close())
        self._stack.close()
        self._portal = None

    def __call__(self, awaitable: Awaitable[T]) -> T:
        """Wait for the answer of a call."""
        return self._running().call(_await, awaitable)

    def each(self, records: AsyncIterable[T]) -> Iterator[T]:
        """Iterate over the records of a list, or the chunks of a download."""
        iterator = records.__aiter__()
        while True:
            try:
                yield self(anext(iterator))
            except StopAsyncIteration:
                return

    def _running(self) -> BlockingPortal:
        if self._portal is None:
            raise RuntimeError("Use it as `with client.blocking() as wait:`.")
        return self._portal


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable
