"""A call as it goes over the wire, made once and the same at every repeat."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pydantic import BaseModel

from backend.client.content import Content

READS = ("GET", "HEAD")


@dataclass(frozen=True)
class Prepared:
    """Method, path below `/v1`, headers, and httpx's options for query and body."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_harmless(self) -> bool:
        """Whether the same call twice has one effect and can be sent twice.

        A DELETE is not: where its answer was lost, the second one says 404 of what the first one removed.
        """
        content = self.options.get("content")
        can_be_sent = content is None or isinstance(content, bytes | str)
        return can_be_sent and (self.method in READS or "idempotency-key" in self.headers)


def prepare(
    method: str, path: str, query: Mapping[str, Any] | None, body: BaseModel | Content | None, key: str | None
) -> Prepared:
    """A call; `key` is its Idempotency-Key."""
    headers = {"idempotency-key": key} if key else {}
    return Prepared(method, path, headers | _kind(body), {"params": query_of(query), **_content(body)})


def query_of(query: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Parameters as text; those that are None are left out."""
    return {name: _text(value) for name, value in (query or {}).items() if value is not None} or None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
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
    # What was not said is left to the API's defaults, and by a PATCH as it is.
    return {"content": body.model_dump_json(exclude_unset=True, by_alias=True)}
