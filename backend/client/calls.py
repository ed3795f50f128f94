"""A prepared call, identical at every retry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from backend.client.content import Content
from backend.client.problem import ApiProblem
from backend.core.problems.findings import findings

B = TypeVar("B", bound=BaseModel)
READS = ("GET", "HEAD")
KEYED = ("POST", "PATCH")


@dataclass(frozen=True)
class Prepared:
    """Method, path below `/v1`, headers, and httpx's options for query and body."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_harmless(self) -> bool:
        """Return whether a repeated call has one effect and can be sent again.

        A DELETE does not: if its response was lost, a second one returns 404 for what the first one removed.
        """
        content = self.options.get("content")
        can_be_sent = content is None or isinstance(content, bytes | str)
        return can_be_sent and (self.method in READS or "idempotency-key" in self.headers)


def prepare(
    method: str,
    path: str,
    query: Mapping[str, Any] | None,
    body: BaseModel | Content | None,
    key: str | None,
    if_match: str | None = None,
) -> Prepared:
    """Return a call; `key` is its Idempotency-Key, `if_match` the version of the record that it was made for."""
    headers = {"idempotency-key": key} if key else {}
    headers |= {"if-match": if_match} if if_match else {}
    return Prepared(method, path, headers | _kind(body), {"params": query_of(query), **_content(body)})


def body(kind: type[B], fields: Mapping[str, Any]) -> B:
    """Return a request's body from fields that a user entered.

    Raises ApiProblem like the API's 422, with `errors` by field, where they do not fit.
    """
    try:
        return kind.model_validate(dict(fields))
    except ValidationError as error:
        raise ApiProblem(
            {
                "status": 422,
                "title": "Unprocessable Content",
                "detail": "The request body does not fit its schema.",
                "errors": findings(error.errors(include_url=False, include_input=False)),
            }
        ) from None


def query_of(query: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Return parameters as text, without those that have no value."""
    return {name: _text(value) for name, value in (query or {}).items() if value is not None} or None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value.value if isinstance(value, Enum) else value)


def _kind(body: BaseModel | Content | None) -> dict[str, str]:
    if body is None:
        return {}
    return {"content-type": body.type if isinstance(body, Content) else "application/json"}


def _content(body: BaseModel | Content | None) -> dict[str, Any]:
    if body is None:
        return {}
    if isinstance(body, Content):
        return {"content": body.data}
    # Unset fields are left to the API's defaults; a PATCH keeps them unchanged.
    return {"content": body.model_dump_json(exclude_unset=True, by_alias=True)}
