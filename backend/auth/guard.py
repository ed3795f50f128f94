"""The guard of the API: every route is a `GuardedRoute`.

Order: the body is received (413), credential (401), organization and role (403), scope (403), rate limit (429), form of
the body, idempotency, the operation itself, commit. An exception rolls back, so nothing is half written. An operation
that accepts files checks credential, organization, scope and target before it reads a byte of a file.
`backend.server.request_bodies`, around the API, looks up the credential before more than 64 KiB of any other body
arrive.
"""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any
from urllib.parse import parse_qsl
from uuid import UUID

import orjson
from fastapi import Depends, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from backend.auth import callers, idempotency, rehearsal, replica_reads, versions
from backend.auth.calls import Call
from backend.auth.credentials import authenticate, client_address
from backend.auth.permissions import ANY_ORGANIZATION, OPEN, F, Needs, public, requires
from backend.auth.principal import FOREIGN, Context
from backend.auth.replica_reads import from_replica
from backend.auth.scopes import Scope
from backend.core import db, threads
from backend.core.changes import acting
from backend.core.content_rules import UUID_LENGTH
from backend.core.errors import (
    BadRequest,
    Forbidden,
    InsufficientScope,
    Invalid,
    NotFound,
    Unauthenticated,
    UnsupportedMediaType,
)
from backend.core.threads import Work
from backend.http.middleware import content_type, large_size
from backend.http.uploads import Upload, Uploads
from backend.limits import rate_limits
from backend.limits.client_address import group
from backend.limits.concurrency import Holder

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Check = Callable[[Request, Context], Awaitable[None]]
"""Checks the target of a file before the file is read; raises the same errors as the operation."""
__all__ = [
    "ANY_ORGANIZATION",
    "OPEN",
    "Check",
    "Current",
    "DryRun",
    "GuardedRoute",
    "Needs",
    "content",
    "form",
    "from_replica",
    "public",
    "requires",
    "takes",
]
BODIES = ("POST", "PATCH", "PUT")
"""Methods whose body is read."""


def takes(*kinds: str, check: Check) -> Callable[[F], F]:
    """Declare the content types besides JSON that an operation reads itself, and the check before it reads them."""

    def mark(endpoint: F) -> F:
        endpoint.__takes__ = kinds  # type: ignore[attr-defined]
        endpoint.__checks__ = check  # type: ignore[attr-defined]
        return endpoint

    return mark


def form(endpoint: F) -> F:
    """Declare that an operation accepts `application/x-www-form-urlencoded`, as OAuth's do."""
    endpoint.__takes_form__ = True  # type: ignore[attr-defined]
    return endpoint


class GuardedRoute(APIRoute):
    """A route that authenticates before it parses the request, and commits after the operation."""

    def get_route_handler(self) -> Handler:
        """Return the guarded handler."""
        operation = super().get_route_handler()
        needs: Needs | None = getattr(self.endpoint, "__needs__", None)
        if needs is None:
            raise RuntimeError(f"{self.path}: an operation must declare its requirements with @requires or @public")
        form = getattr(self.endpoint, "__takes_form__", False)
        rehearses = rehearsal.register(self.endpoint)
        kinds = getattr(self.endpoint, "__takes__", ())
        check: Check | None = getattr(self.endpoint, "__checks__", None)
        names = _query_names(self.dependant)
        ids = _id_names(self.dependant)
        reads_much = getattr(self.endpoint, replica_reads.MARK, False)
        record, shows_version = versions.record_of(self.path_format), versions.is_shown(self.path_format)

        async def compared(request: Request) -> Response:
            context: Context = request.state.context
            if needs.organization != ANY_ORGANIZATION:
                await versions.begin(request, context)
            response = await (replica_reads.run(request, operation) if reads_much else operation(request))
            await versions.finish(request, context, response)
            return response

        async def handle(request: Request) -> Response:
            async with _received(request, kinds, needs, check), db.transaction() as session:
                context = await _admit(request, session, needs)
                if not hasattr(request.state, "rate_limit"):
                    request.state.rate_limit = await rate_limits.count_principal(context.network, context.name)
                request.state.context = context
                if "dry_run" in request.query_params and not rehearses:
                    raise BadRequest("This operation has no dry run. Nothing was done.")
                _check_doubles(request, names)
                _check_ids(request, ids)
                await (_parse_form(request) if form else _parse(request, kinds))
                path = {name: str(value) for name, value in request.path_params.items()}
                context.call = Call(self.endpoint.__name__, path, getattr(request, "_json", None))
                request.state.keeps_refusals = not form
                request.state.record, request.state.shows_version = record, shows_version
                versions.check(request)
                with acting(context.who):
                    return await idempotency.once(request, context, compared)

        return handle


