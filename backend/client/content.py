"""Bodies that are not JSON: sent ones (`Content`), and streamed responses (`Download`)."""

from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import httpx
from pydantic import BaseModel


@dataclass(frozen=True)
class Content:
    """A raw body: `data`, and its type. Iterable data is streamed, so it is sent once and not retried."""

    data: bytes | str | AsyncIterable[bytes]
    type: str = "application/octet-stream"


def form(body: BaseModel) -> Content:
    """Return a record as `application/x-www-form-urlencoded`, as OAuth's operations accept it."""
    fields = body.model_dump(mode="json", exclude_none=True, by_alias=True)
    return Content(urlencode(fields), "application/x-www-form-urlencoded")


class Download:
    """A streamed response, such as a CSV or a zip. It is requested each time it is read.

    `async for chunk in download`, `await download.read()`, `await download.save("holders.csv")`. Raises ApiProblem.
    """

    def __init__(self, opened: Callable[[], AbstractAsyncContextManager[httpx.Response]]) -> None:
        self._opened = opened

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield it chunk by chunk."""
        async with self._opened() as response:
            async for chunk in response.aiter_bytes():
                yield chunk

    async def read(self) -> bytes:
        """Return all of it."""
        return b"".join([chunk async for chunk in self])

    async def save(self, path: str | Path) -> Path:
        """Write it to a file, which appears only when it is complete."""
        target = Path(path)
        partial = target.with_name(f".{target.name}.part")
        try:
            with partial.open("wb") as file:
                async for chunk in self:
                    file.write(chunk)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return target
