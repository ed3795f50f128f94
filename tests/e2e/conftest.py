"""Fixtures of the browser tests: one started Signum with its demo, and a fresh browser for each test.

Runs in a separate pytest process: Playwright's synchronous interface does not work with an event loop.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import httpx
import psycopg
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    BrowserType,
    ConsoleMessage,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from backend.core.connections.embedded import outside_url
from tests.support.browser import FLAGS, chromium
from tests.support.server import free_port

START_SECONDS = 480
LOAD = 15_000
"""Milliseconds that a page may take to load on a busy machine."""


TOKEN_SECONDS = 600
"""How long an access token is used: it expires after 15 minutes, and the suite runs longer."""


@dataclass(frozen=True)
class Person:
    """A person of the demo."""

    email: str
    password: str
    role: str


class Signum:
    """The started server: its URL, its people, and its API for preparations."""

    def __init__(self, home: Path, url: str | None = None) -> None:
        self.home = home
        self.demo: dict[str, Any] = json.loads((home / "demo.json").read_text())
        self.url = (url or str(self.demo["base_url"]).removesuffix("/v1")).rstrip("/")
        self.organization = str(self.demo["organization_id"])
        self.people = [Person(u["email"], u["password"], u["role"]) for u in self.demo["users"]]
        self._http = httpx.Client(base_url=f"{self.url}/v1", timeout=30, trust_env=False)
        self._tokens: dict[str, tuple[str, float]] = {}

    def person(self, role: str = "admin") -> Person:
        """Return the first person with a role."""
        return next(person for person in self.people if person.role == role)

    def call(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        role: str = "admin",
        person: Person | None = None,
        **params: Any,
    ) -> Any:
        """Call the API as a person (by default the first of a role); `{org}` in the path is the demo's organization.
        Fail the test on a 4xx."""
        answer = self._http.request(
            method, path.replace("{org}", self.organization), json=json, params=params,
            headers={"authorization": f"Bearer {self._token(person or self.person(role))}"},
        )  # fmt: skip
        assert answer.status_code < 400, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def keep_proven(self, person: Person) -> None:
        """Let the person's sessions count as proven for a day: on a busy machine a test can take over 5 minutes."""
        self.set_proofs(person, "proven_at = now() + interval '1 day'")

    def forget_proofs(self, person: Person) -> None:
        """Let the person's sessions have signed in six minutes ago, without a proof since."""
        self.set_proofs(person, "signed_in_at = now() - interval '6 minutes', proven_at = null")

    def set_proofs(self, person: Person, times: LiteralString) -> None:
        """Set columns of the person's sessions."""
        with psycopg.connect(outside_url(self.home)) as connection:
            query = f"update sessions s set {times} from users u where u.id = s.user_id and u.email = %s"
            connection.execute(query, [person.email])

    def second_admin(self) -> tuple[Person, str]:
        """Another admin of the demo's organization, whom the first one did not appoint and who can therefore approve
        their requests; and the id of the membership, which the test removes. The demo requires a second person for
        appointments: first the officer agrees, then the first admin."""
        first, helper, second = [person for person in self.people if person.role == "admin"][:3]
        added = self._add_admin(helper, by=first, agreed_by=self.person("compliance_officer"))
        made = self._add_admin(second, by=helper, agreed_by=first)
        self.call("DELETE", f"/orgs/{{org}}/members/{added}", person=helper)
        return second, made

    def _add_admin(self, person: Person, *, by: Person, agreed_by: Person) -> str:
        user_id = self.call("GET", "/auth/me", person=person)["user"]["id"]
        body = {"user_id": user_id, "role": "admin"}
        asked = self.call("POST", "/orgs/{org}/members", body, person=by)["requestId"]
        self.agree(asked, agreed_by)
        members = self.call("GET", "/orgs/{org}/members", limit=100)["members"]
        return str(next(one["id"] for one in members if one["user"]["id"] == user_id and one["status"] == "active"))

    def agree(self, request_id: str, person: Person) -> None:
        """Approve a request of the demo's organization as its second person, and wait for it."""
        approvals = self.call("GET", "/orgs/{org}/approvals", person=person, status="pending")["approvals"]
        approval = next(one["id"] for one in approvals if one["request_id"] == request_id)
        self.call("POST", f"/orgs/{{org}}/approvals/{approval}/approve", person=person)
        self.wait_for(request_id)

    def wait_for(self, request_id: str) -> None:
        """Wait for a request of the demo's organization to succeed."""
        deadline, status = time.monotonic() + 60, ""
        while status != "succeeded":
            assert time.monotonic() < deadline, status
            status = self.call("GET", f"/orgs/{{org}}/requests/{request_id}")["status"]

    @contextmanager
    def known(self) -> Iterator[dict[str, str]]:
        """The IDs of `records`; the webhook endpoint is deleted afterwards."""
        known = self.records()
        yield known
        self.call("DELETE", f"/orgs/{{org}}/webhooks/{known['webhook']}")

    def records(self) -> dict[str, str]:
        """Return the IDs of one record of each kind: those of the demo, and a new webhook endpoint."""

        def first(path: str, **params: Any) -> str:
            (records,) = (v for v in self.call("GET", path, **params).values() if isinstance(v, list))
            return str(records[0]["id"])

        assets = self.call("GET", "/orgs/{org}/assets", limit=100)["assets"]
        members = self.call("GET", "/orgs/{org}/members", limit=100)["members"]
        endpoint = {"url": "https://hooks.northwind.example/signum", "event_types": ["asset.updated"]}
        return {
            "org": self.organization,
            "asset": next(asset["id"] for asset in assets if asset["symbol"] == "NREF"),
            "market": first("/orgs/{org}/markets", status="active"),
            "distribution": first("/orgs/{org}/distributions", status="active"),
            "request": first("/orgs/{org}/requests", status="failed"),
            "party": first("/identity/parties", status="verified", organization_id=self.organization),
            "wallet": first("/orgs/{org}/wallets"),
            "webhook": str(self.call("POST", "/orgs/{org}/webhooks", endpoint)["id"]),
            "membership": next(member["id"] for member in members if member["role"] == "client"),
        }

    def _token(self, person: Person) -> str:
        """Return an access token that is valid for at least another five minutes of its fifteen."""
        token, signed_in = self._tokens.get(person.email, ("", -TOKEN_SECONDS))
        if time.monotonic() - signed_in < TOKEN_SECONDS:
            return token
        body = {"email": person.email, "password": person.password}
        answer = self._http.post("/auth/login", json=body)
        assert answer.status_code == 200, answer.text
        self._tokens[person.email] = str(answer.json()["access_token"]), time.monotonic()
        return self._tokens[person.email][0]

    def mail(self, to: str) -> str:
        """Return the newest email to an address, as the operator reads it on this machine."""
        run = [sys.executable, "-m", "backend.cli", "outbox", "--to", to, "--limit", "1"]
        env = {k: v for k, v in os.environ.items() if k != "DATABASE_URL"} | {"SIGNUM_HOME": str(self.home)}
        return subprocess.run(run, env=env, capture_output=True, text=True, timeout=60, check=True).stdout

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


