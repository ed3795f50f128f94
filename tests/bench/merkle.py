"""`merkle_1m`: the tree of a million recipients, compared with its hashes alone and with @openzeppelin/merkle-tree.

`python -m tests.bench.merkle 20000` tries it with fewer and stores no figure. The peer takes minutes for a million.
"""

import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from backend.distributions.keccak import keccak256
from backend.distributions.merkle import MerkleTree
from tests.distributions import peer

CHECKOUT = Path(__file__).resolve().parents[2]
COUNT = 1_000_000
MOST_MEMORY = 1_000
"""In MB."""
HEAP = 12_288
"""MB of heap for the peer on Node, which needs far more than Node's default."""
PATIENCE = 3_600
"""Timeout of the peer, in seconds."""


def recipients(count: int) -> tuple[list[str], list[int]]:
    """Return recipients that are the same in every run."""
    rng = random.Random(20261120)
    return ["0x" + rng.randbytes(20).hex() for _ in range(count)], [10**18 + i for i in range(count)]


def ours(count: int) -> None:
    """Measure in a separate process, to isolate its memory: seconds, MB, and the root."""
    addresses, amounts = recipients(count)
    began = time.perf_counter()
    root = MerkleTree(addresses, amounts).root
    seconds = time.perf_counter() - began
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, root)  # noqa: T201


def floor(count: int) -> float:
    """Return the seconds for the hashes alone: two for each leaf, one for each pair."""
    leaves, pairs = np.zeros((count, 96), dtype=np.uint8), np.zeros((count, 64), dtype=np.uint8)
    began = time.perf_counter()
    keccak256(keccak256(leaves))
    keccak256(pairs)
    return time.perf_counter() - began


def runtime() -> list[str]:
    """Return Node with enough heap if it is installed, otherwise the Bun that builds the console."""
    node = shutil.which("node")
    return [str(peer.BUN)] if node is None else [node, f"--max-old-space-size={HEAP}"]


def compare(count: int) -> dict[str, Any]:
    """Return the row of a tree with this many recipients. Raise SystemExit if the roots differ."""
    command = [sys.executable, "-c", f"from tests.bench.merkle import ours; ours({count})"]
    answer = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout.split()
    seconds, memory, root = float(answer[0]), float(answer[1]), answer[2]
    bare = floor(count)
    print(f"ours {seconds:.2f} s, {memory:.0f} MB; the peer takes minutes for a million", flush=True)  # noqa: T201
    built = peer.build(*recipients(count), runtime=runtime(), patience=PATIENCE)
    print(  # noqa: T201
        f"merkle_1m               {seconds:10.2f} s    {seconds / bare:.2f} x its hashes alone, "
        f"{built['seconds'] / seconds:.1f} times as fast as {Path(runtime()[0]).name}'s {built['seconds']:.0f} s, "
        f"{memory:.0f} MB against {built['memory_mb']}"
    )
    if root != built["root"]:
        raise SystemExit(f"the roots differ: {root}, {built['root']}")
    return {
        "name": "merkle_1m",
        "value": round(seconds, 3),
        "unit": "s",
        "floor": round(bare, 3),
        "peer": round(built["seconds"], 3),
        "ratio_floor": round(seconds / bare, 3),
        "ratio_peer": round(built["seconds"] / seconds, 2),
        "memory_mb": round(memory),
    }


def measure() -> list[dict[str, Any]]:
    """Return the row of `merkle_1m`. Raise SystemExit if it is too slow, too large or wrong."""
    row = compare(COUNT)
    if row["peer"] < 10 * row["value"] or row["memory_mb"] > MOST_MEMORY:
        raise SystemExit("merkle_1m has to be 10 times as fast as its peer, in less than 1 GB")
    return [row]


if __name__ == "__main__":
    compare(int(sys.argv[1]))
