"""Kill, stop and slow down the parts of an installation and compare: `python -m tests.chaos --runs 20 --seed 1`.

The same seed gives the same faults at the same moments. Which requests they meet depends on the machine.
"""

import argparse
import asyncio
import sys

from tests.chaos.run import Chaos, new_seed, say


def main() -> int:
    """Return 0 if nothing differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument(
        "--short", action="store_true", help="faults begin within 3 seconds, and no stop lasts longer than 5"
    )
    chosen = parser.parse_args()
    chaos = Chaos(new_seed() if chosen.seed is None else chosen.seed, chosen.runs, chosen.short)
    say(f"seed {chaos.seed}, {chaos.runs} runs")
    is_good = asyncio.run(chaos.play())
    chaos.report()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
