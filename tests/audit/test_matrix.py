"""Every operation of the document that can change something says what it leaves in the audit log.

That it does is seen by `tests.audited`, which looks at every success of every test.
"""

from tests import audited
from tests.openapi.operations import CASES


def test_every_operation_that_is_no_read_is_declared() -> None:
    changing = {str(c) for c in CASES if c.method not in ("get", "head")}
    assert changing <= {*audited.ACTIONS, *audited.SILENT}
    assert audited.ACTIONS.keys().isdisjoint(audited.SILENT)
    assert audited.ACTIONS.keys() >= audited.REPEATABLE
    assert {str(c) for c in CASES if c.method in ("get", "head")}.isdisjoint(audited.ACTIONS), "a read changes nothing"
