"""Rehearsal of a stored request: its operation with the original arguments, as a dry run or in full."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, get_type_hints

from fastapi import Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from backend.auth.calls import Call
from backend.auth.principal import Context
from backend.core.errors import BadRequest

OUTDATED = "This version of Signum no longer accepts the request in this form. Send it again."
# Declared at import.
_endpoints: dict[str, Callable[..., Any]] = {}
"""Operations with a dry run, by `operationId`."""


def register(endpoint: Callable[..., Any]) -> bool:
    """Register an operation that has a dry run; return whether it has one."""
    if "dry_run" not in signature(endpoint).parameters:
        return False
    _endpoints[endpoint.__name__] = endpoint
    return True


async def rehearse(context: Context, call: Call) -> dict[str, Any]:
    """Return the plan of a call, as its dry run does; raises the errors of the call itself."""
    plan: BaseModel = await _call(context, call, dry_run=True)
    return plan.model_dump(mode="json")


async def try_(context: Context, call: Call) -> None:
    """Make a call in a transaction that is rolled back."""
    context.call = call
    await _call(context, call, dry_run=False)


async def _call(context: Context, call: Call, *, dry_run: bool) -> Any:
    endpoint = _endpoints.get(call.operation)
    if endpoint is None:
        raise BadRequest(OUTDATED)
    try:
        arguments = _arguments(endpoint, context, call, dry_run=dry_run)
    except ValidationError as error:
        raise BadRequest(OUTDATED) from error
    return await endpoint(**arguments)


def body_of(call: Call) -> BaseModel | None:
    """Return the body of a call with the defaults of omitted fields; None where this version does not accept it."""
    endpoint = _endpoints.get(call.operation)
    kind = get_type_hints(endpoint, include_extras=True).get("body") if endpoint else None
    if kind is None or call.body is None:
        return None
    try:
        body: BaseModel | None = TypeAdapter(kind).validate_python(call.body)
    except ValidationError:
        return None
    return body


def _arguments(endpoint: Callable[..., Any], context: Context, call: Call, *, dry_run: bool) -> Mapping[str, Any]:
    given: dict[str, Any] = {"context": context, "response": Response(), "dry_run": dry_run}
    hints = get_type_hints(endpoint, include_extras=True)
    sent = call.path | ({} if call.body is None else {"body": call.body})
    values = given | {name: TypeAdapter(hints[name]).validate_python(value) for name, value in sent.items()}
    return {name: values[name] for name in signature(endpoint).parameters if name in values}
