"""Measure a server's capacity and its behaviour below and above it: `python -m tests.load --minutes 30 --seed 1`."""

import argparse
import asyncio
import secrets
import sys

from tests.load.run import Load, say


def main() -> int:
    """Return 0 if nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.load")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=None)
    chosen = parser.parse_args()
    seed = secrets.randbelow(10**6) if chosen.seed is None else chosen.seed
    say(f"seed {seed}, {chosen.minutes:g} minutes at half of the capacity")
    load = Load(chosen.minutes, seed)
    is_good = asyncio.run(load.run())
    say(f"findings: {'; '.join(load.findings) or 'none'}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
