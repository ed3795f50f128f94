"""Serialization of the workflow engine's values: JSON only.

The engine's default is pickle, which executes code from a row. Its tables are writable with the rights of an ordinary
request, so one injected statement could run code in the server, which holds the keystore. `refuse_pickles` closes every
path on which the engine would unpickle. A rejected row is logged and ends as an error; the sweep ends the request that
it belonged to.
"""

import json
from collections.abc import Mapping
from typing import Any

import structlog

from backend.engine import dbos_internals
from backend.engine.row_json import NAME, ROWS, RowRejected

log = structlog.get_logger()


def refuse_pickles() -> None:
    """Prevent the engine from writing or reading a pickle, regardless of a row's mark.

    Repeated calls have no effect.
    """
    dbos_internals.replace_pickle(_write_json, _reject_pickle)
    dbos_internals.check_rows(_rejected)


def _rejected(status: Mapping[str, Any]) -> RowRejected | None:
    """Return the error of an invalid row."""
    reason = _fault(status)
    if reason is None:
        return None
    log.error("workflow_row.rejected", workflow=status["workflow_uuid"], reason=reason)
    return RowRejected(f"The row of this workflow was rejected: {reason}.")


def _fault(status: Mapping[str, Any]) -> str | None:
    # The engine's scheduler leaves out the mark; the engine reads these rows as JSON too.
    if status["serialization"] not in (NAME, None):
        return f"it is marked {status['serialization']!r} instead of {NAME!r}"
    try:
        inputs = json.loads(status["inputs"] or "null")
    except (ValueError, RecursionError):
        return "its arguments are not JSON"
    if not isinstance(inputs, dict) or inputs.keys() != {"args", "kwargs"}:
        return "its arguments have an unknown form"
    arguments, named = inputs["args"], inputs["kwargs"]
    if named or not isinstance(arguments, list) or not all(isinstance(argument, str) for argument in arguments):
        return "its arguments are not a list of strings"
    return None


def _write_json(_: Any, data: Any) -> str:
    return ROWS.serialize(data)


def _reject_pickle(_: Any, serialized_data: str) -> Any:
    log.error("workflow_row.rejected", reason="pickled", characters=len(serialized_data))
    raise RowRejected("This row of the workflow engine is pickled; only JSON is read.")
