"""Every error leaves the API as application/problem+json, by one set of handlers."""

from http import HTTPStatus
from typing import Any

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from starlette.exceptions import HTTPException
from starlette.routing import Match

from backend.errors import BadRequest, Invalid, NotFound, SignumError, Unavailable, problem
from backend.settings import settings

log = structlog.get_logger()


def respond(request: Request, error: SignumError) -> Response:
    """The problem of an error."""
    request_id = getattr(request.state, "request_id", "")
    body = problem(error, settings().base_url, f"urn:uuid:{request_id}" if request_id else "")
    return Response(orjson.dumps(body), error.status, error.headers, "application/problem+json")


async def on_signum_error(request: Request, error: Exception) -> Response:
    """Our own tree."""
    assert isinstance(error, SignumError)
    return respond(request, error)


async def on_validation_error(request: Request, error: Exception) -> Response:
    """What does not fit: 404 for an id in the path, 400 for a query, 422 for a body. Inputs are never echoed."""
    assert isinstance(error, RequestValidationError)
    places = {str(e["loc"][0]) for e in error.errors()}
    findings = [{"pointer": _pointer(e["loc"]), "detail": _words(e)} for e in error.errors()]
    if "path" in places:
        return respond(request, NotFound("There is nothing under this id."))
    if places & {"query", "header", "cookie"}:
        names = "; ".join(f"{e['loc'][-1]}: {_words(e)}" for e in error.errors() if e["loc"][0] != "body")
        return respond(request, BadRequest(names))
    return respond(request, Invalid(findings))


async def on_http_error(request: Request, error: Exception) -> Response:
    """Starlette's own: unknown paths, wrong methods, bodies it cannot read."""
    assert isinstance(error, HTTPException)
    plain = SignumError(error.detail if error.status_code != 404 else "There is nothing at this address.")
    kind = next((c for c in _all(SignumError) if c.status == error.status_code and not c.slug), None)
    if kind is None:
        return _generic(request, error)
    made = kind.__new__(kind)
    SignumError.__init__(made, plain.detail, headers=error.headers)
    made.__dict__.setdefault("pointer", None)
    made.__dict__.setdefault("errors", [])
    return respond(request, made)


def _generic(request: Request, error: HTTPException) -> Response:
    """A status our tree has no class for, such as 405 with the methods that the address does take."""
    status = HTTPStatus(error.status_code)
    body = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": error.detail}
    if request_id := getattr(request.state, "request_id", ""):
        body["instance"] = f"urn:uuid:{request_id}"
    headers = dict(error.headers or {})
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_allowed(request))
    return Response(orjson.dumps(body), status.value, headers, "application/problem+json")


def _allowed(request: Request) -> list[str]:
    """Every method of an address; the router tells those of the first route that fits."""
    routes = request.app.router.routes
    taken = [
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if any(r.matches({**request.scope, "method": method})[0] is Match.FULL for r in routes)
    ]
    return [*taken, "HEAD"] if "GET" in taken else taken


async def on_busy_database(request: Request, error: Exception) -> Response:
    """All connections are in use."""
    log.warning("database.busy", path=request.url.path, request=getattr(request.state, "request_id", ""))
    return respond(request, Unavailable("The server is busy. Try again in 5 s.", headers={"Retry-After": "5"}))


async def on_database_fault(request: Request, error: Exception) -> Response:
    """The database does not answer, or chose this transaction to end a deadlock."""
    log.error("database", path=request.url.path, request=getattr(request.state, "request_id", ""), exc_info=error)
    return respond(request, Unavailable("The database does not answer now; try again."))


async def on_fault(request: Request, error: Exception) -> Response:
    """A fault of ours: logged whole, told in one line with the request's id."""
    log.error("fault", path=request.url.path, request=getattr(request.state, "request_id", ""), exc_info=error)
    return respond(request, SignumError("An unexpected fault. Tell support the instance of this problem."))


def _all(kind: type[SignumError]) -> list[type[SignumError]]:
    return [kind, *(s for c in kind.__subclasses__() for s in _all(c))]


def _pointer(loc: tuple[Any, ...]) -> str:
    return "".join("/" + str(p).replace("~", "~0").replace("/", "~1") for p in loc[1:])


def _words(error: dict[str, Any]) -> str:
    text = str(error["msg"]).removeprefix("Value error, ")
    return "is not a field of this body" if error["type"] == "extra_forbidden" else text


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(SignumError, on_signum_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(NoConnectionFree, on_busy_database)
    for kind in (OperationalError, InterfaceError):
        app.add_exception_handler(kind, on_database_fault)
    app.add_exception_handler(Exception, on_fault)
