"""Routing and headers of the console."""

import base64
import hashlib

import httpx
import pytest
from starlette.middleware.cors import CORSMiddleware

from backend import web
from backend.core.settings import settings

SCRIPT = "window.early = 1;"


@pytest.fixture
def build(tmp_path):
    (tmp_path / "sign-in").mkdir()
    (tmp_path / "sign-in" / "index.html").write_text(f"<script>{SCRIPT}</script>")
    (tmp_path / "sign-in.html").write_text(f'<script src="/a.js"></script><script>{SCRIPT}</script>')
    (tmp_path / "index.html").write_text("<p>home</p>")
    (tmp_path / "__spa-fallback.html").write_text("<p>any</p>")
    return tmp_path


def named(name):
    async def application(scope, receive, send):
        headers = [(b"cache-control", b"private"), (b"x-path", scope["path"].encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": name.encode()})

    return application


@pytest.fixture
async def client(build):
    served = web.front(named("api"), web.edge(build)(named("console")))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=served), base_url="http://localhost") as http:
        yield http


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/session", "/session/end"])
async def test_api_paths_are_passed_to_the_api_unchanged(client, path):
    answer = await client.get(path)
    assert answer.text == "api"
    assert "content-security-policy" not in answer.headers
    assert answer.headers["cache-control"] == "private"


@pytest.mark.parametrize("path", ["/v1x", "/sessions", "/o/1/overview", "/assets/a.js"])
async def test_other_paths_are_served_by_the_console(client, path):
    assert (await client.get(path)).text == "console"


@pytest.mark.parametrize(("path", "file"), [("/sign-in", "/sign-in.html"), ("/sign-in/", "/sign-in.html")])
async def test_prerendered_page_is_served_at_its_own_path(client, path, file):
    assert (await client.get(path)).headers["x-path"] == file


@pytest.mark.parametrize(("cookie", "status"), [("", 302), ("other=1", 302), ("a=1; signum_session=x", 200)])
async def test_visitor_of_the_root_without_a_session_is_sent_to_the_sign_in_page(client, cookie, status):
    answer = await client.get("/", headers={"cookie": cookie} if cookie else {})
    assert answer.status_code == status
    assert answer.headers.get("location") == ("/sign-in" if status == 302 else None)
    assert answer.headers["cache-control"] == "no-cache"
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize("path", ["/_upload", "/_upload/secret.pdf", "/_all_routes", "/auth-codespace"])
async def test_unused_reflex_endpoints_are_closed(client, path):
    assert (await client.get(path)).headers["x-path"] == "/_"


async def test_request_without_host_is_rejected(client):
    request = client.build_request("GET", "/")
    del request.headers["host"]
    answer = await client.send(request)
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert (await client.get("/", headers=[("host", "a"), ("host", "b")])).status_code == 400


async def test_preflight_of_the_api_reaches_the_api_before_the_console_answers_it(build):
    console = CORSMiddleware(web.edge(build)(named("console")), allow_origins=["http://localhost:8000"])
    transport = httpx.ASGITransport(app=web.front(named("api"), console))
    asked = {"origin": "http://localhost:8000", "access-control-request-method": "PATCH"}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        answer = await http.options("/v1/orgs", headers=asked)
    assert answer.text == "api"
    assert not [name for name in answer.headers if name.startswith("access-control-")]


async def test_redirect_does_not_repeat_the_host_header(build):
    async def moved(scope, receive, send):
        headers = [(b"location", b"http://evil.example/o/1?a=b")]
        await send({"type": "http.response.start", "status": 307, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    served = web.edge(build)(moved)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=served), base_url="http://evil.example") as http:
        assert (await http.get("/o/1/")).headers["location"] == "/o/1?a=b"


async def test_csp_allows_only_inline_scripts_of_the_build(client):
    policy = (await client.get("/")).headers["content-security-policy"]
    allowed = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{allowed}';" in policy
    assert "default-src 'none'" in policy
    assert "object-src" not in policy, "unnamed directives fall back to default-src"
    assert "base-uri 'none'" in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    ("public_url", "reply"), [("https://signum.example", "max-age=31536000; includeSubDomains"), (None, None)]
)
async def test_hsts_is_sent_when_the_console_uses_https(build, monkeypatch, public_url, reply):
    monkeypatch.setattr(settings(), "public_url", public_url)
    served = web.front(named("api"), web.edge(build)(named("console")))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=served), base_url="http://localhost") as http:
        answer = await http.get("/")
    assert answer.headers.get("strict-transport-security") == reply
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("path", "kept"),
    [("/assets/root-1a2b.js", True), ("/assets/a.woff2", True), ("/assets/a.svg", False), ("/style/base.css", False)],
)
async def test_hashed_files_are_the_only_immutable_ones(client, path, kept):
    assert ("immutable" in (await client.get(path)).headers["cache-control"]) is kept
