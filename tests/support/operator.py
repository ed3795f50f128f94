"""The operator's commands, run as processes against the tests' database."""

import asyncio
import os
import subprocess
import sys
from typing import NamedTuple


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


async def command(database_url: str, *words: object) -> Ended:
    """Run `signum` with these words."""
    run = [sys.executable, "-m", "backend.cli", *map(str, words)]
    environment = os.environ | {"DATABASE_URL": database_url}
    done = await asyncio.to_thread(subprocess.run, run, env=environment, capture_output=True, text=True, timeout=120)
    return Ended(done.returncode, done.stdout, done.stderr)
