"""Finds code that calls a chain while holding a database connection, by checking every call to a node."""

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from backend.chain.rpc import json_rpc
from backend.core import db


@contextmanager
def watched(faults: dict[str, None]) -> Iterator[None]:
    """Inside, each request that calls a chain in its transaction adds its location to `faults`."""
    post = json_rpc.Rpc._post

    async def watching(
        self: json_rpc.Rpc, requests: Sequence[json_rpc.Request], **options: Any
    ) -> list[dict[str, Any]]:
        if db.is_held():
            faults[_place()] = None
        return await post(self, requests, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_rpc.Rpc, "_post", watching)
        yield


def _place() -> str:
    """Return the innermost frames of this code base above the chain package."""
    frames = [f for f in traceback.extract_stack() if "/backend/" in f.filename and "/backend/chain/" not in f.filename]
    return " < ".join(f"{f.filename.rpartition('/backend/')[2]}:{f.lineno}" for f in reversed(frames[-4:]))
