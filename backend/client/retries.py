"""Retries of calls: when, and after how long."""

import random
from dataclasses import dataclass
from uuid import uuid4

import httpx

from backend.client.problem import ApiProblem

NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
PASSING = frozenset({502, 503, 504})


@dataclass(frozen=True)
class Repeating:
    """At most `times` retries, the first after `first` seconds, doubling up to `longest`, with jitter.

    A `Retry-After` takes precedence; one longer than `patience` seconds ends the retries. With `only_limits`, only
    calls that a rate limit refused (429) are retried.
    """

    times: int = 4
    first: float = 0.2
    longest: float = 8.0
    patience: float = 60.0
    only_limits: bool = False

    def wait(self, attempt: int, fault: Exception, is_harmless: bool) -> float | None:
        """Return the seconds until attempt `attempt + 1` (attempts count from 0); None where there is no further one.

        `is_harmless`: a repeated call has one effect (a read, or an idempotency key). Otherwise, only calls that the
        API certainly did not start are retried.
        """
        may_pass = _is_limit(fault) if self.only_limits else _may_pass(attempt, fault, is_harmless)
        if attempt >= self.times or not may_pass:
            return None
        asked = fault.retry_after if isinstance(fault, ApiProblem) else None
        if asked is not None:
            return asked if asked <= self.patience else None
        return min(self.longest, self.first * 2.0**attempt) * random.uniform(0.5, 1.0)  # noqa: S311  (no secret)


def _is_limit(fault: Exception) -> bool:
    return isinstance(fault, ApiProblem) and fault.status == 429


def _may_pass(attempt: int, fault: Exception, is_harmless: bool) -> bool:
    if isinstance(fault, ApiProblem):
        if _is_limit(fault):
            return True
        return is_harmless and (fault.status in PASSING or (attempt > 0 and fault.is_still_running))
    return isinstance(fault, NEVER_SENT) or (is_harmless and isinstance(fault, httpx.TransportError))


def new_key() -> str:
    """Return an Idempotency-Key."""
    return str(uuid4())
