"""Every operation of the document that can change something declares its audit entry.

`tests.support.audit_guard` checks the entries at every success of every test.
"""

from tests.openapi.operations import CASES
from tests.support import audit_guard


def test_operations_that_write_declare_their_audit_actions() -> None:
    changing = {str(c) for c in CASES if c.method not in ("get", "head")}
    assert changing <= {*audit_guard.ACTIONS, *audit_guard.SILENT}
    assert audit_guard.ACTIONS.keys().isdisjoint(audit_guard.SILENT)
    assert audit_guard.ACTIONS.keys() >= audit_guard.REPEATABLE
    assert {str(c) for c in CASES if c.method in ("get", "head")}.isdisjoint(audit_guard.ACTIONS), (
        "a read changes nothing"
    )
