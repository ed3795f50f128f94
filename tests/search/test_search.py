"""Search: records are found by their known properties, best first, and never beyond the caller's access."""

from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from backend.auth.scopes import Scope
from backend.core import db
from backend.search import rules
from backend.search.schemas import Kind
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.support.firm import Firm, refused
from tests.support.issuance import SEPOLIA, Issuance

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"


async def found(who: Actor | Firm, words: str, organization: Any = None, **params: Any) -> list[Any]:
    """Return the results for some words."""
    actor = who.admin if isinstance(who, Firm) else who
    path = f"/orgs/{organization or who.id}/search"  # type: ignore[union-attr]
    return list((await actor.call("GET", path, params={"q": words, **params}))["results"])


def kinds(results: list[Any]) -> set[str]:
    return {r["kind"] for r in results}


@pytest.mark.long
async def test_search_finds_every_kind_by_its_common_details(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(name="Harbour Street", symbol="HBRX")
    party = await firm.party(WALLET, name="Åsa Hedlund", email="asa@hedlund.example")
    member = await world.person(firm.id, Role.MEMBER, "jonas@firm.example")
    await firm.post("/invitations", {"email": "later@hedlund.example", "role": "viewer"})
    await firm.post("/api-keys", {"name": "Reporting", "scopes": ["orgs:read"]})
    wallet = await firm.post("/wallets", {"label": "Custody of Hedlund"})
    token = asset["deployments"][0]
    by_words: dict[str, tuple[str, str]] = {
        "harbour": ("asset", asset["id"]),
        "HBRX": ("asset", asset["id"]),
        asset["id"][:13]: ("asset", asset["id"]),
        token["token_address"]: ("asset", asset["id"]),
        token["tx_hash"]: ("asset", asset["id"]),
        "åsa hed": ("party", party["id"]),
        "asa@hedlund": ("party", party["id"]),
        WALLET.lower()[:12]: ("party", party["id"]),
        wallet["address"].upper().replace("X", "x", 1): ("wallet", wallet["id"]),
        "custody": ("wallet", wallet["id"]),
        asset["request_id"]: ("request", asset["request_id"]),
    }
    for words, (kind, id_) in by_words.items():
        results = await found(firm, words)
        assert (kind, id_) in {(r["kind"], r["id"]) for r in results}, words
    assert [(r["kind"], r["title"]) for r in await found(firm, "jonas@firm.example")] == [
        ("member", member.email.split("@")[0].title())
    ]
    assert kinds(await found(firm, "hedlund")) == {"party", "invitation", "wallet"}
    assert kinds(await found(firm, "report")) == {"api_key"}
    hashes = {s["tx_hash"] for s in (await firm.get(f"/requests/{asset['request_id']}"))["steps"] if s["tx_hash"]}
    assert "request" in kinds(await found(firm, hashes.pop()))


@pytest.mark.long
async def test_search_ranks_best_matches_first_and_balances_kinds(world: World) -> None:
    firm = await Firm.found(world, "Root")
    for name in ("Old Oak", "Oak", "Oaks of Norway", "Soaked"):
        await firm.party(name=name)
    assert [r["title"] for r in await found(firm, "oak")] == ["Oak", "Oaks of Norway", "Old Oak", "Soaked"]
    for n in range(12):
        await firm.party(name=f"Oak {n}")
    await firm.post("/wallets", {"label": "Oak treasury"})
    results = await found(firm, "oak")
    assert (len(results), kinds(results)) == (9, {"party", "wallet"})
    assert len(await found(firm, "oak", limit="3")) == 3


async def test_search_covers_descendants_only(world: World) -> None:
    top = await Firm.found(world, "Zenith Group")
    below = await Firm.found(world, "Zenith Below", parent=top.id)
    beside = await Firm.found(world, "Zenith Beside", parent=top.id)
    stranger = await Firm.found(world, "Zenith Elsewhere")
    for firm in (top, below, beside, stranger):
        await firm.party(name="Zenith Fund")
    organizations = {r["id"] for r in await found(top, "zenith") if r["kind"] == "organization"}
    assert organizations == {str(f.id) for f in (top, below, beside)}
    assert {r["organization_id"] for r in await found(top, "zenith fund")} == organizations
    assert {r["organization_name"] for r in await found(below.admin, "zenith", below.id)} == {"Zenith Below"}
    await refused(below.admin, "GET", f"/orgs/{top.id}/search", 403, params={"q": "zenith"})
    await refused(stranger.admin, "GET", f"/orgs/{below.id}/search", 403, params={"q": "zenith"})


async def test_search_by_a_key_covers_its_organization_and_scopes(world: World) -> None:
    top = await Firm.found(world, "Quill Group")
    below = await Firm.found(world, "Quill Below", parent=top.id)
    await top.party(name="Quill Party")
    await below.party(name="Quill Party")
    await top.post("/wallets", {"label": "Quill wallet"})

    async def as_key(*scopes: Scope) -> list[Any]:
        headers = await world.key(top.id, *scopes)
        path = f"/orgs/{top.id}/search"
        return list((await world.client.call("GET", path, headers=headers, params={"q": "quill"}))["results"])

    only = await as_key(Scope.ORGS_READ)
    assert kinds(only) == {"organization"}
    assert {r["title"] for r in only} == {"Quill Group", "Quill Below"}
    more = await as_key(Scope.ORGS_READ, Scope.ATTESTATIONS_READ)
    assert [r["organization_id"] for r in more if r["kind"] == "party"] == [str(top.id)]
    assert kinds(more) == {"organization", "party"}
    viewer = await world.person(top.id, Role.VIEWER)
    await top.post("/api-keys", {"name": "Quill key", "scopes": ["orgs:read"]})
    assert "api_key" in kinds(await found(top, "quill"))
    assert "api_key" not in kinds(await found(viewer, "quill", top.id))


@pytest.mark.parametrize("q", ["", "   ", "x" * 101, "a\x00b", "a\nb", "<script>"])
async def test_search_with_invalid_text_is_a_400(world: World, q: str) -> None:
    firm = await Firm.found(world)
    await refused(firm.admin, "GET", f"/orgs/{firm.id}/search?q={quote(q)}", 400)
    await refused(firm.admin, "GET", f"/orgs/{firm.id}/search", 400)


@pytest.mark.parametrize(
    "q",
    [
        "%",
        "_",
        "\\",
        "a\\ b",
        "a'\\' b",
        "'; drop table parties; --",
        "\x1f".strip() or "(",
        "*",
        "a|b",
        "🦊",
        "\u0301",
        "%% __",
    ],
)
async def test_search_text_is_never_a_pattern(world: World, q: str) -> None:
    firm = await Firm.found(world)
    await firm.party(name="Plain")
    assert await found(firm, q) == []


async def test_search_finds_words_in_any_order_and_between_any_spaces(world: World) -> None:
    firm = await Firm.found(world, "Harbour Trust Group")
    party = await firm.party(name="Alder Family Office", email="desk@alder.example")
    await firm.party(name="Alder Family Trust")
    for words in (
        "Office Alder Family",
        "  alder   family\u00a0office ",
        "office ald",
        "of fam",
        "desk@alder alder office",
    ):
        assert [r["id"] for r in await found(firm, words)] == [party["id"]], words
    assert [r["title"] for r in await found(firm, "family alder")] == ["Alder Family Trust", "Alder Family Office"]
    assert await found(firm, "office alder elm") == []
    assert await found(firm, "ice alder amily er") == [], "a word of two characters is the beginning of one"
    assert [r["title"] for r in await found(firm, "group harbour")] == ["Harbour Trust Group"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Émile Durand", "emile"),
        ("Emile Durand", "Émile"),
        ("Émile Durand", "E\u0301MILE DURAND"),
        ("Stadt München", "munchen"),
        ("Stadt Munchen", "München"),
        ("Łódź Øresund", "oresund lodz"),
        ("Weiße Straße", "strasse WEISSE"),
        ("Æsir Œuvre", "oeuvre aesir"),
        ("Αθήνα", "αθηνα"),
        ("Đặng Văn", "van dang"),
    ],
)
async def test_search_finds_names_without_their_accents(world: World, name: str, words: str) -> None:
    firm = await Firm.found(world, "Firm")
    party = await firm.party(name=name)
    assert [r["id"] for r in await found(firm, words)] == [party["id"]]


