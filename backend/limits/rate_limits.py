"""Rate limits: a name, a limit, a moving window (`backend.limits.moving_windows` counts)."""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from limits import (
    RateLimitItem,
    RateLimitItemPerDay,
    RateLimitItemPerHour,
    RateLimitItemPerMinute,
    RateLimitItemPerSecond,
)

from backend.core.db import now
from backend.core.errors import TooManyRequests
from backend.core.fields import Network
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.limits.client_address import group
from backend.limits.moving_windows import Limiter, Window

PER_PRINCIPAL = {Network.MAINNET: RateLimitItemPerSecond(100), Network.TESTNET: RateLimitItemPerSecond(25)}
FAILED_LOGINS_PER_ADDRESS = RateLimitItemPerMinute(10)
FAILED_LOGINS_PER_ACCOUNT = RateLimitItemPerMinute(5, 15)
FAILED_FACTORS = RateLimitItemPerMinute(5, 15)
"""Wrong codes at the sign-in to an account from one address, and at one setup of an authenticator app."""
FAILED_FACTORS_PER_SESSION = RateLimitItemPerDay(10, 90)
"""Wrong codes in one session, for the longest possible session."""
FAILED_FACTORS_PER_DEVICE = (RateLimitItemPerHour(10), RateLimitItemPerDay(30))
FAILED_LOGINS_IN_ALL = (RateLimitItemPerHour(20), RateLimitItemPerDay(60))
"""Failed sign-ins to one account from all addresses, except from browsers that have signed in to it before."""
FAILED_LOGINS_PER_DEVICE = RateLimitItemPerHour(10)
PASSWORDS_PER_PERSON = RateLimitItemPerHour(30)
"""Checked passwords of one signed-in person, including correct ones; and passwords for one new account."""
SIGN_INS = RateLimitItemPerHour(120)
"""Sessions that one person opens."""
PASSWORD_LINKS_PER_ADDRESS = RateLimitItemPerMinute(10)
PASSWORD_LINKS_PER_ACCOUNT = RateLimitItemPerMinute(5, 60)
INVITATIONS_OF_ORGANIZATION = RateLimitItemPerDay(500)
INVITATIONS_BELOW = RateLimitItemPerDay(2000)
"""Invitations of a root organization and everything below it; and of all new roots of one origin together.

Four organizations at their own limit. The mail server needs 8 minutes for them, with two senders and 0.5 s for each.
"""
INVITATIONS_OF_PERSON = RateLimitItemPerDay(1000)
"""Invitations of one person in all their organizations: half of those of a root. One person leaves the rest to others,
and more roots do not raise it."""
INVITATIONS_TO_ADDRESS = RateLimitItemPerDay(3)
INVITATIONS_TO_ADDRESS_BY_PERSON = RateLimitItemPerDay(5)
"""Invitations of one address by one person in all their organizations: a quarter of all that the address gets. One
person leaves the rest to other tenants, even with many roots."""
INVITATIONS_TO_ADDRESS_BELOW = RateLimitItemPerDay(5)
"""The same, by a root organization and everything below it; and by all new roots of one origin together."""
INVITATIONS_TO_ADDRESS_IN_ALL = RateLimitItemPerDay(20)
ORGANIZATIONS_OF_ORIGIN = RateLimitItemPerDay(10)
"""New root organizations of all people with one origin (`backend.core.roots`)."""
ORGANIZATIONS_BELOW = RateLimitItemPerDay(500)
"""New organizations below one root."""
DELIVERIES_BELOW = RateLimitItemPerDay(200_000)
"""Deliveries of webhooks that are stored for the endpoints below one root: 2 to 3 a second, all day."""
DELIVERIES_OF_PERSON = RateLimitItemPerDay(400_000)
"""The same for the endpoints of one person in all roots. Two roots have to use up their own limit for it: the events of
one tenant do not disable a person's endpoints of another tenant."""
RECIPIENTS_BELOW = RateLimitItemPerDay(40_000_000)
"""Recipients of distributions that are written below one root, and below all new roots of one origin, also those
deleted since: deleted rows keep their space until autovacuum has passed."""
SERVER_WALLETS_BELOW = RateLimitItemPerDay(200)
"""New server wallets below one root, also those deleted since. Each takes a processor for 2 seconds."""
OPERATOR_PAID = RateLimitItemPerDay(20)
"""Requests of one organization whose transactions the operator pays for."""
OPERATOR_PAID_IN_ALL = RateLimitItemPerDay(200)
"""The same, for a root organization and everything below it."""
OPERATOR_PAID_TRANSACTIONS = RateLimitItemPerDay(200)
"""Transactions of one organization that the operator pays for.

Its registration on a chain takes one per organization above it, so this suffices for three chains at the maximum depth
(64).
"""
OPERATOR_PAID_TRANSACTIONS_IN_ALL = RateLimitItemPerDay(1000)
"""The same, for a root organization and everything below it."""
OPERATOR_PAID_TRANSACTIONS_OF_ORIGIN = RateLimitItemPerDay(250)
"""The same for all new hierarchies of one origin, which leave three quarters of the next limit to the others."""
OPERATOR_PAID_TRANSACTIONS_OF_NEW = RateLimitItemPerDay(1000)
"""The same for all new hierarchies of all origins together: anyone can create roots."""
ELIGIBILITY = RateLimitItemPerMinute(30)
INVESTOR_TRANSACTIONS = RateLimitItemPerMinute(60)
"""Orders that one investor checks, and transactions that they have prepared: the chains answer each."""
INVESTOR_READS = RateLimitItemPerMinute(120)
"""Markets that one investor opens: their chain is asked for what the wallets hold."""
INVESTOR_UPLOADS = RateLimitItemPerHour(30)
"""Documents that one investor uploads."""
INVESTOR_DATA = RateLimitItemPerHour(20)
"""Downloads of everything that is stored about one investor."""
ITEMS = (RateLimitItemPerMinute(4_000), RateLimitItemPerHour(90_000))
"""Items of batches and lines of imports of one caller: 25 a second on average, as many as single calls on a testnet,
and two imports of the largest size in a minute."""
AUDIT_VERIFICATIONS = RateLimitItemPerMinute(6)
"""Of one organization's whole log, by one caller."""
CHAIN_LIST = RateLimitItemPerMinute(60)
NODE_CHECKS = RateLimitItemPerMinute(10)


