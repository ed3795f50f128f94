"""When a call is repeated, and after how long."""

import random
from dataclasses import dataclass
from uuid import uuid4

import httpx

from backend.client.problem import ApiProblem

NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
PASSING = frozenset({502, 503, 504})


@dataclass(frozen=True)
class Repeating:
    """`times` repeats at most, `first` seconds before the first, doubling up to `longest`, with jitter.

    A `Retry-After` is waited for instead; one longer than `patience` seconds is not.
    """

    times: int = 4
    first: float = 0.2
    longest: float = 8.0
    patience: float = 60.0

    def wait(self, attempt: int, fault: Exception, is_harmless: bool) -> float | None:
        """Seconds until attempt `attempt + 1` (attempts count from 0); None where there is none.

        `is_harmless`: the same call twice has one effect (a read, or an idempotency key). Otherwise only what the API
        certainly did not begin is repeated.
        """
        if attempt >= self.times or not _may_pass(attempt, fault, is_harmless):
            return None
        told = fault.retry_after if isinstance(fault, ApiProblem) else None
        if told is not None:
            return told if told <= self.patience else None
        return min(self.longest, self.first * 2.0**attempt) * random.uniform(0.5, 1.0)  # noqa: S311  (no secret)


def _may_pass(attempt: int, fault: Exception, is_harmless: bool) -> bool:
    if isinstance(fault, ApiProblem):
        if fault.status == 429:
            return True
        return is_harmless and (fault.status in PASSING or (attempt > 0 and fault.is_still_running))
    return isinstance(fault, NEVER_SENT) or (is_harmless and isinstance(fault, httpx.TransportError))


def new_key() -> str:
    """An Idempotency-Key."""
    return str(uuid4())
