"""Play stories behind node pools and compare chain, tables and requests: `python -m tests.nodes --stories 500`.

The same seed gives the same stories, options, reorgs and kills. Which request they meet depends on the machine.
"""

import argparse
import asyncio
import sys

from tests.nodes.stories.run import Run, new_seed, report, say
from tests.support.scratch import keep


def main() -> int:
    """Return 0 if everything agrees."""
    parser = argparse.ArgumentParser(prog="python -m tests.nodes")
    parser.add_argument("--stories", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--houses", type=int, default=6)
    parser.add_argument("--healthy", action="store_true", help="healthy nodes, and no kills")
    chosen = parser.parse_args()
    seed = new_seed() if chosen.seed is None else chosen.seed
    say(f"seed {seed}, {chosen.stories} stories")
    run = Run(seed, chosen.stories, chosen.houses, hostile=not chosen.healthy)
    result = asyncio.run(run.play())
    report(result)
    if not result.is_good:
        say(f"  the server's log is in {keep(run.folder)}")
    return 0 if result.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
