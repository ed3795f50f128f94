"""Start what would be five machines on this one, let parts of them die, and compare: `python -m tests.cluster`.

`--only sessions,leaders` runs some checks. `--keep` keeps the logs.
"""

import argparse
import asyncio
import importlib
import os
import shutil
import sys

from tests.cluster.layout import Layout
from tests.support.scratch import keep, scratch

PROGRAMS = {"redis-server": "redis-server", "nginx": "nginx"}
"""What must be installed, with its Debian package."""


def main() -> int:
    """Return 0 if every check passed."""
    missing = [
        f"{name} (Debian's package {package})" for name, package in PROGRAMS.items() if shutil.which(name) is None
    ]
    if missing:
        sys.stderr.write(f"The cluster needs {' and '.join(missing)}.\n")
        return 1
    layout = Layout(scratch("cluster"))
    layout.folder.chmod(0o711)  # for PostgreSQL and nginx, which run as other users
    # Before anything reads the settings: this process creates people as the servers do.
    os.environ |= {"SIGNUM_PUBLIC_URL": layout.origin, "SIGNUM_SECRET_KEY": layout.secret_key}
    runner = importlib.import_module("tests.cluster.run")
    parser = argparse.ArgumentParser(prog="python -m tests.cluster")
    parser.add_argument("--only", default=",".join(runner.CHECKS))
    parser.add_argument("--keep", action="store_true")
    chosen = parser.parse_args()
    is_good = asyncio.run(runner.run(layout, chosen.only.split(",")))
    if chosen.keep or not is_good:
        sys.stdout.write(f"kept {keep(layout.folder)}\n")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
