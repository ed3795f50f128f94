"""Rate limits, by one mechanism: a name, a limit, a moving window in memory."""

import math
import time

from fastapi import Request
from limits import RateLimitItem, RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from backend.auth.principal import Context
from backend.errors import TooManyRequests
from backend.fields import Network
from backend.settings import settings

PER_PRINCIPAL = {Network.MAINNET: RateLimitItemPerSecond(100), Network.TESTNET: RateLimitItemPerSecond(25)}
FAILED_LOGINS_PER_ADDRESS = RateLimitItemPerMinute(10)
FAILED_LOGINS_PER_ACCOUNT = RateLimitItemPerMinute(5, 15)
PASSWORD_LINKS_PER_ADDRESS = RateLimitItemPerMinute(10)
PASSWORD_LINKS_PER_ACCOUNT = RateLimitItemPerMinute(5, 60)
ELIGIBILITY = RateLimitItemPerMinute(30)
CHAIN_LIST = RateLimitItemPerMinute(60)
_limiter = SlidingWindowCounterRateLimiter(MemoryStorage())


def is_on() -> bool:
    """Limits can be off with embedded chains only."""
    return settings().rate_limits == "on" or not settings().embedded_chains


def hit(limit: RateLimitItem, *names: str) -> None:
    """Count one; 429 with Retry-After where the limit is reached."""
    if is_on() and not _limiter.hit(limit, *names):
        raise _too_many(limit, *names)


def check(limit: RateLimitItem, *names: str) -> None:
    """429 where the limit is reached; counts nothing."""
    if is_on() and not _limiter.test(limit, *names):
        raise _too_many(limit, *names)


def check_principal(request: Request, context: Context) -> None:
    """Count a request of a principal and leave what the answer's headers say of it."""
    limit = PER_PRINCIPAL[context.network]
    hit(limit, context.name)
    request.state.rate_limit = headers(limit, context.name)


def headers(limit: RateLimitItem, *names: str) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit`, as the IETF draft writes them."""
    stats = _limiter.get_window_stats(limit, *names)
    reset = max(0, math.ceil(stats.reset_time - time.time()))
    window = limit.get_expiry()
    return {
        "RateLimit-Policy": f'"default";q={limit.amount};w={window}',
        "RateLimit": f'"default";r={max(0, stats.remaining)};t={reset}',
    }


def _too_many(limit: RateLimitItem, *names: str) -> TooManyRequests:
    stats = _limiter.get_window_stats(limit, *names)
    wait = max(1, math.ceil(stats.reset_time - time.time()))
    return TooManyRequests(wait, headers=headers(limit, *names))