@asynccontextmanager
async def _received(request: Request, files: Sequence[str], needs: Needs, check: Check | None) -> AsyncIterator[None]:
    """Read the whole body, up to the size that `backend.http.middleware` allows, while no database connection is held:
    a slow sender delays no other request.

    A file is read only from principals who may send it; a large one is `state.upload`.
    """
    request.state.upload = None
    if request.method not in BODIES:
        yield
        return
    holder = await _sender(request, needs, check) if files and _kind(request) in files else None
    size = large_size(request.scope)
    if holder is None or size == 0:
        await request.body()
        yield
        return
    uploads: Uploads = request.app.state.uploads
    async with uploads.received(request.stream(), size, holder) as upload:
        request.state.upload = upload
        yield


async def _sender(request: Request, needs: Needs, check: Check | None) -> Holder:
    """Check that the caller may send a file to its target; return the names under which its bytes count."""
    async with db.transaction() as session:
        context = await _admit(request, session, needs)
        request.state.rate_limit = await rate_limits.count_principal(context.network, context.name)
        if check is not None and not await idempotency.is_answered(request, context):
            await check(request, context)
        found = await callers.holder(context)
        return Holder((*found.names, f"address:{group(context.address)}"), found.roots)


async def content(request: Request) -> bytes:
    """Return the bytes of a file that the operation accepts."""
    upload: Upload | None = request.state.upload
    return await request.body() if upload is None else await threads.run(Work.FILES, upload.read)


async def _admit(request: Request, session: db.Write, needs: Needs) -> Context:
    if needs.is_open:
        context = Context(session=session, person=None, key=None, request_id=request.state.request_id)
        context.address = client_address(request)
    else:
        try:
            context = await authenticate(request, session, _wanted(request, needs))
        except Unauthenticated:
            callers.forget(request)
            raise
        await callers.count(request, context)
        _check_credentials(context, needs)
        await _check_scopes(request, context, needs)
        if needs.fresh and not _is_dry_run(request):
            context.require_fresh_proof()
    return context


def _check_credentials(context: Context, needs: Needs) -> None:
    if needs.both:
        context.require_both()
    if needs.person or needs.browser:
        context.require_person(in_browser=needs.browser, because=needs.because)
    if needs.identity:
        context.require_token(needs.identity)


async def _check_scopes(request: Request, context: Context, needs: Needs) -> None:
    if needs.organization != ANY_ORGANIZATION:
        await context.enter(_organization_id(request.path_params[needs.organization]))
    for scopes in needs.groups:
        if needs.organization != ANY_ORGANIZATION:
            context.require(*scopes)
        elif not _may_hold(context, scopes):
            raise InsufficientScope(*scopes)


def _is_dry_run(request: Request) -> bool:
    """Return whether a request is a dry run. A value that is not a boolean is refused later."""
    return request.query_params.get("dry_run", "").lower() in ("true", "1", "on", "yes", "t", "y")


def _may_hold(context: Context, scopes: tuple[Scope, ...]) -> bool:
    """Return whether the credential's limits in all organizations leave one of the scopes."""
    bounds = [context.key.scopes if context.key else None, context.person.granted if context.person else None]
    return all(b is None or b.intersection(scopes) for b in bounds)


def _organization_id(text: str) -> UUID:
    if len(text) > UUID_LENGTH:
        raise Forbidden(FOREIGN)
    try:
        return UUID(text)
    except ValueError as error:
        raise Forbidden(FOREIGN) from error


