"""The services of the API, and the server of the console and the API, in one event loop."""

import asyncio
import ctypes
import gc
import importlib
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from typing import Any

import structlog
from fastapi import FastAPI

from backend.core.errors import CannotStart
from backend.core.logs import output
from backend.core.readiness import readiness
from backend.core.settings import Settings
from backend.devnet import reset
from backend.live_updates import streams
from backend.server import connection_guard, console_build, runtime
from backend.server.progress import first_line, say, step

log = structlog.get_logger()


def load_console() -> None:
    """Load the built console. Runs in the main thread: Reflex registers pages with the context that loads them."""
    with step("Console"):
        os.environ.update(console_build.PREBUILT)
        # Imported by name: the backend also works without a console.
        importlib.import_module("app.app")


def trim_memory() -> None:
    """Return the memory used during the start to the system (glibc only), and look for cycles less often than for a
    script: a request creates thousands of objects, hardly any of them in cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


async def run(settings: Settings, began: float, api: FastAPI, console: "Future[None] | None") -> None:
    """Run the services of the API, and serve it and the console, which may still have to be built. The services of a
    first start create the demo in the meantime."""
    stopping = _Stop()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping)
    reset.offer(lambda: _soon(loop, stopping))
    async with AsyncExitStack() as held:
        try:
            await held.enter_async_context(api.router.lifespan_context(api))
        except CannotStart:
            raise
        except Exception as error:
            log.exception("server.start_failed")
            raise _failed(error) from error
        if console is not None:
            await _built(console)
        await _serve(settings, began, stopping)


def _failed(error: BaseException) -> CannotStart:
    why = f"The server failed to start ({first_line(error)}). The lines above have the reason."
    return CannotStart(readiness().failure or why)


async def _built(console: "Future[None]") -> None:
    """Wait until the console is built, while the services of the API run and create the demo; then load it."""
    try:
        await asyncio.wrap_future(console)
    except console_build.ConsoleBuildFailed as error:
        raise CannotStart(f"The console could not be built: {error}") from error
    load_console()
    trim_memory()


class _Stop:
    """Stops the server; before it has started, the start."""

    def __init__(self) -> None:
        self._start = asyncio.current_task()
        self.server: Any = None

    def __call__(self) -> None:
        streams.stop()  # first, because the server waits for open responses
        if self.server is not None:
            self.server.stop()
        elif self._start is not None:
            self._start.cancel()


async def _serve(settings: Settings, began: float, stopping: _Stop) -> None:
    from granian.errors import FatalError

    with step("Console and API"):
        target: Any = importlib.import_module("app.app").application()
    capacity = connection_guard.raise_file_limit()
    stopping.server = server = _server(target, settings, capacity)
    announcing = asyncio.create_task(_announce(settings, began))
    watching = asyncio.create_task(connection_guard.run(settings.port, capacity, settings.trusted_proxies))
    try:
        await server.serve()
    except FatalError as error:
        raise _failed(error) from error
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
