"""Two investors of one organization, each with holdings, an order and a claim; and what is another's."""

import io
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import sqlalchemy as sa
from pypdf import PdfReader

from backend.core import db
from backend.core.settings import settings
from backend.server import runtime
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.distributions.test_distributions import activated, draft_distribution
from tests.support.firm import Firm
from tests.support.issuance import SEPOLIA, UNIT, Issuance
from tests.support.specimens import pdf

USD = 10**6


@dataclass
class Investor:
    """A client of an organization."""

    actor: Actor
    membership: UUID
    party: Any = None
    wallet: Any = None
    order: Any = None
    document: Any = None

    @classmethod
    async def of(cls, world: World, organization: UUID, email: str | None = None) -> "Investor":
        """Create a signed-in client."""
        actor = await world.person(organization, Role.CLIENT, email)
        query = sa.text("select id from members where user_id = :person").columns(sa.column("id", sa.Uuid()))
        async with db.worker() as session:
            return cls(actor, (await session.scalars(query, {"person": actor.user_id})).one())

    async def get(self, path: str = "") -> Any:
        """GET below the investor's membership."""
        return await self.actor.call("GET", f"/investor/{self.membership}{path}")

    async def text(self, api: Any, path: str) -> str:
        """GET a path of the API; return the text of the response, also of a PDF."""
        answer = await self.answer(api, path)
        if answer.headers["content-type"] == "application/pdf":
            return text_of(answer.content)
        return answer.text

    async def answer(self, api: Any, path: str) -> httpx.Response:
        """GET a path of the API with the session of the browser."""
        transport = runtime.local_transport(api)
        async with httpx.AsyncClient(transport=transport, base_url=f"{settings().origin}/v1") as http:
            answer = await http.get(path, headers={"cookie": self.actor.cookie})
        assert answer.status_code == 200, answer.text
        return answer

    async def accept(self, firm: Firm, name: str) -> None:
        """Let the firm verify and attest the investor, with a wallet of its custody."""
        self.wallet = await firm.post("/wallets", {"label": f"{name} custody"})
        made = await firm.party(self.wallet["address"], name=name, email=self.actor.email.upper())
        await firm.admin.call("POST", f"/identity/parties/{made['id']}/verify", json={"kyc_level": 2})
        self.party = made
        await firm.attest(made)

    async def upload(self, content: bytes, kind: str = "passport", **options: Any) -> Any:
        """Upload a document."""
        options = {"headers": {"content-type": "application/pdf"}, "params": {"kind": kind}} | options
        return await self.actor.call("POST", f"/investor/{self.membership}/documents", content=content, **options)

    @property
    def marks(self) -> set[str]:
        """Return texts that only this investor, and staff, may see."""
        return {
            str(self.actor.user_id), str(self.membership), self.actor.email, self.actor.email.upper(),
            self.party["id"], self.party["name"], self.wallet["id"], self.wallet["address"], self.order["id"],
            self.document["id"], self.document["name"],
        }  # fmt: skip


def text_of(content: bytes) -> str:
    """Return the text of a PDF."""
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


@dataclass
class Scene:
    """A firm, its asset, and two investors who trade with each other."""

    firm: Issuance
    asset: Any
    market: Any
    ada: Investor
    ben: Investor

    @classmethod
    async def play(cls, world: World) -> "Scene":
        """Ada holds 120 and sells 10, of which Ben, who holds 33, buys 4; both may claim of a distribution."""
        firm = await Issuance.ready(world, SEPOLIA)
        asset = await firm.asset(required_kyc_level=2)
        ada, ben = await Investor.of(world, firm.id), await Investor.of(world, firm.id)
        await ada.accept(firm, "Ada Sørensen")
        await ben.accept(firm, "Ben Okonjo")
        for investor in (ada, ben):
            name = f"passport of {investor.party['name']}.pdf"
            content = pdf([investor.party["name"], "Passport"])
            investor.document = await investor.upload(content, params={"kind": "passport", "name": name})
        treasury = await firm.treasury()
        for investor, amount in ((ada, 120), (ben, 33)):
            sent = await firm.post(
                "/transfers",
                {
                    "asset_id": asset["id"],
                    "chain_eid": SEPOLIA,
                    "from_wallet_id": treasury["id"],
                    "to_address": investor.wallet["address"],
                    "amount": str(amount * UNIT),
                },
            )
            await firm.succeed(sent["requestId"])
        market = await firm.market(asset)
        await firm.give(SEPOLIA, ben.wallet["address"], 10_000 * USD)
        ada.order = await firm.order(market, ada.wallet, "sell", 102 * USD, 10 * UNIT)
        ben.order = await firm.order(market, ben.wallet, "buy", 102 * USD, 4 * UNIT)
        await draft_distribution(firm, asset, (ada.wallet["address"], UNIT))
        made = await draft_distribution(
            firm, asset, (ada.wallet["address"], 5 * UNIT), (ben.wallet["address"], 7 * UNIT)
        )
        await activated(firm, asset, made)
        return cls(firm, asset, market, ada, ben)
