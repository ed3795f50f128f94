"""OAuth errors, and the route that returns them."""

from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from backend.auth.guard import GuardedRoute
from backend.core.errors import BadRequest, UnsupportedMediaType

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class OAuthFault(Exception):
    """An error of RFC 6749: a code for programs, a description for people, 400 or (unknown client) 401."""

    def __init__(self, error: str, description: str, *, status: int = 400, challenge: bool = False) -> None:
        super().__init__(description)
        self.error, self.description, self.status, self.challenge = error, description, status, challenge

    def response(self) -> Response:
        """Return its response; the challenge is for clients that used HTTP Basic."""
        headers = NO_STORE | ({"WWW-Authenticate": 'Basic realm="signum"'} if self.challenge else {})
        body = {"error": self.error, "error_description": self.description}
        return JSONResponse(body, self.status, headers)


class Refused(Exception):
    """An authorization request whose error goes to the application's own, verified address."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


class OAuthRoute(GuardedRoute):
    """A guarded route with OAuth errors; rate limits and server errors stay problems."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with translated errors."""
        operation = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                response = await operation(request)
            except OAuthFault as fault:
                return fault.response()
            except RequestValidationError:
                return OAuthFault("invalid_request", "A parameter is too long or is not text.").response()
            except (BadRequest, UnsupportedMediaType) as error:
                return OAuthFault("invalid_request", error.detail).response()
            response.headers.update(NO_STORE)
            return response

        return handle


def with_query(address: str, **parameters: str | None) -> str:
    """Return an address with more query parameters; parameters with the value None are omitted."""
    more = urlencode({k: v for k, v in parameters.items() if v is not None})
    return f"{address}{'&' if '?' in address else '?'}{more}"
