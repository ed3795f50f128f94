"""Calls that are made at the same time share the work of one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
MOST = 100
"""Items of one round."""


class Together(Generic[K, V]):
    """Collects the items of concurrent callers in one event loop.

    A caller that finds no round running starts one. What others bring in the meantime is the next round, so a single
    caller does not wait, and many callers cost few rounds. `work` returns an answer, or an exception, for each item
    in order; what it raises is raised to all callers of the round.
    """

    def __init__(self, work: Callable[[Sequence[K]], Awaitable[Sequence[V | Exception]]]) -> None:
        self._work = work
        self._waiting: list[tuple[K, asyncio.Future[V]]] = []
        self._rounds: asyncio.Task[None] | None = None

    async def ask(self, item: K) -> V:
        """Return the answer to an item, or raise its exception."""
        answer: asyncio.Future[V] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer))
        if self._rounds is None or self._rounds.done():
            self._rounds = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
            now, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            try:
                found = await self._work([item for item, _ in now])
            except Exception as error:
                found = [error] * len(now)
            except BaseException:  # the task was cancelled: its callers are too
                for _, answer in [*now, *self._waiting]:
                    answer.cancel()
                self._waiting.clear()
                raise
            for (_, answer), one in zip(now, found, strict=True):
                if answer.done():  # its caller was cancelled
                    continue
                if isinstance(one, Exception):
                    answer.set_exception(one)
                else:
                    answer.set_result(one)
