"""An installation behind a company's own authority: the client trusts what SSL_CERT_FILE names."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from backend.client import Repeating, SignumClient
from tests.support.certificate import self_signed, serving

ONCE = Repeating(times=0)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate that no public authority has signed."""
    return self_signed(tmp_path)


@pytest_asyncio.fixture
async def url(certificate: Path) -> AsyncIterator[str]:
    """A server with that certificate, which has no presets."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"presets": []}'
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=serving(certificate)) as server:
        yield f"https://localhost:{server.sockets[0].getsockname()[1]}"


async def test_certificate_of_the_file_is_trusted_and_no_other(
    url: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        await SignumClient(url, repeating=ONCE).list_presets()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert (await SignumClient(url, repeating=ONCE).list_presets()).presets == []


@pytest.mark.parametrize("content", [None, "", "not a certificate"])
async def test_file_without_a_certificate_is_named(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with pytest.raises(httpx.ConnectError, match=f"SSL_CERT_FILE names {file}"):
        await SignumClient(url, repeating=ONCE).list_presets()
