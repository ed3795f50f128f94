"""`merkle_1m`: the tree of a million recipients, against its hashes alone and against @openzeppelin/merkle-tree."""

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
"""MB."""


def recipients(count: int) -> tuple[list[str], list[int]]:
    """The same ones in every run."""
    rng = random.Random(20261120)
    return ["0x" + rng.randbytes(20).hex() for _ in range(count)], [10**18 + i for i in range(count)]


def ours() -> None:
    """In a process of its own, so that its memory can be told: seconds, MB, and the root."""
    addresses, amounts = recipients(COUNT)
    began = time.perf_counter()
    root = MerkleTree(addresses, amounts).root
    seconds = time.perf_counter() - began
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, root)  # noqa: T201


def floor() -> float:
    """Seconds for the hashes alone: two for each leaf, one for each pair."""
    leaves, pairs = np.zeros((COUNT, 96), dtype=np.uint8), np.zeros((COUNT, 64), dtype=np.uint8)
    began = time.perf_counter()
    keccak256(keccak256(leaves))
    keccak256(pairs)
    return time.perf_counter() - began


def measure() -> list[dict[str, Any]]:
    """The row of `merkle_1m`; raises SystemExit where it is too slow, too large or wrong."""
    command = [sys.executable, "-c", "from tests.bench.merkle import ours; ours()"]
    told = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout.split()
    seconds, memory, root = float(told[0]), float(told[1]), told[2]
    bare = floor()
    runtime = shutil.which("node") or str(peer.BUN)
    theirs = peer.build(*recipients(COUNT), runtime=runtime)
    row = {
        "name": "merkle_1m",
        "value": round(seconds, 3),
        "unit": "s",
        "floor": round(bare, 3),
        "peer": round(theirs["seconds"], 3),
        "ratio_floor": round(seconds / bare, 3),
        "ratio_peer": round(seconds / theirs["seconds"], 4),
        "memory_mb": round(memory),
    }
    print(  # noqa: T201
        f"merkle_1m               {seconds:10.2f} s    {seconds / bare:.2f} x its hashes alone, "
        f"{theirs['seconds'] / seconds:.1f} times as fast as {Path(runtime).name}'s, {memory:.0f} MB"
    )
    if root != theirs["root"]:
        raise SystemExit(f"the roots differ: {root}, {theirs['root']}")
    if theirs["seconds"] < 10 * seconds or memory > MOST_MEMORY:
        raise SystemExit("merkle_1m has to be 10 times as fast as its peer, in less than 1 GB")
    return [row]
