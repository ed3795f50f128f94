"""Who asks a chain while holding a connection to the database: found by looking at every call of a node."""

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from backend import db
from backend.chain import rpc


@contextmanager
def watched(faults: dict[str, None]) -> Iterator[None]:
    """Inside, each request that asks a chain in its transaction leaves its place in `faults`."""
    post = rpc.Rpc._post

    async def watching(self: rpc.Rpc, requests: Sequence[rpc.Request], **options: Any) -> list[dict[str, Any]]:
        if db.is_held():
            faults[_place()] = None
        return await post(self, requests, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rpc.Rpc, "_post", watching)
        yield


def _place() -> str:
    """The innermost lines of ours above the chain's own."""
    frames = [f for f in traceback.extract_stack() if "/backend/" in f.filename and "/backend/chain/" not in f.filename]
    return " < ".join(f"{f.filename.rpartition('/backend/')[2]}:{f.lineno}" for f in reversed(frames[-4:]))
