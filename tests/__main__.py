"""The whole suite: what needs no browser in three processes side by side, then the stories in one more.

Each process has a PostgreSQL, chains and a data folder of its own. Three, on two cores: each waits often enough for a
block, a deadline or the disk. The stories have the machine to themselves: a browser that waits for its turn says
nothing about the pages.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from backend import console
from tests.scratch import scratch

HERE = Path(__file__).resolve().parent
ALONE = "e2e"
GROUPS = [
    [
        "assets",
        "attestations",
        "bridges",
        "chain",
        "client",
        "commands",
        "oauth",
        "openapi",
        "organizations",
        "parties",
    ],
    [
        "compliance",
        "console",
        "contracts",
        "public",
        "reconciliation",
        "requests",
        "serve",
        "transfers",
        "wallets",
        "webhooks",
    ],
]
"""About a third of the time each; any other folder is in the last third."""


def thirds() -> list[list[Path]]:
    """The folders of tests without a browser."""
    folders = sorted(path.parent for path in HERE.glob("*/__init__.py") if any(path.parent.glob("test_*.py")))
    placed = {ALONE, *(name for group in GROUPS for name in group)}
    chosen = [[f for f in folders if f.name in group] for group in GROUPS]
    return [*chosen, [f for f in folders if f.name not in placed]]


def run(*groups: list[Path]) -> bool:
    """Run groups of folders at once and print what each says when it has ended; whether all passed."""
    running = []
    for group in groups:
        output = tempfile.TemporaryFile("w+")  # noqa: SIM115  (it is read after the process has ended)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--durations=12",
            f"--basetemp={scratch('pytest')}",
            *group,
        ]
        running.append((subprocess.Popen(command, cwd=HERE.parent, stdout=output, stderr=output), output))
    for process, output in running:
        process.wait()
        output.seek(0)
        sys.stdout.write(output.read())
        sys.stdout.flush()
    return all(process.returncode == 0 for process, _ in running)


def main() -> int:
    """0 where everything passed."""
    began = time.monotonic()
    console.build_if_changed()  # once, before several wait for it
    passed = run(*thirds())
    passed = run([HERE / ALONE]) and passed
    sys.stdout.write(f"\n{'All tests passed' if passed else 'Some tests failed'} in {time.monotonic() - began:.0f} s\n")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
