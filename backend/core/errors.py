"""The error tree. Each class is one kind of problem; its docstring is the title a reader sees.

SignumError                     500
├── BadRequest                  400   unreadable, or well-formed but impossible
├── Unauthenticated             401
│   ├── BothCredentialsNeeded 401
│   └── SecondFactorNeeded      401   {base_url}/errors/second-factor-needed; the password was right
├── Forbidden                   403   role or tenant
│   ├── InsufficientScope       403   {base_url}/errors/insufficient-scope
│   ├── FreshFactorNeeded       403   {base_url}/errors/fresh-factor-needed
│   ├── FreshProofNeeded        403   {base_url}/errors/fresh-proof-needed
│   ├── SecondFactorRequired    403   {base_url}/errors/second-factor-required
│   └── AddressNotAllowed       403   {base_url}/errors/ip-address-not-allowed
├── NotFound                    404
├── RequestTimeout              408   the body came too slowly
├── Conflict                    409   {base_url}/errors/conflict
│   ├── PrerequisitesNotMet     409   {base_url}/errors/prerequisites-not-met
│   ├── Denied                  409   {base_url}/errors/conflict; stored by a request whose approval was denied
│   └── IdempotencyConflict     409   {base_url}/errors/idempotency-conflict
├── EventsExpired               410   {base_url}/errors/events-expired
├── VersionMismatch             412   {base_url}/errors/version-mismatch
├── PayloadTooLarge             413
├── UnsupportedMediaType        415
├── Invalid                     422   the body does not fit its schema
│   └── IdempotencyMismatch     422   {base_url}/errors/idempotency-conflict
├── VersionRequired             428   {base_url}/errors/version-required
├── TooManyRequests             429
└── Unavailable                 503   a chain or the database does not answer
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, ClassVar
from uuid import UUID

from backend.core.problems.resolutions import Field, call, example, known, with_addresses
from backend.core.problems.samples import CODE, EMAIL, ORGANIZATION, PASSWORD, ranges


class SignumError(Exception):
    """Internal Server Error"""

    status: ClassVar[int] = 500
    slug: ClassVar[str] = ""

    def __init__(self, detail: str = "", *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail or HTTPStatus(self.status).description or self.title
        self.headers = dict(headers or {})

    @property
    def title(self) -> str:
        """Return the first line of the class's docstring; generic HTTP errors have the status phrase."""
        return (type(self).__doc__ or "").strip().splitlines()[0]

    def extensions(self) -> dict[str, Any]:
        """Return the members of the problem beside those of RFC 9457."""
        return {}


class BadRequest(SignumError):
    """Bad Request"""

    status = 400

    def __init__(
        self,
        detail: str = "",
        *,
        pointer: str | None = None,
        headers: Mapping[str, str] | None = None,
        resolution: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail, headers=headers)
        self.pointer, self.resolution = pointer, resolution

    def extensions(self) -> dict[str, Any]:
        """Return the invalid field, if there is one (`errors`, as for a 422), and the call that resolves it."""
        errors = {"errors": [{"pointer": self.pointer, "detail": self.detail}]} if self.pointer else {}
        return errors | ({"resolution": dict(self.resolution)} if self.resolution else {})


class Unauthenticated(SignumError):
    """Unauthorized"""

    status = 401

    def __init__(self, detail: str = "", *, code: str = "") -> None:
        challenge = f'Bearer error="{code}"' if code else "Bearer"
        super().__init__(detail or "A valid credential is required.", headers={"WWW-Authenticate": challenge})


class Forbidden(SignumError):
    """Forbidden"""

    status = 403


class InsufficientScope(Forbidden):
    """Forbidden"""

    slug = "insufficient-scope"

    def __init__(self, scope: str, *others: str, detail: str = "") -> None:
        challenge = f'Bearer error="insufficient_scope", scope="{scope}"'
        words = " or ".join((scope, *others))
        super().__init__(detail or f"The credential lacks the scope {words}.", headers={"WWW-Authenticate": challenge})
        self.scope = scope

    def extensions(self) -> dict[str, Any]:
        """Return the required scope; the first where one of several suffices."""
        return {"scope": self.scope}


