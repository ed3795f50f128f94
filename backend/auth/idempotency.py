"""Idempotency-Key: the same request twice has one effect and one answer (24 hours).

The answer is stored in the transaction of its effect, so a crash loses both or none; an advisory lock tells a
second request that the first is still in flight. A refusal of an operation that was executed (400, 404, 409) is an
answer too: what it had done is taken back to before it, and the refusal is kept. What stopped a request before it was
executed (validation, 401, 403, 429) or was our own fault (5xx) is not: the same request may be right the next time.

The header is ignored without a credential: callers behind one address would share their answers, and anybody could
write rows.
"""

import re
from collections.abc import Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import Any

import orjson
import sqlalchemy as sa
from fastapi import Request, Response
from sqlmodel import col

from backend import db
from backend.auth.models import IdempotencyRow
from backend.auth.principal import Context
from backend.auth.secrets import digest
from backend.db import now
from backend.errors import BadRequest, IdempotencyConflict, IdempotencyMismatch, SignumError
from backend.problems import respond

LIFETIME = timedelta(hours=24)
KEY = re.compile(r"[\x20-\x7e]{1,255}")
SECRETS = {"key", "secret", "access_token", "refresh_token", "id_token", "redirect_to"}
SECRETS |= {"otpauth_uri", "recovery_codes"}
KEPT_HEADERS = ("location", "content-type")
REFUSALS = frozenset({400, 404, 409})
"""Statuses that an executed operation refuses with, and that are kept."""
Operation = Callable[[Request], Coroutine[Any, Any, Response]]


async def once(request: Request, context: Context, operation: Operation) -> Response:
    """Run an operation, or replay the answer it gave to the same key."""
    key = request.headers.get("idempotency-key")
    if key is None or request.method not in ("POST", "PATCH"):
        return await operation(request)
    if not KEY.fullmatch(key):
        raise BadRequest("Idempotency-Key has 1 to 255 printable characters of ASCII.")
    if context.person is None and context.key is None:
        return await operation(request)  # strangers keep no rows
    row = IdempotencyRow(
        principal=context.caller,
        method=request.method,
        path=_place(request),
        key=key,
        digest=getattr(request.state, "digest", ""),
    )
    await _lock(context, row)
    stored = await _find(context, row)
    if stored is not None:
        return _replay(stored, row)
    context.session.info["resume"] = [partial(_look_again, context, row)]
    try:
        response = await operation(request)
    except _Answered as meanwhile:
        return _replay(meanwhile.stored, row)
    except SignumError as error:
        if error.status not in REFUSALS or not getattr(request.state, "keeps_refusals", True):
            raise
        return await _refused(context, row, respond(request, error))
    if response.status_code < 400 or response.status_code in REFUSALS:
        context.session.add(_answered(row, response))
    return response


async def is_answered(request: Request, context: Context) -> bool:
    """Whether the request's key has an answer already, which is replayed whatever changed since."""
    key = request.headers.get("idempotency-key")
    if key is None or not KEY.fullmatch(key):
        return False
    row = IdempotencyRow(principal=context.caller, method=request.method, path=_place(request), key=key, digest="")
    see = sa.text("select set_config('app.principal', :principal, true)")
    await context.session.execute(see, {"principal": row.principal})
    return await _find(context, row) is not None


class _Answered(Exception):
    """The same request was answered while this one had let go of its lock."""

    def __init__(self, stored: IdempotencyRow) -> None:
        super().__init__()
        self.stored = stored


async def _look_again(context: Context, row: IdempotencyRow) -> None:
    """Take the lock again, after a pause (see `backend.db.paused`) or an end of the transaction."""
    await _lock(context, row)
    stored = await _find(context, row)
    if stored is not None:
        raise _Answered(stored)


async def _refused(context: Context, row: IdempotencyRow, response: Response) -> Response:
    """Take back what the operation had done before it refused, and keep the refusal."""
    await db.undo(context.session)
    try:
        await _look_again(context, row)
    except _Answered as meanwhile:
        return _replay(meanwhile.stored, row)
    context.session.add(_answered(row, response))
    return response


def _place(request: Request) -> str:
    """Path and query; by their digest where the database could not keep or index them."""
    place = f"{request.url.path}?{request.url.query}"
    return place if len(place) <= 500 and place.isprintable() else digest(place)


async def _lock(context: Context, row: IdempotencyRow) -> None:
    """Also lets the transaction see this caller's answers, and nobody else's."""
    name = f"{row.principal}\n{row.method}\n{row.path}\n{row.key}"
    lock = "select pg_try_advisory_xact_lock(hashtextextended(:n, 0)), set_config('app.principal', :principal, true)"
    free = await context.session.scalar(sa.text(lock), {"n": name, "principal": row.principal})
    if not free:
        raise IdempotencyConflict("The first request with this key is still running.")


async def _find(context: Context, row: IdempotencyRow) -> IdempotencyRow | None:
    same = sa.and_(
        col(IdempotencyRow.principal) == row.principal,
        col(IdempotencyRow.method) == row.method,
        col(IdempotencyRow.path) == row.path,
        col(IdempotencyRow.key) == row.key,
    )
    await context.session.execute(
        sa.delete(IdempotencyRow).where(same, col(IdempotencyRow.created_at) < now() - LIFETIME)
    )
    found: IdempotencyRow | None = await context.session.scalar(sa.select(IdempotencyRow).where(same))
    return found


def _replay(stored: IdempotencyRow, row: IdempotencyRow) -> Response:
    if stored.digest != row.digest:
        raise IdempotencyMismatch("This key came with another body before.")
    headers = dict(stored.headers) | {"Idempotency-Replayed": "true"}
    return Response(stored.body or None, status_code=stored.status or 200, headers=headers)


def _answered(row: IdempotencyRow, response: Response) -> IdempotencyRow:
    row.status = response.status_code
    row.headers = {k: v for k, v in response.headers.items() if k in KEPT_HEADERS}
    row.body = _without_secrets(bytes(response.body)).decode()
    return row


def _without_secrets(body: bytes) -> bytes:
    if not body:
        return body
    content = orjson.loads(body)
    if isinstance(content, dict) and SECRETS & content.keys():
        content = {k: (None if k in SECRETS else v) for k, v in content.items()}
    return orjson.dumps(content)
