"""Who is offered the demo's people, and what the people are about to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.core.settings import LOOPBACK
from backend.limits.client_address import CONSOLE, is_loopback, is_of_proxy, is_own_origin

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Sender:
    """Where a request comes from: the connection's peer, and the headers by lower-case name."""

    peer: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, peer: str, headers: Iterable[tuple[str, str]]) -> "Sender":
        """Return the sender of a request. The console calls for a browser, whose peer ends X-Forwarded-For."""
        found = {name.lower(): value for name, value in headers}
        if peer == CONSOLE:
            before, _, peer = found.pop("x-forwarded-for", "").rpartition(",")
            found |= {"x-forwarded-for": before} if before else {}
        return cls(peer.strip(), found)

    def is_local(self, origins: Iterable[str]) -> bool:
        """Return whether a browser on this machine sent the request directly, by a name of this machine, and not on
        behalf of another site."""
        is_passed_on = any(is_of_proxy(name) for name in self.headers)
        origin = self.headers.get("origin")
        is_foreign = origin is not None and not is_own_origin(origin, list(origins))
        return is_loopback(self.peer) and self._names_this_machine() and not is_passed_on and not is_foreign

    def is_own_page(self, origins: Iterable[str]) -> bool:
        """Return whether, in addition, a page of this server sent the request."""
        return "origin" in self.headers and self.is_local(origins)

    def _names_this_machine(self) -> bool:
        """Return whether Host is a loopback name: any other one may lead here too, through DNS."""
        try:
            return urlsplit(f"//{self.headers.get('host', '')}").hostname in LOOPBACK
        except ValueError:
            return False


def officer_task(reviews: int) -> str:
    """Return what the compliance officer does next."""
    return f"Reviews {_count(reviews, 'investor')}" if reviews else "Checks attestations that expire soon"


def admin_task(approvals: int) -> str:
    """Return what the admin does next."""
    return f"Has {_count(approvals, 'approval')} to decide" if approvals else "Issues a new asset"


def investor_task(claims: int) -> str:
    """Return what the investor does next."""
    return f"Claims income from {_count(claims, 'distribution')}" if claims else "Follows holdings and income"


def _count(number: int, noun: str) -> str:
    words = NUMBERS[number] if number < len(NUMBERS) else str(number)
    return f"{words} {noun}{'' if number == 1 else 's'}"