def _rule(name: str, path: str, description: str, **fields: Field) -> dict[str, Any]:
    """Return the rule that refused the request, and the call that satisfies it."""
    return {"rule": name, "resolution": call("POST", path, description, **fields)}


class SecondFactorNeeded(Unauthenticated):
    """Second factor needed"""

    slug = "second-factor-needed"

    def __init__(self, user_id: UUID) -> None:
        super().__init__("This account has a second factor. Sign in with its code too.")
        self.user_id = user_id

    def extensions(self) -> dict[str, Any]:
        """Return the rule, and the sign-in that satisfies it."""
        fields = {"email": EMAIL, "password": PASSWORD, "code": CODE}
        return _rule("second_factor", "/auth/login", "Repeat the sign-in with `code`.", **fields)


class BothCredentialsNeeded(Unauthenticated):
    """Unauthorized"""

    def __init__(self) -> None:
        super().__init__(
            "This operation needs both credentials: an access token or session, and an API key in x-api-key. A key in "
            "both headers is one credential. It gets an access token of its own by POST /oauth/token with the "
            "grant_type client_credentials, the organization's ID as client_id and the key as client_secret."
        )

    def extensions(self) -> dict[str, Any]:
        """Return the rule, and the call that satisfies it."""
        words = "Get an access token with grant_type=client_credentials, then send it as the bearer beside the key."
        names = {"client_id": example(ORGANIZATION), "client_secret": example("sk_test_…")}
        return _rule("both_credentials", "/oauth/token", words, grant_type=known("client_credentials"), **names)


class FreshFactorNeeded(Forbidden):
    """Fresh second factor needed"""

    slug = "fresh-factor-needed"

    def __init__(self) -> None:
        super().__init__("This action needs a second factor that you confirmed within the last 5 minutes.")

    def extensions(self) -> dict[str, Any]:
        """Return the rule, and the call that satisfies it."""
        words = "Confirm a second factor, then repeat the request."
        return _rule("fresh_factor", "/auth/factors/verify", words, code=CODE)


class FreshProofNeeded(Forbidden):
    """Fresh proof needed"""

    slug = "fresh-proof-needed"

    def __init__(self) -> None:
        super().__init__(
            "This action needs proof of your identity from the last 5 minutes: your password, or a wallet signature "
            "if you have no password."
        )

    def extensions(self) -> dict[str, Any]:
        """Return the rule, and the call that satisfies it."""
        words = "Send your password or a wallet signature, then repeat the request."
        return _rule("fresh_proof", "/auth/factors/verify", words, password=PASSWORD)


class SecondFactorRequired(Forbidden):
    """Second factor required"""

    slug = "second-factor-required"

    def __init__(self) -> None:
        super().__init__("This organization requires a second factor. Set one up to continue.")

    def extensions(self) -> dict[str, Any]:
        """Return the rule, and the call that satisfies it."""
        words = "Set up an authenticator app or a passkey."
        return _rule("second_factor_required", "/auth/factors/totp", words, password=PASSWORD)


