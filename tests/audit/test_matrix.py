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


def test_repeatable_operation_without_an_entry_is_judged_in_a_whole_run_only() -> None:
    successes = {"verify_siwe": ["r1", "r2"], "create_wallet": ["r3"], "login": ["r4"]}
    created = {("r3", "wallet.created")}
    assert audit_guard.silent_operations(successes, created, is_whole_run=False) == []
    (silent,) = audit_guard.silent_operations(successes, created, is_whole_run=True)
    assert silent == "verify_siwe: 2 of 2 left no user.wallet_linked"
    linked = created | {("r2", "user.wallet_linked")}
    assert audit_guard.silent_operations(successes, linked, is_whole_run=True) == []


def test_operation_that_always_changes_something_is_judged_in_every_run() -> None:
    (silent,) = audit_guard.silent_operations(
        {"create_wallet": ["r1", "r2"]}, {("r1", "wallet.created")}, is_whole_run=False
    )
    assert silent == "create_wallet: 1 of 2 left no wallet.created"
