"""`signum serve`: starts everything in one process, and stops what it has started."""

import asyncio
import ctypes
import fcntl
import gc
import importlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import structlog

from backend.configuration import variables
from backend.core import data_folder
from backend.core.errors import CannotStart
from backend.core.logs import output
from backend.core.readiness import readiness
from backend.core.settings import Settings
from backend.devnet import reset
from backend.installation import ROOT
from backend.server import glibc, observers

log = structlog.get_logger()
T = TypeVar("T")


def say(text: str) -> None:
    """Print one line of progress; log it where the log is for programs."""
    if output.is_json():
        log.info("server.progress", text=" ".join(text.split()))
        return
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print a step of the start with its duration."""
    started = time.monotonic()
    yield
    say(f"  {name:<34}{time.monotonic() - started:6.2f} s")


def serve(settings: Settings) -> None:
    """Start everything, serve until a signal, and stop everything; restart after a requested reset.

    Raises CannotStart.
    """
    _serve_once(settings)
    if reset.is_asked(settings.home):
        sys.stdout.flush()
        # A new process, so that nothing held, cached or counted remains.
        os.execv(sys.executable, [sys.executable, "-m", "backend.cli", "serve"])  # noqa: S606


def _serve_once(settings: Settings) -> None:
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
        helper = held.enter_context(ThreadPoolExecutor(1))
        database = helper.submit(_start_database, settings)
        held.callback(_stop_database, database)
        if settings.embedded_chains:
            _start_chains(settings, held)
        _load_console()
        database.result()
        _serve_web(settings, began)


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


def _load_console() -> None:
    """Build the console if its sources changed, then load it, while the database starts.

    Runs in the main thread: Reflex registers pages with the context that loads them.
    """
    from backend.server import console_build

    with step("Console"):
        try:
            console_build.build_if_changed(lambda words: say(f"  {words}"))
            os.environ.update(console_build.PREBUILT)
            # Imported by name: the backend also works without a console.
            importlib.import_module("app.app")
        except console_build.ConsoleBuildFailed as error:
            raise CannotStart(f"The console could not be built: {error}") from error


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
                raise CannotStart(f"The embedded PostgreSQL failed to start: {_first_line(error)}") from error
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
            raise CannotStart(f"The database cannot be reached or migrated: {_first_line(error)}") from error
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
            raise CannotStart(f"The embedded chains failed to start: {_first_line(error)}") from error
    held.callback(anvil.stop)


def _first_line(error: BaseException) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _serve_web(settings: Settings, began: float) -> None:
    import uvloop

    _trim_memory()
    uvloop.run(_web(settings, began))


def _trim_memory() -> None:
    """Return the memory used during the start to the system (glibc only), and look for cycles less often than for a
    script: a request creates thousands of objects, hardly any of them in cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


async def _web(settings: Settings, began: float) -> None:
    from granian.errors import FatalError

    from backend.live_updates import streams
    from backend.server import connection_guard

    with step("Console and API"):
        target: Any = importlib.import_module("app.app").application()
    capacity = connection_guard.raise_file_limit()
    server = _server(target, settings, capacity)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        streams.stop()  # first, because the server waits for open responses
        server.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    reset.offer(lambda: _soon(loop, stop))
    announcing = asyncio.create_task(_announce(settings, began))
    watching = asyncio.create_task(connection_guard.run(settings.port, capacity, settings.trusted_proxies))
    try:
        await server.serve()
    except FatalError as error:
        why = f"The server failed to start ({_first_line(error)}). The lines above have the reason."
        raise CannotStart(readiness().failure or why) from error
    finally:
        announcing.cancel()
        watching.cancel()
    if readiness().failure:
        raise CannotStart(readiness().failure)


def _server(target: Any, settings: Settings, capacity: int) -> Any:
    """Create the server without HTTP/2: such connections, and those of unknown version, have no deadline."""
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels
    from granian.server.embed import Server

    return Server(
        target,
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGI,
        log_level=LogLevels.warning,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=settings.keep_alive_seconds * 1_000),
        log_dictconfig=output.server_logs() if output.is_json() else None,
        backlog=1_024,
        backpressure=capacity,
    )


def _soon(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Stop after the current response is sent."""
    loop.call_later(0.2, stop)


async def _announce(settings: Settings, began: float) -> None:
    from backend.server import runtime

    await runtime.until_listening(settings)
    of = f"{settings.host}:{settings.port} for {settings.origin}" if settings.public_url else settings.origin
    say(f"\n  Signum is listening on {of} after {time.monotonic() - began:.1f} s")
    with suppress(RuntimeError):
        await runtime.until_ready(600)
        say(f"  Ready after {time.monotonic() - began:.1f} s")
        if (settings.home / "demo.json").exists():
            _print_sign_in(settings)
        elif not await runtime.has_organizations():
            say("  No demo data. Create the first organization with: signum bootstrap\n")


def _print_sign_in(settings: Settings) -> None:
    """Print how to sign in, from demo.json."""
    import json

    path = settings.home / "demo.json"
    demo = json.loads(path.read_text())
    say("\n  Sign in as")
    for user in demo["users"]:
        say(f"    {user['role']:<20}{user['email']:<34}{user['password']}")
    say(f"\n  These are stored in {path} (readable only by you). Stop with Ctrl-C.\n")


def guarded(action: Callable[[], T]) -> T:
    """Run a command; a CannotStart ends it with one line per reason and exit code 1."""
    try:
        return action()
    except CannotStart as error:
        sys.stderr.writelines(f"signum: {line}\n" for line in str(error).splitlines())
        raise SystemExit(1) from None
