"""Run the suite: everything without a browser in four parallel processes, then the browser tests in two.

Tests marked `long` run with `python -m tests --long` only: walks over everything, pools of nodes, killed processes,
generated requests, and further stories of a feature that take more than a second of processor time. Those marked
`nightly` run with `--nightly` only, before a release: they show what others show, with more cases, or need a demo, an
installation or several minutes of their own.

Each process has its own PostgreSQL, chains and data folder. Four processes fit two cores, because each often waits for
a block, a deadline or the disk. The browser tests run after them, one browser for each core: a browser that waits for
CPU time says nothing about the pages.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from backend.server import console_build
from tests.support.audit_guard import WHOLE_RUN
from tests.support.scratch import scratch

HERE = Path(__file__).resolve().parent
ALONE = "e2e"
GROUPS = [
    [
        "http",
        "webhooks",
        "organizations",
        "oauth",
        "issuers",
        "markets",
        "engine",
        "invitations",
        "assets",
        "console",
        "chains",
        "wallets",
        "requests",
        "public",
        "status",
        "contracts",
        "distributions",
        "evidence",
        "insight",
        "secret_keys",
    ],
    [
        "chain",
        "approvals",
        "openapi",
        "members",
        "nodes",
        "core",
        "compliance",
        "audit",
        "ip_ranges",
        "mail",
        "parties",
        "controls",
        "server",
        "bridges",
        "transfers",
    ],
    ["chaos"],
]
"""Groups of about the same time each; any other folder is in the last part. What kills processes waits most."""


SLOWEST = (
    "test_reconcile.py",
    "test_left_out.py",
    "test_stories.py",
    "test_backup.py",
    "test_killed_chains.py",
    "test_indexer.py",
    "test_stateful.py",
    "test_serve.py",
    "test_transactions.py",
    "test_events.py",
    "test_workers.py",
    "test_reset.py",
    "test_artifacts.py",
    "test_public.py",
    "test_spectral.py",
    "test_accessibility.py",
    "test_walk.py",
    "test_year.py",
    "test_tours.py",
    "test_keyboard.py",
    "test_roles.py",
    "test_attempts.py",
)
"""Modules whose long tests take over a minute, the slowest first; before them those that read everything that the
tests before them have made."""
QUICK = "not long and not nightly"
MARKS = {"long": "long and not nightly", "nightly": "nightly"}
"""The expression that chooses the tests of a mark: where a module is long, some of its tests may be nightly."""
SHARES = 3
BROWSERS = 2


def parts() -> list[list[Path]]:
    """Return the folders of tests without a browser."""
    folders = sorted(path.parent for path in HERE.glob("*/__init__.py") if any(path.parent.rglob("test_*.py")))
    placed = {ALONE, *(name for group in GROUPS for name in group)}
    chosen = [[f for name in group for f in folders if f.name == name] for group in GROUPS]
    return [*chosen, [f for f in folders if f.name not in placed]]


def shares_of(mark: str, processes: int, *, in_browser: bool) -> list[list[Path]]:
    """Return the modules that have tests with a mark, one after another to each process, the slowest first. Every other
    round goes backwards, so that no process gets the slower one of each round."""
    modules = (path for path in HERE.rglob("test_*.py") if f"pytest.mark.{mark}" in path.read_text())
    chosen = sorted((path for path in modules if (ALONE in path.parts) == in_browser), key=_slowness)
    shares: list[list[Path]] = [[] for _ in range(processes)]
    for number, path in enumerate(chosen):
        turn, place = divmod(number, processes)
        shares[place if turn % 2 == 0 else processes - 1 - place].append(path)
    return shares


def _slowness(path: Path) -> tuple[int, Path]:
    """Return the place of a module in the order of their times."""
    return (SLOWEST.index(path.name) if path.name in SLOWEST else len(SLOWEST)), path


def browser_halves() -> list[list[Path]]:
    """Return the modules of browser tests, one after another to each process."""
    modules = sorted((HERE / ALONE).rglob("test_*.py"))
    return [modules[number::BROWSERS] for number in range(BROWSERS)]


def run(marks: str, *groups: list[Path]) -> bool:
    """Run the marked tests of groups of paths in parallel, print their output, and return whether all passed."""
    running = []
    environment = os.environ | ({WHOLE_RUN: "1"} if marks == QUICK else {})
    for group in filter(None, groups):
        output = tempfile.TemporaryFile("w+")  # noqa: SIM115  (it is read after the process has ended)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-m",
            marks,
            "--durations=12",
            f"--basetemp={scratch('pytest')}",
            *group,
        ]
        running.append(
            (subprocess.Popen(command, cwd=HERE.parent, env=environment, stdout=output, stderr=output), output)
        )
    for process, output in running:
        process.wait()
        output.seek(0)
        sys.stdout.write(output.read())
        sys.stdout.flush()
    return all(process.returncode == 0 for process, _ in running)


def main() -> int:
    """Return 0 if everything passed."""
    began = time.monotonic()
    console_build.build_if_changed()  # once, before several processes wait for it
    mark = next((mark for mark in MARKS if f"--{mark}" in sys.argv), None)
    if mark is not None:
        passed = run(MARKS[mark], *shares_of(mark, SHARES, in_browser=False))
        passed = run(MARKS[mark], *shares_of(mark, BROWSERS, in_browser=True)) and passed
    else:
        passed = run(QUICK, *parts())
        passed = run(QUICK, *browser_halves()) and passed
    sys.stdout.write(f"\n{'All tests passed' if passed else 'Some tests failed'} in {time.monotonic() - began:.0f} s\n")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
