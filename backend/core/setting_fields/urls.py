"""Settings that are URLs. No message contains the URL, which may contain a password."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

REDIS = ("redis", "rediss", "redis+unix")
POSTGRES = re.compile(r"(postgresql|postgres)(\+psycopg)?://\S+")


def _postgres(url: str) -> str:
    """Check that a URL is one of PostgreSQL."""
    if not url:
        return url
    if POSTGRES.fullmatch(url) is None:
        raise ValueError("This is not a URL of PostgreSQL. Write postgresql://user:password@host:5432/database")
    # Here, because most commands of users need no database.
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        port = make_url(url).port
    except (ArgumentError, ValueError):
        raise ValueError(
            "This URL is malformed. Percent-encode special characters of the user and the password"
        ) from None
    if port is not None and not 0 < port < 65_536:
        raise ValueError("The port of this URL is not between 1 and 65535")
    return url


def _redis(url: str) -> str:
    """Check that a URL is one of Redis."""
    if not url:
        return url
    parts = _parts(url)
    if parts is None or parts[0] not in REDIS or not parts[1]:
        raise ValueError(
            "This is not a URL of Redis. Write redis://host:6379, rediss://host:6379 or redis+unix:///path"
        )
    return url


def _http(url: str) -> str:
    """Check that a URL is an http(s) origin."""
    if not url:
        return url
    parts = _parts(url)
    if parts is None or parts[0] not in ("http", "https") or not parts[2] or parts[1].rstrip("/") != parts[2]:
        raise ValueError("This is not an origin. Write https://host, without a path")
    return url


def _any_http(url: str) -> str:
    """Check that a URL is one of http(s)."""
    parts = _parts(url)
    if url and (parts is None or parts[0] not in ("http", "https") or not parts[2]):
        raise ValueError("This is not a URL of http or https. Write https://host/path")
    return url


def _parts(url: str) -> tuple[str, str, str] | None:
    """Return the scheme of a URL, all after it, and its host with port; None where it is malformed."""
    try:
        split = urlsplit(url)
        if split.port == 0 or any(character.isspace() for character in url):
            return None
    except ValueError:
        return None
    rest = url.partition("://")[2]
    return split.scheme, rest, split.netloc.rpartition("@")[2]


PostgresUrl = Annotated[str, AfterValidator(_postgres)]
RedisUrl = Annotated[str, AfterValidator(_redis)]
Origin = Annotated[str, AfterValidator(_http)]
HttpUrl = Annotated[str, AfterValidator(_any_http)]
