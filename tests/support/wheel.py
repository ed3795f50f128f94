"""A wheel of this checkout, and its installation in a virtual environment outside it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.installation import ROOT

TOOLS = Path(sys.executable).parent


def build(folder: Path) -> Path:
    """Build the wheel, as `make wheel` does, and return its path."""
    command = [TOOLS / "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"SOURCE_DATE_EPOCH": "1577836800"}, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


class Installed:
    """An installed wheel: `signum`, run from an empty folder by someone with an empty home and no tools."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.python, self.folder = folder / "venv" / "bin" / "python", folder
        uv = [TOOLS / "uv", "--quiet"]
        subprocess.run([*uv, "venv", "--python", sys.executable, folder / "venv"], check=True)
        into = [*uv, "pip", "install", "--python", self.python]
        subprocess.run([*into, "--require-hashes", "-r", ROOT / "requirements.lock"], check=True)
        subprocess.run([*into, "--no-deps", wheel], check=True)
        self.home, self.empty = folder / "home", folder / "empty"
        self.home.mkdir()
        self.empty.mkdir()

    def environment(self, port: int, **more: str) -> dict[str, str]:
        """Return the whole environment of a command."""
        plain = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "PORT": str(port), "SIGNUM_DEMO": "0"}
        return plain | more

    def run(self, port: int, *words: str) -> None:
        """Run a command to its end."""
        signum = self.python.with_name("signum")
        subprocess.run([signum, *words], cwd=self.empty, env=self.environment(port), check=True, timeout=120)

    @contextmanager
    def serving(self, port: int, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        """`signum serve`, until the block ends."""
        command = [self.python.with_name("signum"), "serve"]
        with (self.folder / "serve.log").open("ab") as log:
            where = {"cwd": self.empty, "env": self.environment(port, **environment)}
            server = subprocess.Popen(command, stdout=log, stderr=log, **where)
            try:
                yield server
            finally:
                server.terminate()
                server.wait(60)
