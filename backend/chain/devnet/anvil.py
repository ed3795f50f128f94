"""The embedded chains: three anvil processes in the data folder. Nothing on them has value."""

import asyncio
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from backend.chain.devnet import clock
from backend.chain.devnet.faucet import fund
from backend.chain.devnet.install import DevnetError, binary
from backend.chain.rpc import node_urls
from backend.chain.rpc.node_urls import EMBEDDED, Embedded
from backend.core.runtime import runtime
from backend.core.settings import settings

__all__ = ["EMBEDDED", "DevnetError", "RunningChain", "fund", "revive", "start", "stop"]

SAVE_EVERY = 10
"""Seconds. Every save writes the whole state; `recover` sends again what a kill -9 loses."""

STATES_ON_DISK = 200
"""States of blocks that a node writes to disk, besides those in memory: 500 at first, and as few as 10 in a long chain.
Each is a whole state, and a chain that is restored writes one for each older block: without a limit they fill the disk.
What a contract said at a block before all of these cannot be read, as after a restart of the node: what needs it uses
events then. `--preserve-historical-states` would keep them, but every save writes all: 47 MB instead of 3 MB for the
demo's first chain of 186 blocks (`anvil_dumpState` with `true`), and more with the square of the blocks."""

HANGING = 5.0
"""Seconds without an answer after which a node is killed and started again. Workflows wait longer for a chain."""

_PR_SET_PDEATHSIG = 1


@dataclass
class NodeProcesses:
    """The nodes that this process has started, by chain."""

    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    halted: set[int] = field(default_factory=set)
    """Stopped on purpose, so not to be revived."""
    silent: dict[int, float] = field(default_factory=dict)
    """Since when a node does not answer, by `time.monotonic`."""


@dataclass(frozen=True, slots=True)
class RunningChain:
    """An embedded chain that answers."""

    eid: int
    rpc_url: str
    pid: int


def start(home: Path) -> list[RunningChain]:
    """Start the three chains with their saved state, and wait until they answer. Raises DevnetError.

    Call it from the main thread only: the nodes are set to save and end when the thread that started them dies, so that
    they do not outlive a `kill -9` of the server.
    """
    if threading.current_thread() is not threading.main_thread():
        raise DevnetError("Start embedded chains from the main thread.")
    folder = home / "chains"
    folder.mkdir(parents=True, exist_ok=True)
    command = str(binary(home))
    for chain in EMBEDDED.values():
        _end_stale(folder, chain.eid)
    ports, running = _ports(home), runtime.part(NodeProcesses).running
    try:
        for chain in EMBEDDED.values():
            running[chain.eid] = _launch(command, folder, chain, ports[chain.eid])
        for chain in EMBEDDED.values():
            _await(command, folder, chain, ports[chain.eid])
    except BaseException:
        stop()
        raise
    urls = {eid: f"http://127.0.0.1:{port}" for eid, port in ports.items()}
    node_urls.announce(urls)
    return [RunningChain(eid, url, running[eid].pid) for eid, url in urls.items()]


def stop(timeout: float = 10.0) -> None:
    """Stop the chains; they save their state first."""
    running, deadline = list(runtime.part(NodeProcesses).running.values()), time.monotonic() + timeout
    runtime.reset(NodeProcesses)
    node_urls.announce({})
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def revive() -> list[int]:
    """Restart dead nodes on the same port with their chains. Call `transactions.recover` for them afterwards.

    Call it from the main thread, like `start`. Raises DevnetError.
    """
    nodes = runtime.part(NodeProcesses)
    dead = [eid for eid, process in nodes.running.items() if process.poll() is not None and eid not in nodes.halted]
    for eid in dead:
        mark(settings().home, [eid])
        arguments = [str(part) for part in nodes.running[eid].args]  # type: ignore[union-attr]
        state = Path(arguments[arguments.index("--state") + 1])
        port = _port_of(nodes.running[eid])
        nodes.running[eid] = _launch(arguments[0], state.parent, EMBEDDED[eid], port)
        _await(arguments[0], state.parent, EMBEDDED[eid], port)
    return dead


def unrestored() -> list[int]:
    """Return the running chains that still lack what they lost."""
    running = runtime.part(NodeProcesses).running
    return [eid for eid, process in running.items() if process.poll() is None and node_urls.is_restoring(eid)]


def mark(home: Path, eids: Iterable[int]) -> None:
    """Let callers wait until `transactions.recover` has restored these chains."""
    for eid in eids:
        node_urls.restoring_file(home, eid).touch()


async def end_hanging() -> list[int]:
    """Kill the nodes that have not answered for a while, so that `revive` starts them again; return their chains."""
    return await asyncio.to_thread(_end_hanging)