@contextmanager
def serving(home: Path, *, port: int | None = None, **environment: str) -> Iterator[Signum]:
    """Run `signum serve` with a separate data folder and demo, on a free port if none is given."""
    port = port or free_port()
    given = {
        k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "HOST", "SIGNUM_RPC_URLS", "SIGNUM_PUBLIC_URL")
    }
    env = given | {"PORT": str(port), "SIGNUM_HOME": str(home), "SIGNUM_DEMO": "1", "SIGNUM_RATE_LIMITS": "off"}
    log = home / "serve.log"
    with log.open("w") as out:
        command = [sys.executable, "-m", "backend.cli", "serve"]
        server = subprocess.Popen(command, env=env | environment, stdout=out, stderr=out)
        try:
            until_ready(server, f"http://localhost:{port}/v1/ready", log)
            started = Signum(home)
            yield started
            started.close()
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait(10)


@pytest.fixture(scope="session")
def signum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signum]:
    """A server whose demo has no year before its present."""
    with serving(tmp_path_factory.mktemp("signum"), SIGNUM_DEMO_HISTORY="0") as started:
        yield started


@pytest.fixture(scope="module")
def ids(signum: Signum) -> Iterator[dict[str, str]]:
    """The ID of one record of each kind."""
    with signum.known() as known:
        yield known


def until_ready(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Wait for 200. If the process ends or takes too long, fail with its output."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            server.wait(0.2)
            break
        except subprocess.TimeoutExpired:
            if _answers(url):
                return
    pytest.fail(f"Signum did not get ready:\n{log.read_text()[-4000:]}", pytrace=False)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="session")
