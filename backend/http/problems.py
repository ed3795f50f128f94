"""Exception handlers that turn every error of the API into application/problem+json."""

from http import HTTPStatus

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from starlette.exceptions import HTTPException
from starlette.routing import Match

from backend.core import db
from backend.core.content_rules import shortened
from backend.core.errors import BadRequest, Invalid, NotFound, SignumError, Unavailable, problem
from backend.core.problems.findings import findings
from backend.core.problems.validation_words import said
from backend.core.settings import settings

log = structlog.get_logger()


def respond(request: Request, error: SignumError) -> Response:
    """Return the problem of an error."""
    request_id = getattr(request.state, "request_id", "")
    body = problem(error, settings().base_url, f"urn:uuid:{request_id}" if request_id else "")
    body["detail"] = shortened(body["detail"])
    return Response(orjson.dumps(body), error.status, error.headers, "application/problem+json")


async def on_signum_error(request: Request, error: Exception) -> Response:
    """Handle Signum's own errors."""
    assert isinstance(error, SignumError)
    return respond(request, error)


async def on_validation_error(request: Request, error: Exception) -> Response:
    """Handle failed validation: 404 for an id in the path, 400 for a query, 422 for a body. Inputs are never echoed."""
    assert isinstance(error, RequestValidationError)
    places = {str(e["loc"][0]) for e in error.errors()}
    if "path" in places:
        return respond(request, NotFound("No resource has this ID."))
    if places & {"query", "header", "cookie"}:
        names = "; ".join(f"{e['loc'][-1]}: {said(e)}" for e in error.errors() if e["loc"][0] != "body")
        return respond(request, BadRequest(names))
    return respond(request, Invalid(findings({**e, "loc": e["loc"][1:]} for e in error.errors())))


async def on_http_error(request: Request, error: Exception) -> Response:
    """Handle Starlette's errors: unknown paths, wrong methods, unreadable bodies."""
    assert isinstance(error, HTTPException)
    plain = SignumError(error.detail if error.status_code != 404 else "No resource exists at this address.")
    kind = next((c for c in _all(SignumError) if c.status == error.status_code and not c.slug), None)
    if kind is None:
        return _generic(request, error)
    made = kind.__new__(kind)
    SignumError.__init__(made, plain.detail, headers=error.headers)
    made.__dict__.setdefault("pointer", None)
    made.__dict__.setdefault("resolution", None)
    made.__dict__.setdefault("errors", [])
    return respond(request, made)


def _generic(request: Request, error: HTTPException) -> Response:
    """Return the problem of a status without an error class, such as 405 with the methods that the address accepts."""
    status = HTTPStatus(error.status_code)
    body = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": error.detail}
    if request_id := getattr(request.state, "request_id", ""):
        body["instance"] = f"urn:uuid:{request_id}"
    headers = dict(error.headers or {})
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_allowed(request))
    return Response(orjson.dumps(body), status.value, headers, "application/problem+json")


def _allowed(request: Request) -> list[str]:
    """Return every method of an address; the router reports only those of the first matching route."""
    routes = request.app.router.routes
    taken = [
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if any(r.matches({**request.scope, "method": method})[0] is Match.FULL for r in routes)
    ]
    return [*taken, "HEAD"] if "GET" in taken else taken


async def on_busy_database(request: Request, error: Exception) -> Response:
    """Handle a database pool without a free connection."""
    log.warning("database.busy", path=request.url.path, request=getattr(request.state, "request_id", ""))
    return respond(request, Unavailable("The server is busy. Retry in 5 s.", headers={"Retry-After": "5"}))


async def on_database_fault(request: Request, error: Exception) -> Response:
    """Handle a database that does not respond, or that ended this transaction to resolve a deadlock."""
    reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
    log.error("database.failed", path=request.url.path, request=getattr(request.state, "request_id", ""), reason=reason)
    return respond(
        request, Unavailable("The database does not respond. Retry in a few seconds.", headers={"Retry-After": "2"})
    )


async def on_fault(request: Request, error: Exception) -> Response:
    """Handle an unexpected fault: log the traceback; the response has one line and the request id."""
    log.error(
        "request.crashed", path=request.url.path, request=getattr(request.state, "request_id", ""), exc_info=error
    )
    return respond(
        request, SignumError("An unexpected error occurred. Contact support with the `instance` of this problem.")
    )


def _all(kind: type[SignumError]) -> list[type[SignumError]]:
    return [kind, *(s for c in kind.__subclasses__() for s in _all(c))]


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(SignumError, on_signum_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(HTTPException, on_http_error)
    for kind in db.FAULTS:
        app.add_exception_handler(kind, on_database_fault)
    app.add_exception_handler(NoConnectionFree, on_busy_database)
    app.add_exception_handler(Exception, on_fault)
