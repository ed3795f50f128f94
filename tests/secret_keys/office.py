"""An organization that uses keys of every purpose."""

from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.signing.keystore_files import KeystoreFiles
from backend.chain.signing.wallet_provider import Keystore
from backend.core import db
from backend.core.settings import settings
from backend.mail.models import Cause, mail
from backend.mail.schemas import MailKind
from backend.models import OutboxRow
from backend.server import runtime
from tests.conftest import World
from tests.support.firm import Firm

DOCUMENTS = "/identity/parties/{}/documents"
BODY = "The link is https://signum.example/secret"


def document(number: int) -> bytes:
    """A document of two pieces."""
    return b"%PDF-1.7 " + str(number).encode() + b"x" * 300_000


class Office:
    """Its documents, a webhook endpoint, emails and server wallets."""

    def __init__(self, firm: Firm, api: Any, party: str, endpoint: str) -> None:
        self._firm, self._api, self._party, self._endpoint = firm, api, party, endpoint
        self._documents: list[str] = []
        self._wallets: list[str] = []

    @classmethod
    async def open(cls, world: World, api: Any) -> "Office":
        """Found it, and let it use every kind of key once."""
        firm = await Firm.found(world)
        endpoint = await firm.post("/webhooks", {"url": "http://localhost:8449/hook"})
        office = cls(firm, api, (await firm.party())["id"], f"/webhooks/{endpoint['id']}")
        await office.write()
        return office

    async def write(self) -> None:
        """Have something of every kind encrypted."""
        path, content = DOCUMENTS.format(self._party), document(len(self._documents))
        options = {"headers": {"content-type": "application/pdf"}, "params": {"kind": "other"}}
        self._documents.append((await self._firm.admin.call("POST", path, content=content, **options))["id"])
        wallet = await self._firm.post("/wallets", {"label": f"Wallet {len(self._wallets)}"})
        self._wallets.append(wallet["address"])
        await self._firm.post(f"{self._endpoint}/rotate-secret", {"overlap_seconds": 600})
        async with db.worker() as session:
            session.add(mail(self._firm.id, "guest@example.com", "Hello", BODY, Cause(MailKind.NOTICE)))

    async def read(self, home: Path) -> None:
        """Decrypt everything; wallets as in a process that has not opened their keys yet."""
        store = Keystore(KeystoreFiles(home, None))
        for address in self._wallets:
            await store.sign_message(address, "hello")
        origin, cookie = f"{settings().origin}/v1", {"cookie": self._firm.admin.cookie}
        async with httpx.AsyncClient(transport=runtime.local_transport(self._api), base_url=origin) as http:
            for number, id_ in enumerate(self._documents):
                answer = await http.get(f"{DOCUMENTS.format(self._party)}/{id_}", headers=cookie)
                assert (answer.status_code, answer.content) == (200, document(number))
        async with db.worker() as session:
            own = sa.select(OutboxRow).where(col(OutboxRow.organization_id) == self._firm.id)
            mails = (await session.scalars(own)).all()
        assert {row.body for row in mails if row.subject == "Hello"} == {BODY}
