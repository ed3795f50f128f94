"""Many concurrent sockets, as an attacker opens them: idle ones, bodies that never end, and tabs of the console."""

import base64
import json
import os
import resource
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

PATIENCE = 60.0


def many_files() -> None:
    """Raise this process's limit of open files to its maximum."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connected(port: int, first: bytes = b"") -> socket.socket:
    """A connection that has sent its first bytes."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.sendall(first)
    return connection


@contextmanager
def held(port: int, count: int, first: bytes = b"") -> Iterator[list[socket.socket]]:
    """A number of connections, open until the end of the block."""
    many_files()
    with ExitStack() as stack:
        yield [stack.enter_context(connected(port, first)) for _ in range(count)]


def slow_body(path: str = "/v1/auth/login", length: int = 1_000) -> bytes:
    """The head of a request and the first byte of its body."""
    kind = "application/json" if path.startswith("/v1/auth") else "application/x-www-form-urlencoded"
    head = ("Host: localhost", f"Content-Type: {kind}", f"Content-Length: {length}")
    return "\r\n".join((f"POST {path} HTTP/1.1", *head, "", "{")).encode()


def handshake(token: str, cookie: str = "", origin: str = "") -> bytes:
    """The handshake of a console tab; a browser sends its origin."""
    key = base64.b64encode(os.urandom(16)).decode()
    said = f"Cookie: {cookie}\r\n" + (f"Origin: {origin}\r\n" if origin else "")
    return (
        f"GET /_event/?EIO=4&transport=websocket&token={token} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n{said}\r\n"
    ).encode()


def status(connection: socket.socket) -> int:
    """Return the status of the response, or 0 if the connection ends without one."""
    connection.settimeout(PATIENCE)
    line = b""
    while not line.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            break
        line += byte
    return int(line.split()[1]) if line else 0


def health(port: int) -> tuple[int, float]:
    """Return status and seconds of `/v1/health` on a separate connection."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return status(connection), time.monotonic() - began


class Tab:
    """A tab of the console that speaks Socket.IO directly."""

    def __init__(self, port: int, token: str, cookie: str = "") -> None:
        self.connection = connected(port, handshake(token, cookie))
        self.status = status(self.connection)
        self._kept = b""

    def __enter__(self) -> "Tab":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def send(self, text: str) -> None:
        """A text frame, masked as a client's are."""
        body, mask = text.encode(), os.urandom(4)
        if len(body) > 0xFFFF:
            size = struct.pack("!BQ", 0x80 | 127, len(body))
        elif len(body) > 125:
            size = struct.pack("!BH", 0x80 | 126, len(body))
        else:
            size = struct.pack("!B", 0x80 | len(body))
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(body))
        self.connection.sendall(b"\x81" + size + mask + masked)

    def join(self) -> None:
        """Connect to the console's namespace and wait for its confirmation."""
        self.send("40/_event,")
        self.until("40/_event,")

    def event(self, name: str, payload: object) -> None:
        """An event of the page."""
        data = {"name": name, "payload": payload, "router_data": {"pathname": "/sign-in", "query": {}}}
        self.emit("event", data)

    def emit(self, kind: str, *data: object) -> None:
        """Any event of the socket."""
        self.send(f"42/_event,{json.dumps([kind, *data])}")

    def until(self, words: str) -> str:
        """Read frames until one contains these words."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            text = self._frame()
            if text == "2":  # a ping of engine.io
                self.send("3")
            if words in text:
                return text
        raise AssertionError(f"{words} not received")

    def _frame(self) -> str:
        head = self._bytes(2)
        size = head[1] & 0x7F
        if size == 126:
            size = struct.unpack("!H", self._bytes(2))[0]
        elif size == 127:
            size = struct.unpack("!Q", self._bytes(8))[0]
        return self._bytes(size).decode(errors="replace")

    def _bytes(self, count: int) -> bytes:
        while len(self._kept) < count:
            more = self.connection.recv(65_536)
            if not more:
                raise AssertionError("the socket has ended")
            self._kept += more
        found, self._kept = self._kept[:count], self._kept[count:]
        return found
