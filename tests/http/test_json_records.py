"""Lists whose records PostgreSQL writes: each record has the bytes that its model has when it is read alone."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa
from pydantic import BaseModel
from sqlmodel import SQLModel

from backend.api_keys.models import ApiKeyRow
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.schemas import AssetStatus, DeploymentStatus
from backend.auth.oauth_models import OAuthClientRow
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.fields import ClientKind, Network, Record
from backend.core.settings import settings
from backend.distributions.models import DistributionRow
from backend.distributions.schemas import DistributionStatus
from backend.lists import json_records
from backend.parties.models import PartyRow
from backend.parties.schemas import PartyKind, PartyStatus
from backend.server import runtime
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm
from tests.support.specimens import pdf

TEXTS = (
    'Åsa "Ö" O\'Brien \\ 100% :name {0}',
    "株式会社 \U0001f600 e\u0301 \u2028\u2029 \u00a0",
    "".join(map(chr, range(1, 32))) + "\x7f\x80</script>",
    "\U0001f600" * 4_001,
    "x" * 4_000,
    "",
)
WHOLE_SECOND = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
TIMES = (
    WHOLE_SECOND,
    WHOLE_SECOND + timedelta(microseconds=1),
    datetime(784, 1, 1, 0, 0, 0, 120_000, tzinfo=UTC),
    datetime(9998, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
)
AMOUNTS = (0, 1, 10**18, 2**63, 2**255, 2**256 - 1)


@pytest_asyncio.fixture(scope="module")
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client: the bytes of the responses are compared."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=f"{settings().origin}/v1") as client:
        yield client


async def store(organization: UUID, *rows: SQLModel) -> None:
    async with db.transaction(organization) as session:
        for row in rows:
            session.add(row)
            await session.flush()


async def compare(
    http: httpx.AsyncClient, firm: Firm, path: str, ids: list[UUID], plural: str, more: bytes = b""
) -> None:
    """Compare a list, in pages of several sizes and with an estimated count, with its records read one by one, which
    end with `more`."""
    alone = {}
    for id_ in ids:
        response = await http.get(f"{path}/{id_}", headers=firm.key)
        assert response.status_code == 200, response.text
        alone[str(id_)] = response.content.removesuffix(more + b"}") + b"}"
    for limit in (1, 2, 100):
        cursor, found = None, []
        while cursor is not None or not found:
            params = {"limit": str(limit), "sort": "created_at", "count": "estimated"}
            response = await http.get(path, headers=firm.key, params=params | ({"cursor": cursor} if cursor else {}))
            page = response.json()
            assert list(page) == ["estimatedCount", plural, "nextCursor"]
            assert response.headers["content-type"] == "application/json"
            cursor, shown = page["nextCursor"], [record["id"] for record in page[plural]]
            told = "null" if cursor is None else f'"{cursor}"'
            records = b",".join(alone[id_] for id_ in shown if id_ in alone)
            if all(id_ in alone for id_ in shown):
                count = str(page["estimatedCount"]).encode()
                head = b'{"estimatedCount":' + count + b',"' + plural.encode() + b'":['
                assert response.content == head + records + b'],"nextCursor":' + told.encode() + b"}"
            found += shown
        assert {str(id_) for id_ in ids} <= set(found)


def assets(firm: Firm) -> tuple[list[AssetRow], list[DeploymentRow]]:
    """Assets with every awkward value, and their deployments, which no chain is asked about."""
    rules: list[dict[str, Any]] = [
        {},
        {"trusted_issuers": ["0x" + "11" * 20], "blocked_countries": ["USA", "PRK"], "lockup_end_time": 2**33},
        {"max_tokens_per_holder": str(2**256 - 1), "requires_accreditation": True, "blocked_countries": []},
    ]
    shares = [[], [{"chain_eid": 2**32 - 1}], [{"max_holders": 5, "chain_eid": 1, "max_tokens_per_holder": "7"}] * 2]
    made = [
        AssetRow(
            organization_id=firm.id, name=text, symbol=f"S{number}", description=text if number % 2 else None,
            nominal_value=None if number % 2 else "100.00", status=AssetStatus.ACTIVE, failure=text or None,
            compliance_rules=rules[number % 3], cap_shares=shares[number % 3], max_holders=2**32 - 1,
            org_only=bool(number % 2), request_id=uuid4() if number % 2 else None,
            created_at=TIMES[number], updated_at=TIMES[-1 - number],
        )
        for number, text in enumerate(TEXTS)
    ]  # fmt: skip
    deployments = [
        DeploymentRow(
            organization_id=firm.id, asset_id=asset.id, chain_eid=eid, supply=supply, status=DeploymentStatus.FAILED,
            tx_hash=None if eid == SEPOLIA else "0x" + "ab" * 32,
        )
        for asset, supply in zip(made[1:], AMOUNTS, strict=False)
        for eid in (SEPOLIA, 7)
    ]  # fmt: skip
    return made, deployments


async def test_assets_are_written_as_their_models_are(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    made, deployments = assets(firm)
    await store(firm.id, *made, *deployments)
    await compare(http, firm, f"{firm.base}/assets", [row.id for row in made], "assets")


async def test_distributions_are_written_as_their_models_are(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    (asset, *_), _ = assets(firm)
    made = [
        DistributionRow(
            organization_id=firm.id, asset_id=asset.id, name=text, chain_eid=SEPOLIA if number % 2 else 7,
            status=DistributionStatus.DRAFT, total_amount=amount, claimed_amount=amount, failure=text or None,
            created_at=TIMES[number], updated_at=TIMES[-1 - number],
        )
        for number, (text, amount) in enumerate(zip(TEXTS, AMOUNTS, strict=True))
    ]  # fmt: skip
    await store(firm.id, asset, *made)
    await compare(http, firm, f"{firm.base}/assets/{asset.id}/distributions", [row.id for row in made], "distributions")


async def test_parties_are_written_as_their_models_are(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    made = [
        PartyRow(
            organization_id=firm.id, kind=PartyKind.PERSON, name=text, email=text or None, country="SWE",
            status=PartyStatus.VERIFIED, accredited=bool(number % 2), reason=text if number % 2 else None,
            reviewed_at=TIMES[number] if number % 2 else None, created_at=TIMES[number], updated_at=TIMES[-1 - number],
        )
        for number, text in enumerate(TEXTS)
    ]  # fmt: skip
    await store(firm.id, *made)
    await compare(http, firm, "/identity/parties", [row.id for row in made], "parties", b',"reviewed_by_name":null')


async def test_documents_are_written_as_their_models_are(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    path = f"/identity/parties/{(await firm.party())['id']}/documents"
    sent = []
    for name in TEXTS[:2]:
        params = {"kind": "passport", "name": name.strip().replace("\u2028\u2029", "").replace("\\", "")}
        options: Any = {"params": params, "headers": firm.key | {"content-type": "application/pdf"}}
        response = await http.post(path, content=pdf([name]), **options)
        assert response.status_code == 201, response.text
        sent.append(response.content)
    listed = await http.get(path, headers=firm.key)
    assert listed.content == b'{"documents":[' + b",".join(reversed(sent)) + b'],"nextCursor":null}'


async def test_keys_and_applications_are_written_as_their_models_are(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    scopes = [str(Scope.ASSETS_READ), str(Scope.ASSETS_WRITE)]
    keys = [
        ApiKeyRow(
            organization_id=firm.id, name=text, scopes=scopes[: number % 3], key_hash=uuid4().hex, prefix="sgn_test",
            last_four="abcd", network=Network.TESTNET if number % 2 else None, created_by=firm.admin.user_id,
            allowed_ip_ranges=["10.0.0.0/8", "::1"] if number % 2 else [], expires_at=None,
            last_used_at=TIMES[number] if number % 2 else None, created_at=TIMES[number],
        )
        for number, text in enumerate(TEXTS)
    ]  # fmt: skip
    clients = [
        OAuthClientRow(
            organization_id=firm.id, name=text, kind=ClientKind.PUBLIC, scopes=["openid", *scopes][: number % 4],
            redirect_uris=[f"https://example.com/{'y' * 4_000 * (number % 2)}", "https://example.com/ö"],
            created_by=firm.admin.user_id, created_at=TIMES[number], revoked_at=TIMES[number] if number % 2 else None,
        )
        for number, text in enumerate(TEXTS)
    ]  # fmt: skip
    await store(firm.id, *keys, *clients)
    await compare(http, firm, f"{firm.base}/api-keys", [row.id for row in keys], "api_keys")
    await compare(http, firm, f"{firm.base}/oauth-clients", [row.id for row in clients], "oauth_clients")


async def test_listed_assets_are_only_those_of_the_callers_organization(world: World, http: httpx.AsyncClient) -> None:
    firm, other = await Firm.found(world), await Firm.found(world)
    await store(other.id, *assets(other)[0])
    listed = await http.get(f"{firm.base}/assets", headers=firm.key)
    refused = await http.get(f"{other.base}/assets", headers=firm.key)
    assert (listed.json()["assets"], refused.status_code) == ([], 403)


async def test_list_as_csv_has_the_records_that_postgresql_wrote(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    made, deployments = assets(firm)
    await store(firm.id, *made[4:], *[d for d in deployments if d.asset_id in {row.id for row in made[4:]}])
    lines = (await http.get(f"{firm.base}/assets.csv", headers=firm.key)).text.split("\r\n")
    assert lines[0].startswith("id,organization_id,name,")
    assert str(made[4].id) in "".join(lines)
    assert TIMES[4].isoformat(timespec="microseconds").replace("+00:00", "Z") in "".join(lines)


class Priced(Record):
    """A record with a number that PostgreSQL and Pydantic write differently."""

    price: float


def test_schema_with_another_type_is_refused() -> None:
    table = sa.Table("priced", sa.MetaData(), sa.Column("price", sa.Float))
    with pytest.raises(TypeError, match="Priced"):
        json_records.column(Priced, table)


def test_schema_with_a_field_without_a_column_is_refused() -> None:
    class Named(BaseModel):
        name: str

    with pytest.raises(KeyError, match="name"):
        json_records.column(Named, sa.Table("unnamed", sa.MetaData()))
