"""`signum serve`: starts everything in one process, and stops what it has started."""

import asyncio
import fcntl
import gc
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from backend.configuration import variables
from backend.core import data_folder
from backend.core.errors import CannotStart
from backend.core.readiness import readiness
from backend.core.settings import Settings
from backend.devnet import reset
from backend.installation import ROOT
from backend.server import glibc, observers
from backend.server.progress import first_line, say, step

if TYPE_CHECKING:
    from fastapi import FastAPI

T = TypeVar("T")
Api = Callable[[], "FastAPI"]


def serve(settings: Settings, api: Api) -> None:
    """Start everything, serve until a signal, and stop everything; restart after a requested reset. `api` returns the
    API of this process.

    Raises CannotStart.
    """
    _serve_once(settings, api)
    if reset.is_asked(settings.home):
        sys.stdout.flush()
        # A new process, so that nothing held, cached or counted remains.
        os.execv(sys.executable, [sys.executable, "-m", "backend.cli", "serve"])  # noqa: S606


def _serve_once(settings: Settings, api: Api) -> None:
    began = time.monotonic()
    gc.disable()  # until everything is loaded: what a start creates is hardly ever garbage
    # Reflex looks for its settings and the built console in the working directory.
    os.chdir(ROOT)
    observers.start(settings, "server")
    variables.warn()
    with ExitStack() as held:
        held.callback(observers.stop)
        glibc.check(settings)
        _check_chains(settings)
        held.enter_context(locked(settings.home))
        _check_port(settings.host, settings.port)
        if reset.clear_if_asked(settings.home):
            say("  Reset: all earlier data was deleted")
        helpers = held.enter_context(ThreadPoolExecutor(2))
        database = helpers.submit(_start_database, settings)
        held.callback(_stop_database, database)
        console = _build_console(helpers, held)
        if settings.embedded_chains:
            _start_chains(settings, held)
        _load(api, is_built=console is None)
        database.result()
        _serve_web(settings, began, api(), console)


def _check_chains(settings: Settings) -> None:
    """Check the chain settings; load nothing where no setting is present."""
    if (
        settings.rpc_urls
        or settings.endpoints
        or settings.quote_tokens
        or settings.confirmations
        or settings.chain_terms
    ):
        from backend.chains import chain_settings

        chain_settings.check(settings)


@contextmanager
def locked(home: Path) -> Iterator[IO[str]]:
    """Lock the data folder for this server."""
    data_folder.prepare(home)
    with (home / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CannotStart(f"Another Signum already runs on the data folder {home}.") from error
        yield file


def _check_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CannotStart(
                f"Port {port} on {host} cannot be used: {error.strerror}. Choose another with PORT=…"
            ) from error


def _build_console(helpers: ThreadPoolExecutor, held: ExitStack) -> "Future[None] | None":
    """Begin to build the console where its sources have changed, beside the rest of the start; None where they have
    not."""
    from backend.server import console_build

    if console_build.is_current():
        return None
    held.callback(console_build.stop)

    def build() -> None:
        with step("Build of the console"):
            console_build.build_if_changed(lambda words: say(f"  {words}"))

    return helpers.submit(build)


def _load(api: Api, is_built: bool) -> None:
    """Load the console, if it is built, and the API, while the database starts."""
    from backend.server import serving

    if is_built:
        serving.load_console()
    api()


def _start_database(settings: Settings) -> Callable[[], None]:
    """Start and migrate the database; return the function that stops it. Runs beside the main thread."""
    from backend.server import runtime, schema

    stop: Callable[[], None] = _nothing
    if settings.outside_database is None:
        from backend.server.postgres import EmbeddedPostgres

        server = EmbeddedPostgres(settings.home / "pg")
        with step("PostgreSQL"):
            try:
                runtime.use_database(server.start())
            except Exception as error:
                raise CannotStart(f"The embedded PostgreSQL failed to start: {first_line(error)}") from error
        server.keep_alive()
        stop = server.stop
    with step("Migrations"):
        try:
            schema.prepare(settings, runtime.database_url(settings))
            schema.open_keys(settings, runtime.database_url(settings))
        except CannotStart:
            stop()
            raise
        except Exception as error:
            stop()
            raise CannotStart(f"The database cannot be reached or migrated: {first_line(error)}") from error
    readiness().done("migrations")
    return stop


def _nothing() -> None:
    """Do nothing for an external database."""


def _stop_database(database: "Future[Callable[[], None]]") -> None:
    """Stop the database if it started, also where another part failed."""
    if database.exception() is None:
        database.result()()


def _start_chains(settings: Settings, held: ExitStack) -> None:
    from backend.chain.devnet import anvil
    from backend.demo import history

    with step("Embedded chains"):
        try:
            history.prepare(settings)
            anvil.start(settings.home)
            # Until the lost transactions are sent again, which the start does before workflows run.
            anvil.mark(settings.home, anvil.EMBEDDED)
        except Exception as error:
            raise CannotStart(f"The embedded chains failed to start: {first_line(error)}") from error
    held.callback(anvil.stop)


def _serve_web(settings: Settings, began: float, api: "FastAPI", console: "Future[None] | None") -> None:
    import uvloop

    from backend.server import serving

    serving.trim_memory()
    with suppress(asyncio.CancelledError):  # stopped before it served
        uvloop.run(serving.run(settings, began, api, console))


def guarded(action: Callable[[], T]) -> T:
    """Run a command; a CannotStart ends it with one line per reason and exit code 1."""
    try:
        return action()
    except CannotStart as error:
        sys.stderr.writelines(f"signum: {line}\n" for line in str(error).splitlines())
        raise SystemExit(1) from None
