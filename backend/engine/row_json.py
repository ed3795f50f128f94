"""JSON form of the workflow engine's values: arguments, results and errors."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import structlog
from dbos import Serializer

from backend.core.errors import SignumError

log = structlog.get_logger()
NAME = "signum_json"
"""Value of the column `serialization` in the engine's rows."""
_ERROR = "$error"
_BYTES = "$bytes"


class RowRejected(Exception):
    """A row of the workflow engine that Signum did not write as JSON."""


class WorkflowFailed(Exception):
    """The failure of a workflow with a foreign error: its kind and message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class JsonRows(Serializer):
    """JSON for arguments, results and errors.

    Signum's errors are restored with their state; of other errors, only the name and the message are kept. A time, the
    argument of a scheduled workflow, is kept as text.
    """

    def name(self) -> str:
        """Return the mark of rows."""
        return NAME

    def serialize(self, data: Any) -> str:
        """Return a value as JSON; TypeError where it has no JSON form."""
        return json.dumps(_plain(data), separators=(",", ":"), default=_unknown)

    def deserialize(cls, serialized_data: str) -> Any:
        """Return the value; RowRejected where the text is not JSON."""
        try:
            return _restored(json.loads(serialized_data))
        except (ValueError, RecursionError) as error:
            log.error("workflow_row.rejected", reason="not JSON")
            raise RowRejected("This row of the workflow engine is not JSON.") from error


ROWS = JsonRows()


def _plain(value: Any) -> Any:
    """Return a value in JSON types."""
    if isinstance(value, SignumError):
        return {_ERROR: _kind(type(value)), "state": _plain(vars(value)), "arguments": _plain(list(value.args))}
    if isinstance(value, BaseException):
        return {_ERROR: type(value).__name__, "message": _message(value)}
    if isinstance(value, bytes):
        return {_BYTES: value.hex()}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _plain(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(of) for of in value]
    return value


def _unknown(value: Any) -> Any:
    raise TypeError(f"a {type(value).__name__} cannot be stored in a workflow's row")


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(of) for of in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_BYTES}:
        return bytes.fromhex(value[_BYTES])
    if _ERROR in value:
        return _error(value)
    return {key: _restored(of) for key, of in value.items()}


def _error(value: Mapping[str, Any]) -> Exception:
    """Return an error by its name among Signum's: a row names no other class, and nothing is imported for it."""
    kind = next((known for known in _kinds() if _kind(known) == value[_ERROR]), None)
    if kind is None:
        return WorkflowFailed(str(value[_ERROR]), str(value.get("message", "")))
    error = kind.__new__(kind, *_restored(value.get("arguments", [])))
    vars(error).update(_restored(value.get("state", {})))
    return error


def _kind(of: type[SignumError]) -> str:
    return f"{of.__module__}.{of.__qualname__}"


def _kinds(of: type[SignumError] = SignumError) -> Iterator[type[SignumError]]:
    yield of
    for below in of.__subclasses__():
        yield from _kinds(below)
