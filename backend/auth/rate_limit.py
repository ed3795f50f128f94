"""Rate limits, by one mechanism: a name, a limit, a moving window (`backend.auth.limiter` counts)."""

from uuid import UUID

from fastapi import Request
from limits import (
    RateLimitItem,
    RateLimitItemPerDay,
    RateLimitItemPerHour,
    RateLimitItemPerMinute,
    RateLimitItemPerSecond,
)

from backend.auth.address import group
from backend.auth.limiter import Limiter, Window
from backend.auth.principal import Context
from backend.errors import TooManyRequests
from backend.fields import Network
from backend.settings import settings

PER_PRINCIPAL = {Network.MAINNET: RateLimitItemPerSecond(100), Network.TESTNET: RateLimitItemPerSecond(25)}
FAILED_LOGINS_PER_ADDRESS = RateLimitItemPerMinute(10)
FAILED_LOGINS_PER_ACCOUNT = RateLimitItemPerMinute(5, 15)
FAILED_FACTORS = RateLimitItemPerMinute(5, 15)
"""Wrong codes at the sign-in to an account from one address, and at one set-up of an authenticator app."""
FAILED_FACTORS_PER_SESSION = RateLimitItemPerDay(10, 90)
"""Wrong codes in one session, for as long as any session can last."""
FAILED_FACTORS_PER_DEVICE = (RateLimitItemPerHour(10), RateLimitItemPerDay(30))
FAILED_LOGINS_IN_ALL = (RateLimitItemPerHour(20), RateLimitItemPerDay(60))
"""Of one account from wherever, but for browsers that have signed in to it before."""
FAILED_LOGINS_PER_DEVICE = RateLimitItemPerHour(10)
PASSWORD_LINKS_PER_ADDRESS = RateLimitItemPerMinute(10)
PASSWORD_LINKS_PER_ACCOUNT = RateLimitItemPerMinute(5, 60)
INVITATIONS_OF_ORGANIZATION = RateLimitItemPerDay(500)
INVITATIONS_TO_ADDRESS = RateLimitItemPerDay(3)
INVITATIONS_TO_ADDRESS_IN_ALL = RateLimitItemPerDay(20)
ORGANIZATIONS_PER_PERSON = RateLimitItemPerDay(10)
ORGANIZATIONS_BELOW = RateLimitItemPerDay(500)
"""New organizations below one root."""
OPERATOR_PAID = RateLimitItemPerDay(20)
"""Requests of one organization whose transactions the operator pays."""
OPERATOR_PAID_IN_ALL = RateLimitItemPerDay(200)
"""The same, of a root organization and everything below it."""
OPERATOR_PAID_TRANSACTIONS = RateLimitItemPerDay(200)
"""Transactions of one organization that the operator pays: its place on a chain takes as many as there are
organizations above it, so this is enough for three chains at the greatest depth (64)."""
OPERATOR_PAID_TRANSACTIONS_IN_ALL = RateLimitItemPerDay(1000)
"""The same, of a root organization and everything below it."""
OPERATOR_PAID_TRANSACTIONS_OF_NEW = RateLimitItemPerDay(1000)
"""The same, of all hierarchies together whose root is new: anybody can found roots."""
KEY_MAILS = RateLimitItemPerDay(20)
"""Mails about new keys to the admins of one organization."""
ELIGIBILITY = RateLimitItemPerMinute(30)
CHAIN_LIST = RateLimitItemPerMinute(60)
NODE_CHECKS = RateLimitItemPerMinute(10)
_limiter = Limiter(settings().redis_url)


def is_on() -> bool:
    """Limits can be off with embedded chains only."""
    return settings().rate_limits == "on" or not settings().embedded_chains


async def hit(limit: RateLimitItem, *names: str, cost: int = 1) -> None:
    """Count one, or as many as it costs; 429 with Retry-After where that would exceed the limit."""
    if is_on() and not await _limiter.hit(limit, *names, cost=cost):
        raise await _too_many(limit, *names)


async def allows(limit: RateLimitItem, *names: str) -> bool:
    """Count one; whether the limit is not reached."""
    return not is_on() or await _limiter.hit(limit, *names)


async def check(limit: RateLimitItem, *names: str, cost: int = 1) -> None:
    """429 where one more, or as many as it costs, would exceed the limit; counts nothing."""
    if is_on() and not await _limiter.test(limit, *names, cost=cost):
        raise await _too_many(limit, *names)


class Guesses:
    """The limits that wrong guesses of a secret count against.

    A known device counts by itself alone, so that nobody else's guesses keep the owner out. Any other one counts by its
    address, and together with all others of the account.
    """

    def __init__(self, *counted: tuple[RateLimitItem, tuple[str, ...]]) -> None:
        self._counted = counted

    @classmethod
    def of_password(cls, account: str, address: str, device: str | None = None) -> "Guesses":
        """Passwords at the sign-in to an account."""
        if device:
            return cls((FAILED_LOGINS_PER_DEVICE, ("device", device)))
        place = group(address)
        return cls(
            (FAILED_LOGINS_PER_ADDRESS, ("login", place)),
            (FAILED_LOGINS_PER_ACCOUNT, ("login", place, account)),
            *((limit, ("account", account)) for limit in FAILED_LOGINS_IN_ALL),
        )

    @classmethod
    def of_code(cls, user_id: UUID, address: str, device: str | None = None) -> "Guesses":
        """Codes of a second factor at a person's sign-in."""
        if device:
            return cls(*((limit, ("factor", "device", device)) for limit in FAILED_FACTORS_PER_DEVICE))
        return cls(
            (FAILED_FACTORS, ("factor", group(address), str(user_id))),
            *((limit, ("factor", str(user_id))) for limit in FAILED_LOGINS_IN_ALL),
        )

    @classmethod
    def in_session(cls, session_id: UUID) -> "Guesses":
        """Codes of a second factor in a session."""
        return cls((FAILED_FACTORS_PER_SESSION, ("factor", "session", str(session_id))))

    @classmethod
    def of_set_up(cls, factor_id: UUID) -> "Guesses":
        """Codes that confirm a new authenticator app."""
        return cls((FAILED_FACTORS, ("factor", "set-up", str(factor_id))))

    async def check(self) -> None:
        """429 where one more is too many."""
        for limit, names in self._counted:
            await check(limit, *names)

    async def are_spent(self) -> bool:
        """Whether one more is too many."""
        return is_on() and not all([await _limiter.test(limit, *names) for limit, names in self._counted])

    async def hit(self) -> None:
        """Count a failure; 429 where it is one too many."""
        for limit, names in self._counted:
            await hit(limit, *names)


async def forgive(account: str) -> None:
    """Forget the failures of an account from wherever: its owner has proven themself by a mailed link."""
    for limit in FAILED_LOGINS_IN_ALL:
        await _limiter.clear(limit, "account", account)


async def check_principal(request: Request, context: Context) -> None:
    """Count a request of a principal and leave what the answer's headers say of it."""
    limit = PER_PRINCIPAL[context.network]
    await hit(limit, context.name)
    request.state.rate_limit = headers(limit, await _limiter.window(limit, context.name))


def headers(limit: RateLimitItem, window: Window) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit`, as the IETF draft writes them."""
    return {
        "RateLimit-Policy": f'"default";q={limit.amount};w={limit.get_expiry()}',
        "RateLimit": f'"default";r={window.remaining};t={window.reset}',
    }


async def _too_many(limit: RateLimitItem, *names: str) -> TooManyRequests:
    window = await _limiter.window(limit, *names)
    return TooManyRequests(max(1, window.reset), headers=headers(limit, window))
