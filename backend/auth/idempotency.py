"""Idempotency-Key: a repeated request has one effect and one response for 24 hours.

The response is stored in the transaction of its effect, so a crash loses both or neither; an advisory lock detects that
the first request is still running. A refusal of an executed operation (400, 404, 409) is stored too: its effects are
rolled back, and the refusal is kept. Errors before execution (validation, 401, 403, 429) and server errors (5xx) are
not stored: the same request may succeed later. The header is ignored without a credential: callers behind one address
would share responses, and anyone could write rows.
"""

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from functools import partial
from hmac import compare_digest
from typing import Any

import orjson
import sqlalchemy as sa
from fastapi import Request, Response
from sqlmodel import col

from backend.auth.models import IdempotencyRow
from backend.auth.principal import Context
from backend.auth.secrets import digest
from backend.core import db, encryption, locks
from backend.core.db import now
from backend.core.errors import BadRequest, IdempotencyConflict, IdempotencyMismatch, SignumError
from backend.core.locks import Purpose
from backend.http.problems import respond

LIFETIME = timedelta(hours=24)
KEY = re.compile(r"[\x20-\x7e]{1,255}")
SECRETS = {"key", "secret", "access_token", "refresh_token", "id_token", "redirect_to"}
SECRETS |= {"otpauth_uri", "recovery_codes"}
KEPT_HEADERS = ("location", "content-type", "etag")
REFUSALS = frozenset({400, 404, 409})
"""Stored statuses with which an executed operation refuses."""
Operation = Callable[[Request], Coroutine[Any, Any, Response]]


async def once(request: Request, context: Context, operation: Operation) -> Response:
    """Run an operation, or replay its response to the same key."""
    key = request.headers.get("idempotency-key")
    if key is None or request.method not in ("POST", "PATCH"):
        return await operation(request)
    if not KEY.fullmatch(key):
        raise BadRequest("Idempotency-Key must have 1 to 255 printable ASCII characters.")
    if context.person is None and context.key is None:
        return await operation(request)  # unauthenticated callers store no rows
    row = IdempotencyRow(
        principal=context.caller,
        method=request.method,
        path=_place(request),
        key=key,
        digest="",
    )
    # A keyed digest, because the body may contain a password.
    row.digest = encryption.mac(getattr(request.state, "digest", ""), _name(row))
    await _lock(context, row)
    stored = await _find(context, row)
    if stored is not None:
        return _replay(stored, row)
    context.session.info["resume"] = [partial(_look_again, context, row)]
    try:
        response = await operation(request)
    except _Answered as answered:
        return _replay(answered.stored, row)
    except IdempotencyConflict:  # another run finishes this request: no response to keep
        raise
    except SignumError as error:
        if error.status not in REFUSALS or not getattr(request.state, "keeps_refusals", True):
            raise
        return await _refused(context, row, respond(request, error))
    if response.status_code < 400 or response.status_code in REFUSALS:
        context.session.add(_answered(row, response))
    return response


async def once_per_item(
    request: Request, context: Context, index: int, said: str, operation: Callable[[], Coroutine[Any, Any, str]]
) -> str:
    """Run an item of a batch, or return the stored result of the same item under the batch's key. Without a key it runs
    each time. `said` is the digest of the item. Refusals are not stored: the item runs again.
    """
    key = request.headers.get("idempotency-key")
    if key is None:
        return await operation()
    row = _of_item(request, context, key, index, said)
    try:
        await _look_again(context, row)
        context.session.info["resume"] = [partial(_look_again, context, row)]
        row.body = await operation()
    except _Answered as answered:
        return bytes(_replay(answered.stored, row).body).decode()
    context.session.add(row)
    return row.body


async def once_per_items(
    request: Request,
    context: Context,
    said: Mapping[int, str],
    operation: Callable[[Sequence[int]], Coroutine[Any, Any, Mapping[int, str]]],
) -> dict[int, str]:
    """Do the same for several items in one transaction. `operation` returns the results of those that it finished."""
    key = request.headers.get("idempotency-key")
    if key is None:
        return dict(await operation(list(said)))
    rows = {index: _of_item(request, context, key, index, digest) for index, digest in said.items()}
    stored = {one.method: one for one in await _look_for_all(context, list(rows.values()))}
    known = {index: stored[row.method] for index, row in rows.items() if row.method in stored}
    found = {index: bytes(_replay(one, rows[index]).body).decode() for index, one in known.items()}
    waiting = {index: row for index, row in rows.items() if index not in found}
    context.session.info["resume"] = [partial(_check_unanswered, context, list(waiting.values()))]
    for index, body in (await operation(list(waiting)) if waiting else {}).items():
        rows[index].body = found[index] = body
        context.session.add(rows[index])
    return found


