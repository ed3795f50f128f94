"""The API's operations of controls, each with its body, its dry run and its request."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar, overload

from backend.client import Id, SignumClient, body
from backend.controls.schemas import ControlAccepted, ControlPlan
from backend.core.fields import Body

B = TypeVar("B", bound=Body)
C = TypeVar("C", bound=Body, contravariant=True)
Fields = Mapping[str, str | int | None]


class Method(Protocol[C]):
    """A method of the client that is a control."""

    @overload
    def __call__(
        self, client: SignumClient, org_id: Id, asset_id: Id, body: C, /, *, dry_run: Literal[True]
    ) -> Awaitable[ControlPlan]: ...

    @overload
    def __call__(
        self, client: SignumClient, org_id: Id, asset_id: Id, body: C, /, *, idempotency_key: str
    ) -> Awaitable[ControlAccepted]: ...


@dataclass(frozen=True)
class Operation:
    """`plan(client, org_id, asset_id, fields)` is the dry run, `send(…, key)` the request.

    Both raise ApiProblem, also where the fields do not fit the body.
    """

    plan: Callable[[SignumClient, Id, Id, Fields], Awaitable[ControlPlan]]
    send: Callable[[SignumClient, Id, Id, Fields, str], Awaitable[ControlAccepted]]


def operation(kind: type[B], method: Method[B]) -> Operation:
    """Return the operation of a client's method whose body is a `kind`."""
    return Operation(
        lambda client, org, asset, fields: method(client, org, asset, body(kind, fields), dry_run=True),
        lambda client, org, asset, fields, key: method(client, org, asset, body(kind, fields), idempotency_key=key),
    )
