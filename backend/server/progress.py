"""Lines of progress of a start."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from backend.core.logs import output

log = structlog.get_logger()


def say(text: str) -> None:
    """Print one line of progress; log it where the log is for programs."""
    if output.is_json():
        log.info("server.progress", text=" ".join(text.split()))
        return
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print a step of the start with its duration."""
    started = time.monotonic()
    yield
    say(f"  {name:<34}{time.monotonic() - started:6.2f} s")


def first_line(error: BaseException) -> str:
    """Return the first line of an error that is not blank, or its type."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