def _wanted(request: Request, needs: Needs) -> UUID | None:
    """Return the organization that an operation enters; None if the path names none."""
    if needs.organization == ANY_ORGANIZATION:
        return None
    with suppress(Forbidden):
        return _organization_id(request.path_params[needs.organization])
    return None


def _query_names(dependant: Dependant) -> list[str]:
    """Return the query parameters of an operation, none of which is a list.

    Authorization requests, which are one model, are excluded: their errors go to the application.
    """
    return [p.alias for p in dependant.query_params] + [n for d in dependant.dependencies for n in _query_names(d)]


def _id_names(dependant: Dependant) -> list[str]:
    """Return the query parameters that are IDs."""
    own = [p.alias for p in dependant.query_params if p.field_info.annotation in (UUID, UUID | None)]
    return own + [name for inner in dependant.dependencies for name in _id_names(inner)]


def _check_doubles(request: Request, names: Sequence[str]) -> None:
    """Raise 400 where a query parameter is repeated, because its meaning would be ambiguous."""
    for name in names:
        if len(request.query_params.getlist(name)) > 1:
            raise BadRequest(f"{name} is given more than once.")


def _check_ids(request: Request, names: Sequence[str]) -> None:
    """Refuse the longer forms of a UUID (`urn:uuid:…`, braces), which the document does not name: 404 in the path."""
    if any(len(str(value)) > UUID_LENGTH and _is_uuid(str(value)) for value in request.path_params.values()):
        raise NotFound("No resource has this ID.")
    for name in names:
        if len(request.query_params.get(name, "")) > UUID_LENGTH:
            raise BadRequest(f"{name}: must be a UUID of at most {UUID_LENGTH} characters.")


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


async def _parse(request: Request, others: Sequence[str] = ()) -> None:
    """Read a JSON body strictly: no NaN, no lone surrogates, no NUL, no other content type."""
    if request.state.upload is not None:
        request.state.digest = request.state.upload.digest
        return
    if request.method not in BODIES or not (raw := await request.body()):
        return
    kind = _kind(request)
    request.state.digest = hashlib.sha256(raw).hexdigest()
    if kind in others:
        return
    if kind not in ("application/json", "application/merge-patch+json"):
        raise UnsupportedMediaType(f"This operation accepts {' or '.join(('application/json', *others))}.")
    try:
        request._json = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadRequest("The body is not valid JSON.") from error
    if b"\\u0000" in raw and _has_nul(request._json):
        raise Invalid([{"pointer": "", "detail": "contains a NUL character, which cannot be stored"}])


async def _parse_form(request: Request) -> None:
    """Check a form strictly: UTF-8, no NUL, no repeated field, no other content type. FastAPI parses it again."""
    if request.method != "POST" or not (raw := await request.body()):
        return
    if _kind(request) != "application/x-www-form-urlencoded":
        raise UnsupportedMediaType("This operation accepts application/x-www-form-urlencoded.")
    try:
        pairs = parse_qsl(raw.decode(), keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=50)
    except ValueError as error:
        raise BadRequest("The body is not a valid form.") from error
    if len({name for name, _ in pairs}) != len(pairs):
        raise BadRequest("The form repeats a field.")
    if any("\0" in name + value for name, value in pairs):
        raise BadRequest("The form contains a NUL character.")
    request.state.digest = hashlib.sha256(raw).hexdigest()


def _kind(request: Request) -> str:
    """Return the content type of the body."""
    return content_type(request.scope)


def _has_nul(value: Any) -> bool:
    """Return whether a body contains NUL. Iterative: a body may be nested deeper than Python's stack."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str) and "\0" in part:
            return True
        if isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list):
            waiting += part
    return False


async def current(request: Request) -> Context:
    """Return the context that the guard created. Not a plain function: FastAPI would run it in a thread."""
    context: Context = request.state.context
    return context


DryRun = Annotated[bool, Query(description="Validate the request and return the plan (200) without executing it.")]
"""Parameter of an operation with a dry run."""
Current = Annotated[Context, Depends(current)]
"""Parameter of an operation: its principal, transaction and organization."""
