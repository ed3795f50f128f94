"""Processes of an installation on a database of a test."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SECRET_KEY = "the secret key of the tests, of 32 characters or more"
WORKER = ("worker", "--chain", "40161")
NODE = {"SIGNUM_RPC_URLS": '{"40161": "http://127.0.0.1:9"}', "SIGNUM_WORKER_CHAINS": "[40161]"}


@dataclass(frozen=True)
class Machine:
    """A machine with a data folder of its own."""

    home: Path
    database_url: str

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of its processes."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SIGNUM_")}
        return kept | {"SIGNUM_HOME": str(self.home), "DATABASE_URL": self.database_url} | more

    def start(self, *command: str, **more: str) -> subprocess.Popen[str]:
        """Start a command of `signum`."""
        arguments = [sys.executable, "-m", "backend.cli", *command]
        pipe = subprocess.PIPE
        return subprocess.Popen(arguments, env=self.environment(**more), stdout=pipe, stderr=pipe, text=True)

    def run(self, *command: str, **more: str) -> tuple[int, str]:
        """Run a command of `signum`; return its exit code and output."""
        process = self.start(*command, **more)
        out, err = process.communicate(timeout=240)
        return process.returncode, out + err

    def refusal(self, **more: str) -> str:
        """Return the line with which a worker refuses to start."""
        code, output = self.run(*WORKER, **NODE, **more)
        [line] = [line for line in output.splitlines() if line.startswith("signum: ")]
        assert code == 1
        return line.removeprefix("signum: ")

    def sign(self, *addresses: str, **more: str) -> subprocess.Popen[str]:
        """Start a process that signs with wallets, by default new ones (`tests.secret_keys.signer`)."""
        arguments = [sys.executable, "-m", "tests.secret_keys.signer", *addresses]
        return subprocess.Popen(arguments, env=self.environment(**more), stdout=subprocess.PIPE, text=True)
