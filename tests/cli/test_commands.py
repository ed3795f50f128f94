"""The real `signum` as a process, against the real API on a port: output, stored files, exit codes."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
import pytest_asyncio

from backend.cli import credentials
from backend.cli.bootstrap import found
from backend.cli.connection import KeptClient
from backend.core.errors import CannotStart
from backend.core.settings import settings
from tests.conftest import PASSWORD, World
from tests.support.firm import SEPOLIA, Firm
from tests.support.server import environment, free_port, served

CHECKOUT = Path(__file__).resolve().parents[2]
DONE, CANNOT, USAGE, REFUSED, SIGNED_OUT, FAILED, STILL_RUNNING, UNREACHABLE = range(8)
BASE = 40245


@pytest_asyncio.fixture(scope="session")
async def url(api: Any) -> AsyncIterator[str]:
    async with served(api) as url:
        yield url


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """A person's terminal: their configuration folder and environment."""

    def __init__(self, url: str, config: Path, **more: str) -> None:
        self.config = config
        self._environment = environment(url, XDG_CONFIG_HOME=str(config), COLUMNS="200", **more)

    async def __call__(self, *arguments: object, stdin: str = "", **more: str) -> Ended:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "backend.cli", *map(str, arguments)),
            cwd=CHECKOUT,
            env=self._environment | more,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(stdin.encode()), 120)
        return Ended(process.returncode or 0, out.decode(), err.decode())

    @property
    def kept(self) -> Path:
        return self.config / "signum" / "credentials.json"


@pytest.fixture
def person(url: str, tmp_path: Path) -> Shell:
    return Shell(url, tmp_path)


@pytest.fixture
async def firm(world: World) -> Firm:
    return await Firm.found(world, name="Northwind [bold]")


@pytest.fixture
def program(url: str, tmp_path: Path, firm: Firm) -> Shell:
    return Shell(url, tmp_path, SIGNUM_API_KEY=firm.key["x-api-key"])