def _of_item(request: Request, context: Context, key: str, index: int, said: str) -> IdempotencyRow:
    row = IdempotencyRow(
        principal=context.caller, method=f"item {index}", path=_place(request), key=key, digest="", status=200
    )
    row.digest = encryption.mac(said, _name(row))
    return row


async def _look_for_all(context: Context, rows: Sequence[IdempotencyRow]) -> Sequence[IdempotencyRow]:
    """Take the locks of several keys of one batch, and return their stored responses."""
    held = [locks.attempted(Purpose.IDEMPOTENCY_KEY, _name(row)) for row in rows]
    if not await context.session.scalar(sa.select(sa.and_(*held), _seen(rows[0]))):
        raise IdempotencyConflict("The first request with this key is still running.")
    first = rows[0]
    same = sa.and_(
        col(IdempotencyRow.principal) == first.principal,
        col(IdempotencyRow.path) == first.path,
        col(IdempotencyRow.key) == first.key,
        col(IdempotencyRow.method).in_([row.method for row in rows]),
    )
    found = (await context.session.scalars(sa.select(IdempotencyRow).where(same))).all()
    expired = [row for row in found if row.created_at < now() - LIFETIME]
    for row in expired:
        await context.session.delete(row)
    await context.session.flush()
    return [row for row in found if row not in expired]


async def _check_unanswered(context: Context, rows: Sequence[IdempotencyRow]) -> None:
    """Take the locks again after a pause; another run of the same batch may have finished an item since."""
    if await _look_for_all(context, rows):
        raise IdempotencyConflict("Another request with this key was running. Send it again.")


async def is_answered(request: Request, context: Context) -> bool:
    """Return whether the request's key has a stored response, which is replayed regardless of later changes."""
    key = request.headers.get("idempotency-key")
    if key is None or not KEY.fullmatch(key):
        return False
    row = IdempotencyRow(principal=context.caller, method=request.method, path=_place(request), key=key, digest="")
    await _see(context, row)
    return await _find(context, row) is not None


class _Answered(Exception):
    """The same request was answered while this one did not hold its lock."""

    def __init__(self, stored: IdempotencyRow) -> None:
        super().__init__()
        self.stored = stored


async def _look_again(context: Context, row: IdempotencyRow) -> None:
    """Take the lock again after a pause (see `backend.core.db.paused`) or the end of the transaction."""
    await _lock(context, row)
    stored = await _find(context, row)
    if stored is not None:
        raise _Answered(stored)


async def _refused(context: Context, row: IdempotencyRow, response: Response) -> Response:
    """Roll back the operation, and store its refusal."""
    await db.undo(context.session)
    try:
        await _look_again(context, row)
    except _Answered as answered:
        return _replay(answered.stored, row)
    context.session.add(_answered(row, response))
    return response


def _place(request: Request) -> str:
    """Return path and query, or their digest where the database could not store or index them."""
    place = f"{request.url.path}?{request.url.query}"
    return place if len(place) <= 500 and place.isprintable() else digest(place)


async def _lock(context: Context, row: IdempotencyRow) -> None:
    """Take the lock of a key, and make only this caller's responses visible in the transaction."""
    lock = locks.attempted(Purpose.IDEMPOTENCY_KEY, _name(row))
    if not await context.session.scalar(sa.select(lock, _seen(row))):
        raise IdempotencyConflict("The first request with this key is still running.")


async def _see(context: Context, row: IdempotencyRow) -> None:
    await context.session.execute(sa.select(_seen(row)))


def _seen(row: IdempotencyRow) -> sa.Function[str]:
    return sa.func.set_config("app.principal", row.principal, True)


def _name(row: IdempotencyRow) -> str:
    return f"{row.principal}\n{row.method}\n{row.path}\n{row.key}"


async def _find(context: Context, row: IdempotencyRow) -> IdempotencyRow | None:
    same = sa.and_(
        col(IdempotencyRow.principal) == row.principal,
        col(IdempotencyRow.method) == row.method,
        col(IdempotencyRow.path) == row.path,
        col(IdempotencyRow.key) == row.key,
    )
    found: IdempotencyRow | None = await context.session.scalar(sa.select(IdempotencyRow).where(same))
    if found is None or found.created_at >= now() - LIFETIME:
        return found
    await context.session.delete(found)
    await context.session.flush()
    return None


def _replay(stored: IdempotencyRow, row: IdempotencyRow) -> Response:
    if not compare_digest(stored.digest, row.digest):
        raise IdempotencyMismatch("This key was used with a different request body.")
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
