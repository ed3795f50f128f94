"""Text of a stream (Server-Sent Events, WHATWG HTML). Pure functions."""

from typing import Any

import orjson

RETRY = (2_000, 5_000)
"""Milliseconds after which a client connects again, at random within these: not all of them together."""


def event(id_: str, data: bytes) -> bytes:
    """Return an event with JSON without line breaks."""
    return b"id: %b\ndata: %b\n\n" % (id_.encode(), data)


def opening(milliseconds: int) -> bytes:
    """Return the beginning of a stream: the client knows that nothing on the way holds it back."""
    return b": connected\nretry: %d\n\n" % milliseconds


def heartbeat(id_: str) -> bytes:
    """Return a comment that keeps the connection open. Its ID, without an event, moves the place to resume from."""
    return b": heartbeat\n" + (b"id: %b\n\n" % id_.encode() if id_ else b"\n")


def ending(reason: str, milliseconds: int) -> bytes:
    """Return the end of a stream that the client resumes."""
    return b": %b\nretry: %d\n\n" % (reason.encode(), milliseconds)


def problem(body: dict[str, Any]) -> bytes:
    """Return the last event of a stream whose caller may no longer read it."""
    return b"event: problem\ndata: %b\n\n" % orjson.dumps(body)
