"""`signum serve`: from a checkout to a page that answers, in one process that holds everything it starts."""

import asyncio
import ctypes
import fcntl
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

from pydantic import ValidationError

from backend import data_folder, glibc
from backend.devnet import reset
from backend.errors import CannotStart
from backend.readiness import readiness
from backend.settings import CHECKOUT, Settings

T = TypeVar("T")


def say(text: str) -> None:
    """One line of progress."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextmanager
def step(name: str) -> Iterator[None]:
    """A step of the start: told with its time when it is done."""
    started = time.monotonic()
    yield
    say(f"  {name:<34}{time.monotonic() - started:6.2f} s")


def serve(settings: Settings) -> None:
    """Start everything, serve until a signal, end everything; begin again where a reset was asked for. Raises
    CannotStart where it cannot."""
    _serve_once(settings)
    if reset.is_asked(settings.home):
        sys.stdout.flush()
        # A process of its own, from the first line: nothing that was held, cached or counted comes along.
        os.execv(sys.executable, [sys.executable, "-m", "backend.cli", "serve"])  # noqa: S606


def _serve_once(settings: Settings) -> None:
    began = time.monotonic()
    # Reflex looks for its settings and the built console where it stands.
    os.chdir(CHECKOUT)
    with ExitStack() as held:
        glibc.check(settings)
        _check_chains(settings)
        held.enter_context(_lock(settings.home))
        _check_port(settings.host, settings.port)
        if reset.clear_if_asked(settings.home):
            say("  Beginning again: what was here is gone")
        helper = held.enter_context(ThreadPoolExecutor(1))
        database = helper.submit(_start_database, settings)
        held.callback(_stop_database, database)
        if settings.embedded_chains:
            _start_chains(settings, held)
        _load_console()
        database.result()
        _serve_web(settings, began)


def _check_chains(settings: Settings) -> None:
    """What the settings say of chains; where they say nothing, nothing is loaded for it."""
    if (
        settings.rpc_urls
        or settings.endpoints
        or settings.quote_tokens
        or settings.confirmations
        or settings.chain_terms
    ):
        from backend.chains import given

        given.check(settings)


@contextmanager
def _lock(home: Path) -> Iterator[IO[str]]:
    """One server a data folder."""
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
    """Build the console if its sources changed, then load it, both while the database starts. In the main thread:
    Reflex registers what it loads with the context that loads it."""
    from backend import console

    with step("Console"):
        try:
            console.build_if_changed()
            os.environ.update(console.PREBUILT)
            # Named, not imported: the backend stands without a console.
            importlib.import_module("app.app")
        except console.ConsoleBuildFailed as error:
            raise CannotStart(f"The console could not be built: {error}") from error


def _start_database(settings: Settings) -> Callable[[], None]:
    """Start and migrate the database; answers how to stop it. Runs beside the main thread."""
    from backend import runtime

    stop: Callable[[], None] = _nothing
    if settings.outside_database is None:
        from backend.postgres import EmbeddedPostgres

        server = EmbeddedPostgres(settings.home / "pg")
        with step("PostgreSQL"):
            try:
                runtime.use_database(server.start())
            except Exception as error:
                raise CannotStart(f"The embedded PostgreSQL does not start: {_first_line(error)}") from error
        stop = server.stop
    with step("Migrations"):
        try:
            _prepare_schema(settings, runtime.database_url(settings))
        except CannotStart:
            stop()
            raise
        except Exception as error:
            stop()
            raise CannotStart(f"The database cannot be reached or migrated: {_first_line(error)}") from error
    readiness.done("migrations")
    return stop


def _prepare_schema(settings: Settings, url: str) -> None:
    """Migrate as the owner; where only the login roles' URLs are set, somebody else has. From then on no connection is
    the owner's."""
    from backend import logins
    from backend.migrations import migrate

    if settings.outside_database is None or settings.database_url is not None:
        migrate.migrate(url)
    else:
        migrate.check(url)
    logins.check(url)


