"""Pictures of every page of the console, for people who review it: `python -m tests.screenshots --out FOLDER`.

Starts `signum serve` with the demo, opens every page as each role, with its drawers, dialogs, tabs and wizard steps,
and saves it in light and dark at 1440 and 390 pixels. `--url` takes a running console instead of a new one; its
passwords are read from `demo.json` in `--home`.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock

from tests.e2e.conftest import Signum, serving
from tests.screenshots import index, readme, tour
from tests.screenshots.camera import Taken, launched, opened, take
from tests.screenshots.catalog import ROLES, Picture, pictures

BROWSERS = 2
SHARE = 8
"""Pictures that a browser takes as one role before it asks for more."""
WRITING = Lock()
"""Held while a browser writes the index."""
Job = tuple[str, list[Picture]]


def main() -> int:
    """Take the pictures, write the index, and report what failed."""
    given = _arguments()
    if given.readme or given.tour:
        with _console(given) as signum:
            paths = (tour if given.tour else readme).take(signum)
        sys.stdout.write("".join(f"{path}\n" for path in paths))
        return 0
    with _console(given) as signum:
        done = index.known(given.out) if given.missing else set()
        results = taken(signum, list(jobs(given.role, given.page, done)), given.out)
    problems = [f"{one.role}/{one.picture.name}: {problem}" for one in results for problem in one.problems]
    count = sum(len(one.files) for one in results)
    sys.stdout.write(f"{count} pictures in {given.out}, {len(problems)} problems\n")
    sys.stdout.write("".join(f"{problem}\n" for problem in problems))
    return 1 if problems else 0


def _arguments() -> argparse.Namespace:
    words = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description=words)
    parser.add_argument("--out", type=Path, default=Path("pictures"), help="folder of the pictures")
    parser.add_argument("--role", action="append", choices=ROLES, help="a role; may be repeated")
    parser.add_argument("--page", action="append", help="a page whose name begins so; may be repeated")
    parser.add_argument("--missing", action="store_true", help="only what the index does not have yet")
    parser.add_argument("--url", help="a running console with the demo")
    parser.add_argument("--readme", action="store_true", help="only the README's pictures, to docs/pictures")
    parser.add_argument("--tour", action="store_true", help="only the recording of the guided tour, to docs/pictures")
    home = Path(os.environ.get("SIGNUM_HOME", ".signum"))
    parser.add_argument("--home", type=Path, default=home, help="the data folder of that console")
    return parser.parse_args()


@contextmanager
def _console(given: argparse.Namespace) -> Iterator[Signum]:
    if given.url:
        running = Signum(given.home, given.url)
        yield running
        running.close()
        return
    with (
        tempfile.TemporaryDirectory() as home,
        serving(Path(home), SIGNUM_DEMO_HISTORY=str(int(given.readme or given.tour))) as started,
    ):
        yield started


def jobs(roles: list[str] | None, pages: list[str] | None, done: set[tuple[str, str]]) -> Iterator[Job]:
    """Yield the wanted pictures that are not done, in shares of a role, by `_rank`."""
    wanted = [one for one in pictures() if not pages or one.name.startswith(tuple(pages))]
    pairs = [(role, one) for role in roles or ROLES for one in wanted if one.is_for(role)]
    left = sorted((pair for pair in pairs if (pair[0], pair[1].name) not in done), key=_rank)
    for (_, role), alike in groupby(left, key=lambda pair: (_rank(pair), pair[0])):
        own = [one for _, one in alike]
        yield from ((role, own[start : start + SHARE]) for start in range(0, len(own), SHARE))


def _rank(pair: tuple[str, Picture]) -> int:
    """Order pictures: all of those who see the most or something of their own, pages, states, and what changes data."""
    role, picture = pair
    return 3 if picture.changes else 0 if role in ROLES[:3] else 2 if picture.state else 1


def taken(signum: Signum, wanted: list[Job], folder: Path) -> list[Taken]:
    """Take the pictures in parallel browsers."""
    queue: SimpleQueue[Job] = SimpleQueue()
    for job in wanted:
        queue.put(job)
    with signum.known() as ids, ThreadPoolExecutor(BROWSERS) as pool:
        found = [pool.submit(_work, signum, queue, ids, folder) for _ in range(BROWSERS)]
        return [one for each in found for one in each.result()]


def _work(signum: Signum, queue: "SimpleQueue[Job]", ids: dict[str, str], folder: Path) -> list[Taken]:
    """Take shares of pictures in one browser until none is left."""
    results = []
    with launched() as browser:
        for role, some in _shares(queue):
            with opened(browser, signum, role) as console:
                for picture in some:
                    results.append(take(console, picture, role, ids, folder))
                    _tell(results[-1])
                    with WRITING:
                        index.write(folder, results[-1:])
    return results


def _shares(queue: "SimpleQueue[Job]") -> Iterator[Job]:
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return


def _tell(one: Taken) -> None:
    said = "; ".join(one.problems) or ("done" if one.is_offered else "not offered")
    sys.stdout.write(f"{one.role}/{one.picture.name}: {said}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