def _end_hanging() -> list[int]:
    nodes, ended = runtime.part(NodeProcesses), []
    for eid, process in list(nodes.running.items()):
        if process.poll() is not None or eid in nodes.halted or _answers(EMBEDDED[eid], _port_of(process), 1.0):
            nodes.silent.pop(eid, None)
        elif time.monotonic() - nodes.silent.setdefault(eid, time.monotonic()) > HANGING:
            process.kill()
            process.wait()
            ended.append(eid)
    return ended


def _port_of(process: subprocess.Popen[bytes]) -> int:
    arguments = [str(part) for part in process.args]  # type: ignore[union-attr]
    return int(arguments[arguments.index("--port") + 1])


async def halt(eid: int) -> None:
    """Stop a chain until `resume`; it saves its state first."""
    nodes = runtime.part(NodeProcesses)
    nodes.halted.add(eid)
    process = nodes.running[eid]
    process.terminate()
    await asyncio.to_thread(process.wait, 10)


def resume(eid: int) -> None:
    """Restart a halted chain on the same port. Call it from the main thread, like `start`. Raises DevnetError."""
    runtime.part(NodeProcesses).halted.discard(eid)
    revive()


def _ports(home: Path) -> dict[int, int]:
    """Return a free port per chain, the remembered one if it is still free."""
    known = node_urls.remembered(home)
    ports = {eid: _free_port(known.get(eid, 0)) for eid in EMBEDDED}
    node_urls.ports_file(home).write_text(json.dumps(ports))
    return ports


def _free_port(wanted: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _launch(command: str, folder: Path, chain: Embedded, port: int) -> subprocess.Popen[bytes]:
    # Otherwise Anvil keeps older states in its user's home, and leaves them there when it is killed.
    states = folder / f"{chain.eid}.states"
    shutil.rmtree(states, ignore_errors=True)
    states.mkdir(mode=0o700)
    # Behind the machine only while the demo's year is created: a new chain begins then, an older one continues there.
    at = ["--timestamp", str(clock.moment())] if clock.offset() < 0 else []
    arguments = [
        command,
        *at,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--chain-id",
        str(chain.chain_id),
        "--accounts",
        "0",
        "--hardfork",
        "cancun",
        "--state",
        str(_state(folder, chain.eid)),
        "--state-interval",
        str(SAVE_EVERY),
        "--cache-path",
        str(states),
        "--max-persisted-states",
        str(STATES_ON_DISK),
        "--no-cors",
        "--threads",
        "1",
        "--silent",
    ]
    with (folder / f"{chain.eid}.log").open("wb") as log:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=_die_with_us(),
        )
    (folder / f"{chain.eid}.pid").write_text(str(process.pid))
    return process


def _state(folder: Path, eid: int) -> Path:
    return folder / f"{eid}.json"


def _die_with_us() -> Callable[[], None] | None:
    """Ask Linux for a SIGTERM when this process dies in any way; on other systems the pid files are used to clean
    up."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _await(command: str, folder: Path, chain: Embedded, port: int) -> None:
    """Wait for the answer. A state file truncated by a crash is set aside; `recover` replays what it had."""
    if _answers(chain, port):
        return
    state, running = _state(folder, chain.eid), runtime.part(NodeProcesses).running
    if running[chain.eid].poll() is not None and state.exists():
        state.replace(state.with_suffix(".broken"))
        running[chain.eid] = _launch(command, folder, chain, port)
        if _answers(chain, port):
            return
    lines = (folder / f"{chain.eid}.log").read_text(errors="replace").strip().splitlines() or ["it printed nothing"]
    raise DevnetError(f"The embedded chain {chain.name} does not start: {lines[-1]}")


def _answers(chain: Embedded, port: int, timeout: float = 10.0) -> bool:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}", body, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline, process = time.monotonic() + timeout, runtime.part(NodeProcesses).running[chain.eid]
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with opener.open(request, timeout=1) as response:
                return int(json.load(response)["result"], 16) == chain.chain_id
        except (OSError, ValueError, KeyError):
            time.sleep(0.01)
    return False


def _end_stale(folder: Path, eid: int) -> None:
    """End a node left behind by an earlier server, identified by its pid and its state file."""
    path = folder / f"{eid}.pid"
    try:
        pid = int(path.read_text())
    except (FileNotFoundError, ValueError):
        return
    for number, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 2.0)):
        if _is_ours(pid, _state(folder, eid)):
            os.kill(pid, number)
        deadline = time.monotonic() + patience
        while _is_ours(pid, _state(folder, eid)) and time.monotonic() < deadline:
            time.sleep(0.01)
    path.unlink(missing_ok=True)


def _is_ours(pid: int, state: Path) -> bool:
    """Return whether the process runs our state file; another program with the same pid is left alone."""
    reply = (
        subprocess.run(["ps", "-o", "stat=,args=", "-p", str(pid)], capture_output=True, text=True, check=False)
        if not Path("/proc").exists()
        else None
    )
    if reply is not None:
        return str(state) in reply.stdout and not reply.stdout.strip().startswith("Z")
    try:
        return str(state).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