async def test_search_ranks_a_name_in_the_typed_order_first(world: World) -> None:
    firm = await Firm.found(world, "Firm")
    for name in ("Oak Élan", "The Élan Oak", "Élan Oak Fund", "Elan Oak", "Melan Oak"):
        await firm.party(name=name)
    assert [r["title"] for r in await found(firm, "élan oak")] == [
        "Elan Oak", "Élan Oak Fund", "The Élan Oak", "Melan Oak", "Oak Élan",
    ]  # fmt: skip


@pytest.mark.parametrize("dots", ["…", "...", ".."])
async def test_search_finds_codes_in_their_shortened_form(world: World, dots: str) -> None:
    firm = await Firm.found(world, "Firm")
    party = await firm.party(WALLET)
    await firm.party(f"{WALLET[:10]}{'0' * 32}", name="Another end")
    for words in (f"{WALLET[:6]}{dots}{WALLET[-4:]}", f"{WALLET[:10]}{dots}{WALLET[-8:]}".lower()):
        assert [r["id"] for r in await found(firm, words)] == [party["id"]], words
    assert [r["id"] for r in await found(firm, f"{party['id'][:6]}{dots}{party['id'][-4:]}")] == [party["id"]]
    assert await found(firm, f"{WALLET[:6]}{dots}0001") == []
    assert await found(firm, f"0x{dots}{WALLET[-4:]}") == [], "a beginning has at least four characters"