def chromium_type() -> Iterator[BrowserType]:
    """Chromium, not yet started."""
    with sync_playwright() as playwright:
        yield playwright.chromium


@pytest.fixture(scope="session")
def shared_browser(chromium_type: BrowserType) -> Iterator[Browser]:
    """A second Chromium, in which a test can give other people their own contexts."""
    browser = chromium_type.launch(executable_path=chromium(), args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def shared_context(chromium_type: BrowserType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """The context of all consoles. It keeps its cache, so that a page's scripts are compiled once for all tests."""
    context = chromium_type.launch_persistent_context(
        tmp_path_factory.mktemp("chromium"), executable_path=chromium(), args=FLAGS,
        viewport={"width": 1440, "height": 960}, reduced_motion="reduce", locale="en-US",
    )  # fmt: skip
    yield context
    context.close()


def _forget_person(context: BrowserContext, url: str) -> None:
    """Remove everything that a browser remembers of a person, and keep the cache."""
    blank = context.new_page()
    for page in context.pages:
        if page is not blank:
            page.close()
    context.clear_cookies()
    context.clear_permissions()
    context.new_cdp_session(blank).send(
        "Storage.clearDataForOrigin", {"origin": url, "storageTypes": "local_storage,indexeddb,service_workers"}
    )


class Console:
    """The console in one browser: the page, and common actions."""

    def __init__(self, page: Page, signum: Signum) -> None:
        self.page, self.signum = page, signum
        self.errors: list[str] = []
        expect.set_options(timeout=LOAD)
        page.set_default_timeout(LOAD)
        page.set_default_navigation_timeout(LOAD)
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))
        page.on("request", self._watch)

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _watch(self, request: Any) -> None:
        if request.url.startswith("http") and not request.url.startswith(self.signum.url):
            self.errors.append(f"loads from outside: {request.url}")

    def sign_in(
        self, person: Person | None = None, path: str | None = None, organization: str | None = None
    ) -> "Console":
        """Sign in without the form, by default as the admin, and open a path below an organization, by default the
        demo's.

        The browser's context keeps the session's cookie, as it would after the form.
        """
        self.begin_session(person or self.signum.person())
        if path is not None:
            return self.goto(path, organization)
        self.page.goto(self.signum.url)
        self.page.wait_for_url("**/o/**")
        return self.hydrated()

    def begin_session(self, person: Person) -> None:
        """Sign in without the form, and open no page."""
        answer = self.page.context.request.post(
            f"{self.signum.url}/session",
            form={"email": person.email, "password": person.password},
            headers={"origin": self.signum.url},
            max_redirects=0,
        )
        assert answer.headers["location"] == "/", answer.headers["location"]
        self.signum.keep_proven(person)

    def sign_in_as_client(self, person: Person) -> "Console":
        """Sign in an investor without the form, and wait for their page."""
        self.begin_session(person)
        self.page.goto(self.signum.url)
        self.page.wait_for_url("**/i/**")
        return self.hydrated()

    def goto(self, path: str, organization: str | None = None) -> "Console":
        """Open a page of an organization, by default the demo's: `organizations`, `assets/…`."""
        self.page.goto(f"{self.signum.url}/o/{organization or self.signum.organization}/{path}")
        return self.hydrated()

    def hydrated(self) -> "Console":
        """Wait until the page's script runs."""
        expect(self.page.locator("[data-hydrated=true]")).to_be_attached(timeout=LOAD)
        return self

    def choose(self, box: Locator, on: bool = True) -> "Console":
        """Tick a box or pick a radio button whose value the server holds: it changes once the response arrives."""
        expect(box).to_be_checked(checked=not on)
        box.click()
        expect(box).to_be_checked(checked=on)
        return self

    def heading(self, name: str) -> "Console":
        """Wait for the page's title."""
        expect(self.page.get_by_role("heading", level=1, name=name, exact=True)).to_be_visible(timeout=LOAD)
        return self


@pytest.fixture
def console(shared_context: BrowserContext, signum: Signum) -> Iterator[Console]:
    """A console without a signed-in person. Any error in the browser's own console fails the test."""
    console = Console(shared_context.new_page(), signum)
    yield console
    _forget_person(shared_context, signum.url)
    assert console.errors == []
