"""The CSV import of parties: a preview line by line, then all or nothing, once."""

import asyncio
import json
import secrets
from typing import Any
from uuid import uuid4

import httpx
import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st
from limits import RateLimitItemPerDay

from backend.auth.scopes import Scope
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.parties import import_rules, imports
from backend.parties.schemas import ImportOutcome, OnDuplicate
from backend.server import runtime
from tests.conftest import World
from tests.support.firm import Firm

HEAD = "name,country,kind,email,wallet_address\n"


async def send(api: Any, firm: Firm, text: str, key: str = "", **query: str) -> httpx.Response:
    headers = {"cookie": firm.admin.cookie, "origin": settings().origin, "content-type": "text/csv"}
    headers |= {"idempotency-key": key} if key else {}
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        params = {"organization_id": str(firm.id)} | query
        return await http.post("/v1/identity/parties/import", content=text, headers=headers, params=params)


async def parties(firm: Firm) -> list[Any]:
    found = await firm.admin.call("GET", "/identity/parties", params={"organization_id": str(firm.id)})
    return list(found["parties"])


async def test_list_is_previewed_and_imported_once(api: Any, world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world)
    mail, wallet = f"{secrets.token_hex(4)}@example.com", Account.create().address
    known = await firm.party(wallet, name="Known")
    await other.party(Account.create().address, email=mail)
    good = f"Ada Berg,SWE,person,{mail},{Account.create().address}\nBaltic Fund,DEU,company,,\n"
    bad = f"Copy,SWE,,{mail.upper()},\nAgain,SWE,,,{wallet.lower()}\n,SWE,,,\nNowhere,Atlantis,,no email,0x12\n"

    plan = (await send(api, firm, HEAD + good + bad, dry_run="true")).json()
    assert (plan["created"], plan["skipped"], plan["refused"]) == (2, 0, 4)
    said = {line["line"]: line["detail"] for line in plan["lines"]}
    assert [line["outcome"] for line in plan["lines"]] == ["refused"] * 4 + ["created"] * 2
    assert said[4] == "has the wallet or email of line 2"
    assert said[5] == f"has the wallet or email of {known['name']}, who is registered already"
    assert said[6].startswith("name:")
    assert "“Atlantis” is not a country code. Use one such as SWE." in said[7]
    assert all(f"{name}:" in said[7] for name in ("email", "wallet_address"))

    refused = await send(api, firm, HEAD + good + bad)
    assert refused.status_code == 422
    assert [e["pointer"] for e in refused.json()["errors"]] == ["/4", "/5", "/6", "/7"]
    assert [p["name"] for p in await parties(firm)] == ["Known"]

    key = str(uuid4())
    done = await send(api, firm, HEAD + good, key)
    assert (done.status_code, done.json()) == (201, {"created": 2, "updated": 0, "skipped": 0, "refused": 0})
    assert (await send(api, firm, HEAD + good, key)).headers["idempotency-replayed"] == "true"
    assert (await send(api, firm, HEAD + good)).status_code == 422
    made = {p["name"]: p for p in await parties(firm)}
    assert made.keys() == {"Known", "Ada Berg", "Baltic Fund"}
    assert (made["Ada Berg"]["status"], made["Baltic Fund"]["kind"]) == ("created", "company")
    entries = (await firm.get("/audit", params={"action": "party.created"}))["audit"]
    assert {e["subject"]["id"] for e in entries} == {p["id"] for p in made.values()}


async def test_registered_parties_are_skipped_on_request(api: Any, world: World) -> None:
    firm = await Firm.found(world)
    known = await firm.party(Account.create().address)
    text = f"wallet_address;name;country\n{known['wallet_address']};Marta;SWE\n;Nils;NOR\n"
    first = await send(api, firm, text, on_duplicate="skip")
    assert first.json() == {"created": 1, "updated": 0, "skipped": 1, "refused": 0}
    names = [p["name"] for p in await parties(firm)]
    assert sorted(names) == ["Marta Lindqvist", "Nils"]