def migrate_only(settings: Settings) -> None:
    """Migrate the database of DATABASE_URL and make its login roles, without starting anything."""
    from backend import logins
    from backend.migrations.migrate import migrate

    if settings.database_url is None:
        raise CannotStart("Set DATABASE_URL to the owner's URL. `signum serve` migrates the embedded database itself.")
    try:
        migrate(settings.database_url)
    except CannotStart:
        raise
    except Exception as error:
        raise CannotStart(f"The database cannot be reached or migrated: {_first_line(error)}") from error
    logins.check(settings.database_url)


def _nothing() -> None:
    """How to stop a database that is not ours."""


def _stop_database(database: "Future[Callable[[], None]]") -> None:
    """Stop what was started, also where something else failed meanwhile."""
    if database.exception() is None:
        database.result()()


def _start_chains(settings: Settings, held: ExitStack) -> None:
    from backend.chain import devnet

    with step("Embedded chains"):
        try:
            devnet.start(settings.home)
        except Exception as error:
            raise CannotStart(f"The embedded chains do not start: {_first_line(error)}") from error
    held.callback(devnet.stop)


def _first_line(error: BaseException) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _serve_web(settings: Settings, began: float) -> None:
    import uvloop

    _trim_memory()
    uvloop.run(_web(settings, began))


def _trim_memory() -> None:
    """Give what the start has used back to the system (glibc only)."""
    import gc

    gc.collect()
    gc.freeze()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


async def _web(settings: Settings, began: float) -> None:
    from granian.errors import FatalError

    from backend import connection_guard

    with step("Console and API"):
        target: Any = importlib.import_module("app.app").application()
    capacity = connection_guard.raise_file_limit()
    server = _server(target, settings, capacity)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)
    reset.offer(lambda: _soon(loop, server.stop))
    announcing = asyncio.create_task(_announce(settings, began))
    watching = asyncio.create_task(connection_guard.run(settings.port, capacity, settings.trusted_proxies))
    try:
        await server.serve()
    except FatalError as error:
        why = f"The server does not start ({_first_line(error)}); the reason is in the lines above."
        raise CannotStart(readiness.failure or why) from error
    finally:
        announcing.cancel()
        watching.cancel()
    if readiness.failure:
        raise CannotStart(readiness.failure)


def _server(target: Any, settings: Settings, capacity: int) -> Any:
    """Without HTTP/2: its connections, and those that have not said yet which version they speak, have no deadline."""
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
        backlog=1_024,
        backpressure=capacity,
    )


def _soon(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Stop after the answer that says so."""
    loop.call_later(0.2, stop)


async def _announce(settings: Settings, began: float) -> None:
    from backend import runtime

    await runtime.until_listening(settings)
    say(f"\n  Signum answers on {settings.origin} after {time.monotonic() - began:.1f} s")
    with suppress(RuntimeError):
        await runtime.until_ready(600)
        say(f"  Ready after {time.monotonic() - began:.1f} s")
        _tell_sign_in(settings)


def _tell_sign_in(settings: Settings) -> None:
    """How to sign in, from demo.json."""
    import json

    path = settings.home / "demo.json"
    if not path.exists():
        say("  No demo here. Make the first organization with: signum bootstrap\n")
        return
    demo = json.loads(path.read_text())
    say("\n  Sign in as")
    for user in demo["users"]:
        say(f"    {user['role']:<20}{user['email']:<34}{user['password']}")
    say(f"\n  These are kept in {path} (readable by you alone). Stop with Ctrl-C.\n")


def guarded(action: Callable[[], T]) -> T:
    """Run a command; what cannot start ends in one line a reason and exit code 1."""
    try:
        return action()
    except CannotStart as error:
        sys.stderr.writelines(f"signum: {line}\n" for line in str(error).splitlines())
        raise SystemExit(1) from None
    except ValidationError as error:
        if error.title != Settings.__name__:
            raise
        told = "; ".join(f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors())
        sys.stderr.write(f"signum: A setting is not right: {told}\n")
        raise SystemExit(1) from None
