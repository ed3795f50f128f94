"""Send generated requests to a `signum serve` and check every response with all checks:
`python -m tests.openapi.generated --cases 20000 --seed 1`.

A quarter of the cases follow the document's links, a quarter are random, and half are the edges of the schemas. The
same seed generates the same cases; what the server answers depends on its state.
"""

import argparse
import asyncio
import os
import secrets
import sys

from tests.support.server import free_port

# The settings of this process are those of the server that it starts.
os.environ["PORT"] = str(free_port())

from tests.openapi.generated.run import play, report


def main() -> int:
    """Return 0 if no check failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.openapi.generated")
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=None)
    chosen = parser.parse_args()
    seed = secrets.randbelow(10**9) if chosen.seed is None else chosen.seed
    result = asyncio.run(play(chosen.cases, seed))
    sys.stdout.write(report(result))
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