@pytest.mark.long
async def test_login_command_signs_in_and_logout_signs_out(person: Shell, firm: Firm, world: World, url: str) -> None:
    await world.organization("Below", parent=firm.id)
    signed_in = await person("login", "--email", firm.admin.email, stdin=f"{PASSWORD}\n")
    assert signed_in.code == DONE, signed_in.err
    assert firm.admin.email in signed_in.out
    assert PASSWORD not in signed_in.out + signed_in.err
    assert stat.S_IMODE(person.kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(person.kept.parent.stat().st_mode) == 0o700
    tree = await person("orgs", "tree")
    assert (tree.code, tree.err) == (DONE, "")
    assert "Northwind [bold]" in tree.out
    assert "  Below" in tree.out
    kept = json.loads(person.kept.read_text())
    assert (await person("logout")).code == DONE
    assert not person.kept.exists()
    ended = await person("orgs", "tree")
    assert (ended.code, ended.out) == (CANNOT, "")
    assert "signum login" in ended.err
    person.kept.write_text(json.dumps(kept))
    assert (await person("orgs", "tree")).code == SIGNED_OUT, "the session has ended at the installation too"


@pytest.mark.long
async def test_login_with_a_wrong_password_stores_nothing(person: Shell, firm: Firm) -> None:
    refused = await person("login", "--email", firm.admin.email, SIGNUM_PASSWORD="wrong")
    assert refused.code == SIGNED_OUT
    assert "Incorrect email or password." in refused.err
    assert not person.kept.exists()


@pytest.mark.long
async def test_concurrent_commands_refresh_one_session(
    person: Shell, firm: Firm, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refresh token works once; parallel commands must not use it twice."""
    await person("login", "--email", firm.admin.email, SIGNUM_PASSWORD=PASSWORD)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.config))
    kept = credentials.read()
    assert kept
    stale = credentials.Kept(**json.loads(person.kept.read_text()) | {"access_token": "eyJ.ended.token"})
    credentials.write(stale)
    clients = [KeptClient(stale) for _ in range(4)]
    for client in clients:
        assert (await client.get_me()).user.email == firm.admin.email
        await client.close()
    renewed = credentials.read()
    assert renewed
    assert renewed.refresh_token != kept.refresh_token
    assert (await person("orgs", "tree")).code == DONE


@pytest.mark.long
async def test_assets_command_prints_tables_and_json(program: Shell, firm: Firm) -> None:
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    made = await firm.post("/assets", {"name": "Harbour bond", "symbol": "HBR", "chain_eid": SEPOLIA})
    watched = await program("requests", "watch", made["requestId"])
    assert watched.code == DONE, watched.err
    assert "✓" in watched.err
    assert "0x" in watched.err, "its transactions"
    table = await program("assets", "list")
    assert "HBR" in table.out
    assert "Harbour bond" in table.out
    [record] = (await program("assets", "list", "--json")).json
    assert record["id"] == made["assetId"]

    plan = await program("assets", "update", "hbr", "--kyc-level", 2, "--dry-run")
    assert plan.code == DONE, plan.err
    assert (await firm.get(f"/assets/{made['assetId']}"))["required_kyc_level"] == 0
    changed = await program("assets", "update", "hbr", "--kyc-level", 2, "--block", "USA", "--wait", "--json")
    assert changed.code == DONE, changed.err
    assert changed.json["status"] == "succeeded"
    asset = await firm.get(f"/assets/{made['assetId']}")
    assert (asset["required_kyc_level"], asset["compliance_rules"]["blocked_countries"]) == (2, ["USA"])

    assert (await program("assets", "update", "hbr")).code == CANNOT
    assert (await program("assets", "update", "NONE", "--kyc-level", 1)).code == CANNOT
    unfit = await program("assets", "update", "hbr", "--regulation", "reg_x")
    assert unfit.code == REFUSED
    assert "regulation_type" in unfit.err


@pytest.mark.long
async def test_events_command_prints_events_as_they_happen(program: Shell, firm: Firm) -> None:
    watching = asyncio.create_task(program("events", "watch", "--after", 0, "--count", 2, "--type", "wallet.created"))
    first = await firm.post("/wallets", {"label": "Treasury"})
    await firm.enable(SEPOLIA)
    second = await firm.post("/wallets", {"label": "Fees"})
    printed = await watching
    assert printed.code == DONE, printed.err
    assert [line.split("id=")[1].split()[0] for line in printed.out.splitlines()] == [first["id"], second["id"]]
    again = await program("events", "watch", "--after", 0, "--count", 3, "--json")
    events = [json.loads(line) for line in again.out.splitlines()]
    assert [event["type"] for event in events] == ["wallet.created", "chain.enabled", "wallet.created"]
    assert (await program("events", "watch", "--after", 99_999_999)).code == REFUSED
    assert (await program("events", "watch", "--type", "wallet.lost")).code == CANNOT


@pytest.mark.long
async def test_market_deploy_command_waits_for_the_market(program: Shell, firm: Firm) -> None:
    for eid in (SEPOLIA, BASE):
        await firm.enable(eid)
    await firm.post("/wallets", {"label": "Treasury"})
    made = await firm.post("/assets", {"name": "Bond", "symbol": "BND", "chain_eid": SEPOLIA})
    await program("requests", "watch", made["requestId"])
    plan = await program("markets", "deploy", "BND", "--chain", BASE, "--dry-run")
    assert plan.code == DONE, plan.err
    done = await program("markets", "deploy", "BND", "--chain", BASE, "--wait")
    assert done.code == DONE, done.err
    assert "done" in done.out
    [market] = (await firm.get("/markets"))["markets"]
    assert (market["status"], market["chain_eid"]) == ("active", BASE)
    late = await program("markets", "deploy", "BND", "--chain", SEPOLIA, "--wait", "--timeout", 0)
    assert late.code == STILL_RUNNING
    assert "still running" in late.err


@pytest.mark.long
async def test_refused_command_prints_what_is_missing_and_its_resolution(program: Shell, firm: Firm) -> None:
    await firm.enable(SEPOLIA)
    party = await firm.admin.call(
        "POST", "/identity/parties", json={"name": "Ada", "country": "DEU", "organization_id": str(firm.id)}
    )
    refused = await program("attest", party["id"], "--chain", SEPOLIA)
    assert refused.code == REFUSED
    assert refused.out == ""
    assert "Prerequisites not met (409)" in refused.err
    assert "[x] party_exists" in refused.err
    assert "[ ] party_verified" in refused.err
    assert f"(POST {settings().base_url}/identity/parties/{party['id']}/verify)" in refused.err
    assert "urn:uuid:" in refused.err
    problem = json.loads((await program("attest", party["id"], "--chain", SEPOLIA, "--json")).err)
    assert problem["dependencyChain"] == ["party_exists", "party_verified", "chain_enabled", "attestation_eligible"]


@pytest.mark.long
async def test_attest_and_revoke_commands_work(url: str, tmp_path: Path, world: World) -> None:
    firm = await Firm.issuing(world, SEPOLIA)
    signum = Shell(url, tmp_path, SIGNUM_API_KEY=firm.key["x-api-key"])
    body = {"name": "Ada", "country": "DEU", "organization_id": str(firm.id), "wallet_address": "0x" + "12" * 20}
    party = await firm.admin.call("POST", "/identity/parties", json=body)
    await firm.admin.call("POST", f"/identity/parties/{party['id']}/verify", json={"kyc_level": 2})
    attested = await signum("attest", party["id"], "--chain", SEPOLIA, "--expires", "2031-01-01", "--wait", "--json")
    assert attested.code == DONE, attested.err
    attestation = await firm.get(f"/attestations/{attested.json['subject']['id']}")
    assert (attestation["status"], attestation["expires_at"]) == ("active", "2031-01-01T00:00:00.000000Z")
    revoked = await signum("revoke", attestation["id"], "--reason", "left", "--wait")
    assert revoked.code == DONE, revoked.err
    assert (await firm.get(f"/attestations/{attestation['id']}"))["status"] == "revoked"
    again = await signum("revoke", attestation["id"], "--reason", "left", "--wait")
    assert again.code == REFUSED


@pytest.mark.long
async def test_move_command_shows_the_plan_before_moving(person: Shell, firm: Firm, world: World) -> None:
    there = await world.organization("There", parent=firm.id)
    moving = await world.organization("Moving", parent=firm.id)
    await person("login", "--email", firm.admin.email, SIGNUM_PASSWORD=PASSWORD)
    stopped = await person("orgs", "move", moving, "--to", there, stdin="n\n")
    assert stopped.code == CANNOT
    assert "There" in stopped.out
    assert (await firm.admin.call("GET", f"/orgs/{moving}"))["parent_id"] == str(firm.id)
    moved = await person("orgs", "move", moving, "--to", there, "--yes", "--json")
    assert moved.json["parent_id"] == str(there)
    assert (await person("orgs", "move", firm.id, "--to", there, "--yes")).code == CANNOT
    assert (await person("orgs", "move", moving, "--to", moving, "--yes")).code == REFUSED
    nodes = (await person("orgs", "tree", "--json")).json
    assert [n["name"] for n in nodes] == ["Northwind [bold]", "There", "Moving"]


@pytest.mark.long
async def test_move_command_with_a_key_says_who_can_move(program: Shell, firm: Firm, world: World) -> None:
    there, moving = [await world.organization(name, parent=firm.id) for name in ("There", "Moving")]
    refused = await program("orgs", "move", moving, "--to", there, "--yes")
    assert refused.code == CANNOT
    assert "Only a signed-in admin of both parents can move an organization." in refused.err
    assert "unset SIGNUM_API_KEY" in refused.err


@pytest.mark.long
async def test_eligibility_command_reads_standard_input(program: Shell) -> None:
    found = await program("eligibility", "-", stdin="ada@example.com\nnot-an-address\n")
    assert found.code == DONE, found.err
    assert "invalid_email" in found.out
    assert {w["code"] for w in (await program("eligibility", "nope", "--json")).json["warnings"]} == {"invalid_email"}
    assert (await program("eligibility", "-")).code == CANNOT


@pytest.mark.long
async def test_command_exit_codes_match_their_failures(program: Shell) -> None:
    assert (await program("orgs", "tree", SIGNUM_API_KEY="sgn_wrong")).code == SIGNED_OUT
    assert (await program("orgs", "tree", "--org", uuid4())).code == REFUSED
    assert (await program("requests", "watch", uuid4())).code == REFUSED
    assert (await program("assets", "list", "--nonsense")).code == USAGE
    gone = await program("orgs", "tree", SIGNUM_URL=f"http://127.0.0.1:{free_port()}")
    assert (gone.code, gone.out) == (UNREACHABLE, "")


@pytest.mark.long
async def test_failed_request_exits_with_its_problem(program: Shell, firm: Firm) -> None:
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    made = await firm.post("/assets", {"name": "Bond", "symbol": "BND", "chain_eid": SEPOLIA})
    await program("requests", "watch", made["requestId"])
    stranger = {"market_factory_address": "0x" + "99" * 20}
    failed = await program("markets", "deploy", "BND", "--chain", SEPOLIA, "--factory", *stranger.values(), "--wait")
    assert failed.code in (REFUSED, FAILED)
    assert "0x9999" in failed.err or "factory" in failed.err


@pytest.mark.long
async def test_serve_command_starts_without_command_dependencies() -> None:
    """Only Typer is imported before a command runs."""
    heavy = ("httpx", "rich.table", "fastapi", "backend.client")
    code = f"import sys, backend.cli.main; print([m for m in {heavy} if m in sys.modules])"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        code,
        cwd=CHECKOUT,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
    )
    out, _ = await process.communicate()
    assert out.decode().strip() == "[]"


@pytest.mark.parametrize(
    ("organization", "email", "name", "what"),
    [
        ("Acme", "not-an-email", "Ada", "email"),
        ("", "ada@example.com", "Ada", "organization"),
        ("Acme", "ada@example.com", " ", "name"),
    ],
)
async def test_first_organization_needs_what_the_api_would_accept(
    organization: str, email: str, name: str, what: str
) -> None:
    with pytest.raises(CannotStart, match=f"cannot be used as the {what}"):
        await found(settings(), organization, email, name, PASSWORD)
