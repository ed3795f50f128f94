"""Batches: one call with many items. A refused item does not undo the others.

Items that an operation can do together run in one transaction; each other one runs in its own.

With an idempotency key, each result is stored in the transaction of its effect, under the key and the item's number. A
call that ended half-way can be sent again: finished items are replayed, and the others run.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from fastapi import Request
from pydantic import BaseModel

from backend.auth import idempotency
from backend.auth.calls import Call
from backend.auth.principal import Context
from backend.core import db
from backend.core.content_rules import shortened
from backend.core.errors import IdempotencyConflict, SignumError, problem
from backend.core.settings import settings
from backend.limits import rate_limits

Operation = Callable[[Context, int], Awaitable[BaseModel]]
"""Runs the item with this number in a context of its own."""
Together = Callable[[Context, Sequence[int]], Awaitable[Mapping[int, BaseModel]]]
"""Runs the items with these numbers in one transaction, and returns the results of those that it could do so. The
others have no effect."""
PARALLEL = 4
"""Items of one batch that run at the same time, each with a connection of its own."""


@dataclass(frozen=True)
class Batch:
    """A batch. `calls` are its items as calls of the operation for one, which a second person approves one by one."""

    request: Request
    context: Context
    calls: Sequence[Call]

    async def run(
        self,
        kind: type[BaseModel],
        operation: Operation,
        *,
        dry_run: bool = False,
        together: Together | None = None,
    ) -> list[BaseModel | SignumError]:
        """Return the result of each item: what the operation returned, or its refusal. Results are of the class `kind`.

        Raises IdempotencyConflict where another run of the same call has not finished.
        """
        await rate_limits.count_items(self.context.name, len(self.calls))
        places = asyncio.Semaphore(PARALLEL)

        async def one(index: int) -> BaseModel:
            async with places:
                return await self._one(kind, operation, index, is_kept=not dry_run)

        async with db.paused(self.context.session):
            done = await self._together(kind, together) if together else {}
            others = [index for index in range(len(self.calls)) if index not in done]
            found = await asyncio.gather(*(one(i) for i in others), return_exceptions=True)
        by_index = {**done, **dict(zip(others, found, strict=True))}
        results = list[BaseModel | SignumError]()
        for _, result in sorted(by_index.items()):
            if isinstance(result, IdempotencyConflict):
                raise result
            if isinstance(result, BaseException) and not isinstance(result, SignumError):
                raise result
            results.append(result)
        return results

    async def _together(self, kind: type[BaseModel], together: Together) -> dict[int, BaseModel]:
        """Run what can be done together. What is refused or raced as a whole is left to each item's own run."""
        said = {index: _digest(call) for index, call in enumerate(self.calls)}
        try:
            async with self.context.in_new_transaction() as context:

                async def run(indices: Sequence[int]) -> Mapping[int, str]:
                    results = await together(context, indices)
                    return {index: result.model_dump_json(by_alias=True) for index, result in results.items()}

                found = await idempotency.once_per_items(self.request, context, said, run)
        except IdempotencyConflict:
            raise
        except SignumError:
            return {}
        return {index: kind.model_validate_json(body) for index, body in found.items()}

    async def _one(self, kind: type[BaseModel], operation: Operation, index: int, *, is_kept: bool) -> BaseModel:
        call = self.calls[index]
        async with self.context.in_new_transaction() as context:
            context.call = call
            if not is_kept:
                return await operation(context, index)
            stored = await idempotency.once_per_item(
                self.request, context, index, _digest(call), lambda: _dumped(operation(context, index))
            )
            return kind.model_validate_json(stored)


def repeats(subjects: Sequence[Hashable]) -> dict[int, int]:
    """Return the items of a batch whose subject an earlier item has, each with the number of the first such item."""
    first: dict[Hashable, int] = {}
    return {i: first[subject] for i, subject in enumerate(subjects) if first.setdefault(subject, i) != i}


def _digest(call: Call) -> str:
    return hashlib.sha256(orjson.dumps(call.body, option=orjson.OPT_SORT_KEYS)).hexdigest()


async def _dumped(result: Awaitable[BaseModel]) -> str:
    return (await result).model_dump_json(by_alias=True)


def refusal(context: Context, error: SignumError) -> dict[str, Any]:
    """Return the problem of a refused item."""
    body = problem(error, settings().base_url, f"urn:uuid:{context.request_id}" if context.request_id else "")
    return body | {"detail": shortened(body["detail"])}


def response(
    context: Context,
    items: Sequence[BaseModel],
    found: Sequence[BaseModel | SignumError],
    result: type[BaseModel],
    made: str,
    *shown: str,
) -> dict[str, Any]:
    """Return the fields of a batch's response: the counts and a `result` of each item, with the item's fields `shown`,
    and what was `made` or the problem."""
    results = [
        result.model_validate(
            {name: getattr(item, name) for name in shown}
            | ({"problem": refusal(context, one)} if isinstance(one, SignumError) else {made: one})
        )
        for item, one in zip(items, found, strict=True)
    ]
    refused = sum(isinstance(one, SignumError) for one in found)
    return {"accepted": len(results) - refused, "refused": refused, "results": results}
