"""How the workflow engine keeps values in its tables: as JSON, and as nothing else.

The engine's own default is pickle, which runs what a row says. Its tables can be written with the rights of an
ordinary request, so one injected statement would be enough to run code in the server, which holds the keystore.
`refuse_pickles` closes every way by which the engine would unpickle. What is rejected is logged and ends as an error;
the sweep ends the request that it belonged to.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from dbos import _core, _queue
from dbos._serialization import DefaultSerializer, Serializer

from backend.errors import SignumError

log = structlog.get_logger()
NAME = "signum_json"
"""What the engine's rows have in their column `serialization`."""
_ERROR = "$error"
_BYTES = "$bytes"


class RowRejected(Exception):
    """A row of the workflow engine was not written by Signum as JSON."""


class WorkflowFailed(Exception):
    """The end of a workflow by an error that is none of ours: its kind and message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class JsonRows(Serializer):
    """JSON for arguments, results and errors. An error of ours comes back as itself, with all it knows; of any other
    only the name and the message are kept."""

    def name(self) -> str:
        """What rows are marked with."""
        return NAME

    def serialize(self, data: Any) -> str:
        """A value as JSON; TypeError for what JSON has no form for."""
        return json.dumps(_plain(data), separators=(",", ":"), default=_unknown)

    def deserialize(cls, serialized_data: str) -> Any:
        """The value; RowRejected where the text is not JSON."""
        try:
            return _restored(json.loads(serialized_data))
        except (ValueError, RecursionError) as error:
            log.error("workflow_row.rejected", reason="not JSON")
            raise RowRejected("This row of the workflow engine is not JSON.") from error


ROWS = JsonRows()


def refuse_pickles() -> None:
    """Have the engine neither write nor read a pickle, whatever a row says of itself. Again changes nothing."""
    DefaultSerializer.serialize = _write_json  # type: ignore[method-assign, assignment]
    DefaultSerializer.deserialize = _reject_pickle  # type: ignore[method-assign, assignment]
    execute = _core.execute_dequeued_workflow

    def execute_checked(dbos: Any, status: Any, owner_xid: str) -> Any:
        _check(dbos, status, owner_xid)
        return execute(dbos, status, owner_xid)

    _queue.execute_dequeued_workflow = execute_checked  # type: ignore[attr-defined]


def _check(dbos: Any, status: Mapping[str, Any], owner_xid: str) -> None:
    """Reject a row before anything of it is read. Left to itself, the engine would keep one of an unknown kind as
    running."""
    reason = _fault(status)
    if reason is None:
        return
    run_id = status["workflow_uuid"]
    log.error("workflow_row.rejected", workflow=run_id, reason=reason)
    rejected = RowRejected(f"The row of this workflow was rejected: {reason}.")
    dbos._sys_db.update_workflow_outcome(run_id, "ERROR", error=ROWS.serialize(rejected), owner_xid=owner_xid)
    raise rejected


def _fault(status: Mapping[str, Any]) -> str | None:
    if status["serialization"] != NAME:
        return f"it is marked {status['serialization']!r} and not {NAME!r}"
    try:
        inputs = json.loads(status["inputs"] or "null")
    except (ValueError, RecursionError):
        return "its arguments are not JSON"
    if not isinstance(inputs, dict) or inputs.keys() != {"args", "kwargs"}:
        return "its arguments do not have the form of arguments"
    arguments, named = inputs["args"], inputs["kwargs"]
    if named or not isinstance(arguments, list) or not all(isinstance(argument, str) for argument in arguments):
        return "its arguments are not a list of texts"
    return None


def _write_json(_: Any, data: Any) -> str:
    return ROWS.serialize(data)


def _reject_pickle(_: Any, serialized_data: str) -> Any:
    log.error("workflow_row.rejected", reason="pickled", characters=len(serialized_data))
    raise RowRejected("This row of the workflow engine is pickled; only JSON is read.")


def _plain(value: Any) -> Any:
    """A value in terms of JSON."""
    if isinstance(value, SignumError):
        return {_ERROR: _kind(type(value)), "state": _plain(vars(value)), "arguments": _plain(list(value.args))}
    if isinstance(value, BaseException):
        return {_ERROR: type(value).__name__, "message": _message(value)}
    if isinstance(value, bytes):
        return {_BYTES: value.hex()}
    if isinstance(value, Mapping):
        return {key: _plain(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(of) for of in value]
    return value


def _unknown(value: Any) -> Any:
    raise TypeError(f"a {type(value).__name__} has no form in a workflow's row")


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
    """An error by its name among ours: a row names no other class, and nothing is imported for it."""
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