@dataclass
class Counts:
    """The counts of this process, or of several that share a Redis."""

    limiter: Limiter = field(default_factory=lambda: Limiter(settings().redis_url))


def _limiter() -> Limiter:
    return runtime.part(Counts).limiter


def is_on() -> bool:
    """Return whether limits apply. They can be off only with embedded chains."""
    return settings().rate_limits == "on" or not settings().embedded_chains


async def hit(limit: RateLimitItem, *names: str, cost: int = 1, rule: str = "") -> None:
    """Count `cost`; 429 with Retry-After, and the rule if given, where that would exceed the limit."""
    if is_on() and not await _limiter().hit(limit, *names, cost=cost):
        raise await _too_many(limit, *names, rule=rule)


async def allows(limit: RateLimitItem, *names: str, cost: int = 1) -> bool:
    """Count `cost`; return whether it is within the limit. Nothing is counted where it is not."""
    return not is_on() or await _limiter().hit(limit, *names, cost=cost)


async def check(limit: RateLimitItem, *names: str, cost: int = 1, rule: str = "") -> None:
    """Raise 429 where `cost` more would exceed the limit; counts nothing."""
    if is_on() and not await _limiter().test(limit, *names, cost=cost):
        raise await _too_many(limit, *names, rule=rule)


class Guesses:
    """The limits for wrong guesses of a secret.

    A known device has its own count, so that guesses from elsewhere cannot lock the owner out. Other devices count by
    address, and together for the account.
    """

    def __init__(self, *counted: tuple[RateLimitItem, tuple[str, ...]]) -> None:
        self._counted = counted

    @classmethod
    def of_password(cls, account: str, address: str, device: str | None = None) -> "Guesses":
        """Return the limits for passwords at the sign-in to an account."""
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
        """Return the limits for codes of a second factor at a person's sign-in."""
        if device:
            return cls(*((limit, ("factor", "device", device)) for limit in FAILED_FACTORS_PER_DEVICE))
        return cls(
            (FAILED_FACTORS, ("factor", group(address), str(user_id))),
            *((limit, ("factor", str(user_id))) for limit in FAILED_LOGINS_IN_ALL),
        )

    @classmethod
    def in_session(cls, session_id: UUID) -> "Guesses":
        """Return the limits for codes of a second factor in a session."""
        return cls((FAILED_FACTORS_PER_SESSION, ("factor", "session", str(session_id))))

    @classmethod
    def of_set_up(cls, factor_id: UUID) -> "Guesses":
        """Return the limits for codes that confirm a new authenticator app."""
        return cls((FAILED_FACTORS, ("factor", "set-up", str(factor_id))))

    async def check(self) -> None:
        """Raise 429 where one more guess exceeds a limit."""
        for limit, names in self._counted:
            await check(limit, *names)

    async def are_spent(self) -> bool:
        """Return whether one more guess exceeds a limit."""
        return is_on() and not all([await _limiter().test(limit, *names) for limit, names in self._counted])

    async def hit(self) -> None:
        """Count a failure; 429 where it exceeds a limit."""
        for limit, names in self._counted:
            await hit(limit, *names)


async def forgive(account: str) -> None:
    """Reset an account's failures from all addresses, after its owner's proof with a mailed link."""
    for limit in FAILED_LOGINS_IN_ALL:
        await _limiter().clear(limit, "account", account)


async def count_items(name: str, count: int) -> None:
    """Count the items of a call that has many, in addition to the call; 429 where a limit is exceeded."""
    for limit in ITEMS:
        await hit(limit, "items", name, cost=count)


async def count_principal(network: Network, name: str) -> dict[str, str]:
    """Count a request of a principal and return the rate limit headers, none where limits are off; 429 where the limit
    is exceeded."""
    if not is_on():
        return {}
    limit = PER_PRINCIPAL[network]
    await hit(limit, name)
    return headers(limit, await _limiter().window(limit, name))


def headers(limit: RateLimitItem, window: Window) -> dict[str, str]:
    """Return `RateLimit-Policy` and `RateLimit` in the form of the IETF draft."""
    return {
        "RateLimit-Policy": f'"default";q={limit.amount};w={limit.get_expiry()}',
        "RateLimit": f'"default";r={window.remaining};t={window.reset}',
    }


async def _too_many(limit: RateLimitItem, *names: str, rule: str) -> TooManyRequests:
    window = await _limiter().window(limit, *names)
    seconds = max(1, window.reset)
    at = now() + timedelta(seconds=seconds)
    detail = f"{rule} Retry in {seconds} s, at {at:%Y-%m-%d %H:%M} UTC." if rule else ""
    return TooManyRequests(seconds, detail, headers=headers(limit, window))