class AddressNotAllowed(Forbidden):
    """IP address not allowed"""

    slug = "ip-address-not-allowed"

    def __init__(self, address: str | None, whose: str, remedy: str, resolution: Mapping[str, Any]) -> None:
        seen = f"Your IP address {address} is" if address else "Signum cannot see your IP address, so it is"
        super().__init__(f"{seen} not in the allowed IP ranges of {whose}. {remedy}")
        self.address, self.resolution = address, dict(resolution)

    @classmethod
    def by_organization(cls, address: str | None, organization_id: UUID, name: str) -> "AddressNotAllowed":
        """Return the error of an organization's list. An unknown `address` is None."""
        remedy = f"Use an allowed address, or have an admin of {name} at an allowed address add yours."
        words = "From an allowed address, add the address to `allowed_ip_ranges`."
        path = f"/orgs/{organization_id}"
        return cls(address, name, remedy, call("PATCH", path, words, allowed_ip_ranges=ranges(address)))

    @classmethod
    def by_key(cls, address: str | None, organization_id: UUID, name: str) -> "AddressNotAllowed":
        """Return the error of a key's own list. An unknown `address` is None."""
        remedy = "Use an allowed address, or create another key that allows yours."
        words = "Create a key whose `allowed_ip_ranges` contain the address."
        path = f"/orgs/{organization_id}/api-keys"
        fields = {"name": example("Back office"), "scopes": example(["assets:read"])}
        resolution = call("POST", path, words, **fields, allowed_ip_ranges=ranges(address))
        return cls(address, f"the API key {name}", remedy, resolution)

    def extensions(self) -> dict[str, Any]:
        """Return the rule, the call that satisfies it, and the address as Signum sees it."""
        return {"rule": "ip_address", "resolution": self.resolution, "address": self.address}


class NotFound(SignumError):
    """Not Found"""

    status = 404


class RequestTimeout(SignumError):
    """Request Timeout"""

    status = 408

    def __init__(self) -> None:
        super().__init__("The request body did not arrive in time. Send it again over a faster connection.")


class Conflict(SignumError):
    """Conflict"""

    status = 409
    slug = "conflict"


class Denied(Conflict):
    """Conflict"""


class PrerequisitesNotMet(Conflict):
    """Prerequisites not met"""

    slug = "prerequisites-not-met"

    def __init__(self, prerequisites: Sequence[Mapping[str, Any]], detail: str = "") -> None:
        open_ones = [p["state"] for p in prerequisites if not p["satisfied"]]
        super().__init__(detail or f"Not satisfied yet: {', '.join(open_ones)}.")
        self.prerequisites = [dict(p) for p in prerequisites]

    def extensions(self) -> dict[str, Any]:
        """Return every entry, including satisfied ones, and their order."""
        chain = [p["state"] for p in self.prerequisites]
        return {"prerequisites": self.prerequisites, "dependencyChain": chain}


class IdempotencyConflict(Conflict):
    """The first request with this idempotency key has not finished"""

    slug = "idempotency-conflict"


class EventsExpired(SignumError):
    """The events after this ID are not available"""

    status = 410
    slug = "events-expired"


class PayloadTooLarge(SignumError):
    """Content Too Large"""

    status = 413


class UnsupportedMediaType(SignumError):
    """Unsupported Media Type"""

    status = 415


class Invalid(SignumError):
    """Unprocessable Content"""

    status = 422

    def __init__(self, errors: Sequence[Mapping[str, str]], detail: str = "") -> None:
        super().__init__(detail or "The request body does not fit its schema.")
        self.errors = [dict(e) for e in errors]

    def extensions(self) -> dict[str, Any]:
        """Return `errors: [{pointer, detail}]` with JSON pointers. The input is never echoed."""
        return {"errors": self.errors}


class IdempotencyMismatch(SignumError):
    """This idempotency key was used with another request body"""

    status = 422
    slug = "idempotency-conflict"


class TooManyRequests(SignumError):
    """Too Many Requests"""

    status = 429

    def __init__(self, retry_after: int, detail: str = "", *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(
            detail or f"Rate limit exceeded. Retry in {retry_after} s.",
            headers={"Retry-After": str(retry_after), **(headers or {})},
        )


class Unavailable(SignumError):
    """Service Unavailable"""

    status = 503


def problem(error: SignumError, base_url: str, instance: str = "") -> dict[str, Any]:
    """Return the RFC 9457 body of an error. A failed request also stores it as its reason."""
    body: dict[str, Any] = {
        "type": f"{base_url}/errors/{error.slug}" if error.slug else "about:blank",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
    }
    named = {"instance": instance} if instance else {}
    return {**body, **named, **with_addresses(error.extensions(), base_url)}


class CannotStart(Exception):
    """A command cannot start; the message is one line for the operator."""
