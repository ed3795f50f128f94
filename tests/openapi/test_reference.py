"""The reference page: complete, self-contained, and under a strict policy."""

import base64
import hashlib
import re
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest_asyncio

from backend.core.settings import settings
from backend.server import runtime
from tests.openapi.operations import CASES, DOCUMENT

VOID = {"meta", "wbr", "br", "link", "img", "input"}


class Page(HTMLParser):
    """Parse the parts of a page; fail if a closing tag has no opening tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.tags.add(tag)
        self.open += [] if tag in VOID else [tag]
        self.ids += [known["id"] or ""] if "id" in known else []
        self.targets += [v or "" for n, v in attrs if n in ("href", "src", "action", "data")]
        assert not any(n.startswith("on") or n == "style" for n, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client, without a credential."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client


async def test_reference_document_is_public(http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == DOCUMENT
    asked = await http.get("/v1/openapi.json", headers={"accept": "application/vnd.oai.openapi+json"})
    assert asked.headers["content-type"].startswith("application/vnd.oai.openapi+json")


async def test_reference_page_is_well_formed_and_loads_nothing(http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(answer.text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert {str(c) for c in CASES} <= set(page.ids)
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object"})
    assert all(t.startswith(("#", "/")) for t in page.targets)
    assert {t[1:] for t in page.targets if t.startswith("#")} <= set(page.ids)


async def test_reference_page_policy_allows_only_its_own_style(http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/docs")
    policy = answer.headers["content-security-policy"]
    styles = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert len(styles) == 1
    digest = base64.b64encode(hashlib.sha256(styles[0].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "url(" not in styles[0]
    assert "@import" not in styles[0]


async def test_reference_page_shows_a_call_for_every_operation(http: httpx.AsyncClient) -> None:
    text = (await http.get("/v1/docs")).text
    assert text.count("curl -X ") == len(CASES)
    deploy = text[text.index('id="deploy_market"') :].partition("</article>")[0]
    for expected in ("assets:write", "market_factory_address", "40362", "required", "Idempotency-Key", "202", "409"):
        assert expected in deploy
