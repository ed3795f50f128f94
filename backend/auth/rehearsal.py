"""Looking again at what was asked for: an operation's own dry run, by what it was called with."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, get_type_hints

from fastapi import Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from backend.errors import BadRequest

if TYPE_CHECKING:
    from backend.auth.principal import Context

OUTDATED = "This version of Signum does not take it in this form any more."
_endpoints: dict[str, Callable[..., Any]] = {}
"""By `operationId`, those that have a dry run."""


@dataclass(frozen=True)
class Call:
    """What an operation was called with: its name, the path's parameters, and the body as JSON."""

    operation: str
    path: dict[str, str]
    body: Any

    def stored(self) -> dict[str, Any]:
        """As JSON, from which `Call(**stored)` makes it again."""
        return asdict(self)


def register(endpoint: Callable[..., Any]) -> bool:
    """Remember an operation that has a dry run; whether it has one."""
    if "dry_run" not in signature(endpoint).parameters:
        return False
    _endpoints[endpoint.__name__] = endpoint
    return True


async def rehearse(context: "Context", call: Call) -> dict[str, Any]:
    """The plan of a call, as its dry run answers; raises what the call itself would be refused with."""
    endpoint = _endpoints.get(call.operation)
    if endpoint is None:
        raise BadRequest(OUTDATED)
    try:
        arguments = _arguments(endpoint, context, call)
    except ValidationError as error:
        raise BadRequest(OUTDATED) from error
    plan: BaseModel = await endpoint(**arguments)
    return plan.model_dump(mode="json")


def _arguments(endpoint: Callable[..., Any], context: "Context", call: Call) -> Mapping[str, Any]:
    given: dict[str, Any] = {"context": context, "response": Response(), "dry_run": True}
    hints = get_type_hints(endpoint, include_extras=True)
    sent = call.path | ({} if call.body is None else {"body": call.body})
    values = given | {name: TypeAdapter(hints[name]).validate_python(value) for name, value in sent.items()}
    return {name: values[name] for name in signature(endpoint).parameters if name in values}
