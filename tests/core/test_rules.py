"""Rules of the backend's code: the state of a process is in `backend.core.runtime`, not in variables of modules."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.structure import ROOT

MARK = "# Declared at import."
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*|__\w+__")
MUTABLE = (ast.Call, ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Set, ast.SetComp, ast.GeneratorExp)
ADVISORY = re.compile(r"hashtext|pg_\w*advisory")
NUMBERED = {"backend/core/locks.py", "backend/migrations/migrate.py"}
"""Modules that take advisory locks: by numbers that no caller can choose, and migrations by a fixed one."""
DEFAULT_THREADS = {
    "backend/chain/devnet/anvil.py",
    "backend/engine/abandoned_runs.py",
    "backend/engine/executors.py",
    "backend/server/connection_guard.py",
    "backend/server/runtime.py",
    "backend/server/socket_intake.py",
    "backend/server/worker.py",
}
"""Modules with short work, or work at the start and end of a process, in the event loops' default threads."""
STATELESS = {"ContextVar", "get_logger", "getLogger"}
"""Calls whose result holds no state of the process: values of a context, and loggers."""


def variables(text: str) -> Iterator[str]:
    """Yield a line for each variable of a module that holds state: a mutable value under a name that is not in upper
    case and has no mark above it, a `global` statement, or an attribute of one of its classes that is set outside."""
    tree, lines = ast.parse(text), text.splitlines()
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in _outside_functions(tree):
        if _is_mutable(node) and lines[node.lineno - 2].strip() != MARK:
            yield from (f"{node.lineno}: {name}" for name in _names(node) if not CONSTANT.fullmatch(name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield f"{node.lineno}: global {', '.join(node.names)}"
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) in classes:
            yield f"{node.lineno}: {ast.unparse(node)}"


def _outside_functions(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements that run at import, without those of classes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _outside_functions(child)


def _is_mutable(node: ast.stmt) -> bool:
    """Return whether a statement assigns a value that can change."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    return any(isinstance(one, MUTABLE) and not _is_stateless(one) for one in values)


def _is_stateless(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in STATELESS


def _names(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


def test_advisory_lock_elsewhere_than_in_locks_is_refused() -> None:
    """`hashtext` can be inverted, so a caller could choose a text that takes any lock."""
    paths = [path for suffix in ("py", "sql") for path in (ROOT / "backend").rglob(f"*.{suffix}")]
    found = {str(path.relative_to(ROOT)) for path in paths if ADVISORY.search(path.read_text())}
    assert found == NUMBERED, "take advisory locks by `backend.core.locks`"


def test_slow_work_in_the_default_threads_is_refused() -> None:
    """Callers who fill the default threads would delay every other request."""
    default = re.compile(r"to_thread\(|run_in_executor\(None|to_thread,")
    paths = (ROOT / "backend").rglob("*.py")
    found = {str(path.relative_to(ROOT)) for path in paths if default.search(path.read_text())}
    assert found == DEFAULT_THREADS, "run slow work by `backend.core.threads`"


@pytest.mark.long
def test_no_module_of_the_backend_holds_state() -> None:
    paths = sorted((ROOT / "backend").rglob("*.py"))
    found = [f"{path.relative_to(ROOT)}:{line}" for path in paths for line in variables(path.read_text())]
    assert not found, "\n".join([f"make these parts of `backend.core.runtime`, or mark them `{MARK}`:", *found])


@pytest.mark.parametrize(
    "text",
    [
        "_known = {}",
        "_known: dict[int, int] = {}",
        "known = Counter()",
        "clients = weakref.WeakKeyDictionary()",
        "_names = [name for name in ('a', 'b')]",
        "if True:\n    lock = threading.Lock()",
        "a, B = set(), 1",
        "_read_at = 0.0\ndef read():\n    global _read_at\n    _read_at = 1.0",
        "class _Engine:\n    client = None\ndef start():\n    _Engine.client = 1",
    ],
)
def test_state_in_a_module_is_found(text: str) -> None:
    assert len(list(variables(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "NAMES = {'a': 1}",
        "_LOCK = object()",
        "__all__ = ['a']",
        "Names = dict[str, str]",
        "revision = '0001'",
        "log = structlog.get_logger()",
        "_who: ContextVar[str] = ContextVar('who', default='')",
        f"{MARK}\nrouter = APIRouter()",
        "def f():\n    known = {}",
        "class Settings(BaseSettings):\n    config = dict()",
    ],
)
def test_constants_and_declarations_are_not_state(text: str) -> None:
    assert list(variables(text)) == []