async def test_registered_parties_are_updated_on_request_and_the_preview_says_how(api: Any, world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world)
    run, wallet, mail = secrets.token_hex(3), Account.create().address, f"{secrets.token_hex(4)}@example.com"
    ines = await firm.party(wallet, name="Ines", country="DEU", email=None)
    nils = await firm.party(Account.create().address, name="Nils", country="NOR", email=mail)
    foreign = await other.party(Account.create().address, name="Foreign")
    new = Account.create().address
    text = (
        f"{HEAD}Ines Roth,DEU,person,{run}@example.com,{wallet.lower()}\nNils,NOR,,{mail.upper()},{new}\n"
        f"Ada,SWE,,,{foreign['wallet_address']}\n"
    )
    update = {"on_duplicate": "update"}
    plan = (await send(api, firm, text, dry_run="true", **update)).json()
    assert (plan["created"], plan["updated"], plan["skipped"], plan["refused"]) == (1, 2, 0, 0)
    lines = {line["line"]: line for line in plan["lines"]}
    assert (lines[2]["party_id"], lines[4]["party_id"]) == (ines["id"], None)
    assert lines[2]["changes"] == [
        {"field": "name", "before": "Ines", "after": "Ines Roth"},
        {"field": "email", "before": None, "after": f"{run}@example.com"},
    ]
    assert [change["field"] for change in lines[3]["changes"]] == ["wallet_address"]
    assert {p["name"] for p in await parties(firm)} == {"Ines", "Nils"}

    done = await send(api, firm, text, **update)
    assert done.json() == {"created": 1, "updated": 2, "skipped": 0, "refused": 0}
    made = {p["id"]: p for p in await parties(firm)}
    assert (made[ines["id"]]["name"], made[ines["id"]]["email"]) == ("Ines Roth", f"{run}@example.com")
    assert (made[nils["id"]]["wallet_address"], made[nils["id"]]["email"]) == (new, mail)
    entries = (await firm.get("/audit", params={"action": "party.updated"}))["audit"]
    assert {e["subject"]["id"] for e in entries} == {ines["id"], nils["id"]}
    again = (await send(api, firm, text, **update)).json()
    assert again == {"created": 0, "updated": 0, "skipped": 3, "refused": 0}
    assert len((await firm.get("/audit", params={"action": "party.updated"}))["audit"]) == 2
    assert (await other.admin.call("GET", f"/identity/parties/{foreign['id']}"))["name"] == "Foreign"

    bad = f"Ines,FRA,,,{wallet}\nOne,NOR,,{mail},{wallet}\nNils,NOR,,{mail},\nN,NOR,company,,{new}\nN,NOR,,,{new}\n"
    plan = (await send(api, firm, HEAD + bad, dry_run="true", **update)).json()
    said = {line["line"]: line["detail"] for line in plan["lines"] if line["outcome"] == "refused"}
    assert said[2] == "has the country FRA; Ines Roth is registered with DEU, which an import does not change"
    assert said[3] == "has the wallet or email of line 2"
    assert said[4] == "has the wallet or email of line 3"
    assert said[5].startswith("has the kind company")
    plan = (await send(api, firm, f"{HEAD}One,NOR,,{mail},{wallet}\n", dry_run="true", **update)).json()
    assert plan["lines"][0]["detail"] == "has the wallet or email of several parties: Ines Roth and Nils"
    plan = (await send(api, firm, f"{HEAD}Nils,NOR,,{mail},\nNils H,NOR,,,{new}\n", dry_run="true", **update)).json()
    assert [line["outcome"] for line in plan["lines"]] == ["refused", "skipped"]
    assert plan["lines"][0]["detail"] == "changes the same party as line 2"
    writer = await world.key(firm.id, Scope.ATTESTATIONS_WRITE)
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        query = {"organization_id": str(firm.id), "dry_run": "true"} | update
        headers = writer | {"content-type": "text/csv"}
        answer = await http.post("/v1/identity/parties/import", content=text, headers=headers, params=query)
    assert answer.status_code == 403