async def test_search_finds_the_shortened_hash_of_a_transaction(world: World) -> None:
    firm = await Firm.issuing(world, SEPOLIA)
    request = (await firm.get("/issuer"))["request_id"]
    steps = (await firm.get(f"/requests/{request}"))["steps"]
    sent = next(s["tx_hash"] for s in steps if s["tx_hash"])
    assert request in {r["id"] for r in await found(firm, f"{sent[:6]}…{sent[-4:]}")}


async def test_search_finds_chains_by_name_and_id(world: World) -> None:
    firm = await Firm.found(world, "Firm")
    for chain in (await firm.get("/chains"))["chains"]:
        first = chain["display_name"].split()[0].lower()
        for words in (first, str(chain["xchain_eid"]), " ".join(reversed(chain["display_name"].split()))):
            results = [r for r in await found(firm, words) if r["kind"] == "chain"]
            assert chain["id"] in {r["id"] for r in results}, words
            assert {(r["organization_id"], r["organization_name"]) for r in results} == {(str(firm.id), "Firm")}
    base = next(r for r in await found(firm, "base") if r["kind"] == "chain")
    assert base["title"].startswith("Base")
    assert base["detail"] in ("testnet", "devnet")
    assert await found(firm, "Ethereum Mainnet") == [], "chains of another network"
    key = await world.key(firm.id, Scope.ORGS_READ)
    path = f"/orgs/{firm.id}/search"
    answer = await world.client.call("GET", path, headers=key, params={"q": "base"})
    assert answer["results"] == [], "only for callers who may list chains"


async def test_lists_of_organizations_find_words_in_any_order_without_accents(world: World) -> None:
    top = await Firm.found(world, "Top")
    below = await Firm.found(world, "Société Générale d’Énergie", parent=top.id)
    for words in ("energie generale", "GÉNÉRALE SOCIETE", "soc"):
        rows = (await top.admin.call("GET", "/orgs", params={"q": words}))["organizations"]
        assert [r["id"] for r in rows] == [str(below.id)], words
        rows = (await top.get("/sub-orgs", params={"q": words}))["organizations"]
        assert [r["id"] for r in rows] == [str(below.id)], words
        rows = (await top.get("/tree", params={"parent": str(top.id), "q": words}))["nodes"]
        assert [r["id"] for r in rows] == [str(below.id)], words


async def test_search_matches_codes_by_prefix_only(world: World) -> None:
    firm = await Firm.found(world)
    party = await firm.party(WALLET)
    assert await found(firm, WALLET[10:20]) == []
    assert await found(firm, "0x") == []
    assert [r["id"] for r in await found(firm, WALLET)] == [party["id"]]


async def test_search_function_reveals_nothing_outside_the_entered_organization(world: World) -> None:
    firm = await Firm.found(world, "Closed")
    await firm.party(name="Closed Party")
    every = [str(k) for k in Kind]
    values = {"org": firm.id, "kinds": every}
    query = sa.text(
        "select * from signum_search(:org, cast(:kinds as text[]), '{}', 'closed', true, true, 8, 50, null)"
    )
    async with db.transaction() as session:
        assert (await session.execute(query, values)).all() == []
    async with db.transaction(firm.id) as session:
        assert len((await session.execute(query, values)).all()) == 2


def test_search_kinds_require_the_scope_of_their_list() -> None:
    assert set(rules.NEEDED) == set(Kind)
    assert rules.findable([]) == []
    assert rules.findable(tuple(Scope)) == list(rules.NEEDED)