async def test_concurrent_imports_of_one_list_register_each_party_once(api: Any, world: World) -> None:
    firm, mail = await Firm.found(world), f"{secrets.token_hex(4)}@example.com"
    text = f"{HEAD}Ada Berg,SWE,,{mail},\n"
    answers = await asyncio.gather(*(send(api, firm, text) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 422, 422, 422]
    assert [p["email"] for p in await parties(firm)] == [mail]
    answers = await asyncio.gather(*(send(api, firm, f"{HEAD}Ada,SWE,,{mail},\n", on_duplicate="skip") for _ in "12"))
    assert [answer.json()["skipped"] for answer in answers] == [1, 1]


async def test_preview_of_long_lines_has_all_counts_and_fewer_lines(
    api: Any, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "SHOWN_CHARACTERS", 10_000)
    firm, name = await Firm.found(world), "N" * 120
    text = HEAD + "".join(f"{name},SWE,,,\n" for _ in range(150)) + f"{name},Atlantis,,,\n"
    plan = (await send(api, firm, text, dry_run="true")).json()
    assert (plan["created"], plan["refused"]) == (150, 1)
    assert plan["lines"][0]["outcome"] == "refused"
    assert 20 < len(plan["lines"]) < 150
    assert len(json.dumps(plan["lines"])) < 12_000


async def test_finding_names_three_of_many_parties_with_one_email(api: Any, world: World) -> None:
    firm, mail = await Firm.found(world), f"{secrets.token_hex(4)}@example.com"
    for n in range(5):
        await firm.party(Account.create().address, name=f"Party {n}", email=mail)
    plan = (await send(api, firm, f"{HEAD}Ada,SWE,,{mail},\n", dry_run="true", on_duplicate="update")).json()
    words = "has the wallet or email of several parties: Party 0, Party 1, Party 2 and 2 more"
    assert plan["lines"][0]["detail"] == words


async def test_lines_of_imports_are_limited_and_name_no_one_to_a_writer(
    api: Any, world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "ITEMS", (RateLimitItemPerDay(3),))
    firm = await Firm.found(world)
    known = await firm.party(Account.create().address, name="Known")
    lines = "Nils,NOR,,,\nEva,SWE,,,\n"
    assert (await send(api, firm, HEAD + lines)).status_code == 201
    assert (await send(api, firm, HEAD + lines)).status_code == 429
    assert (await send(api, firm, HEAD + lines, dry_run="true")).status_code == 200
    writer = await world.key(firm.id, Scope.ATTESTATIONS_WRITE)
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        answer = await http.post(
            "/v1/identity/parties/import",
            content=f"{HEAD}Copy,SWE,,,{known['wallet_address']}\n",
            headers=writer | {"content-type": "text/csv"},
            params={"organization_id": str(firm.id), "dry_run": "true"},
        )
    (line,) = answer.json()["lines"]
    assert line["detail"] == "has the wallet or email of another party, who is registered already"


async def test_list_that_is_no_csv_of_parties_is_refused(api: Any, world: World) -> None:
    firm = await Firm.found(world)
    for text in ("", HEAD, "name\nAda\n", "name,country,name\nA,SWE,B\n", "name,country,color\nA,SWE,red\n"):
        assert (await send(api, firm, text)).status_code == 400, text
    long = "name,country\n" + "Ada,SWE\n" * (import_rules.MOST + 1)
    assert "at most 2,000" in (await send(api, firm, long)).json()["detail"]
    assert await parties(firm) == []


KNOWN = import_rules.Known(uuid4(), "Known", "SWE", "person", "b@example.com", None)
NAMES = st.text(alphabet='abc ,;"\n', min_size=1, max_size=6).filter(str.strip)


@given(st.lists(st.tuples(NAMES, st.sampled_from(["a@example.com", "B@example.com", ""])), min_size=1, max_size=8))
def test_every_line_has_one_outcome_and_no_email_is_created_twice(rows: list[tuple[str, str]]) -> None:
    quoted = [f'"{name.replace(chr(34), chr(34) * 2)}",SWE,{mail}' for name, mail in rows]
    found = import_rules.lines("name,country,email\n" + "\n".join(quoted) + "\n")
    for choice in OnDuplicate:
        result = import_rules.judged(found, {"b@example.com": [KNOWN]}, choice)
        assert len(result) == len(rows)
        assert sum(one.outcome is ImportOutcome.UPDATED for one in result) <= (choice is OnDuplicate.UPDATE)
        made = [one.line.party for one in result if one.outcome is ImportOutcome.CREATED]
        mails = [str(party.email).lower() for party in made if party and party.email]
        assert len(mails) == len(set(mails))
        assert "b@example.com" not in mails
