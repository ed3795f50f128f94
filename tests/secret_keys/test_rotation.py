"""Keys are rotated by a command while the API works, and an interrupted rotation is continued."""

import asyncio
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from backend.auth import tokens
from backend.core import db
from backend.core.encryption import versions_of
from backend.core.secret_keys.keyring import Purpose
from backend.core.settings import settings
from backend.secret_keys import rotation
from backend.secret_keys.sealed_columns import Bytes
from tests.conftest import World
from tests.secret_keys.office import Office
from tests.secret_keys.processes import Machine

ROTATED = [Purpose.WALLETS, *(pytest.param(p, marks=pytest.mark.long) for p in (Purpose.DOCUMENTS, Purpose.SECRETS))]
SEALED = {
    Purpose.WALLETS: "select sealed from wallet_keys",
    Purpose.DOCUMENTS: "select sealed from party_file_parts",
    Purpose.SECRETS: "select sealed from signing_keys union all select sealed from factors where sealed <> '' "
    "union all select body from outbox where body <> '' union all select secret from webhook_endpoints "
    "union all select jsonb_array_elements(old_secrets) ->> 'secret' from webhook_endpoints",
}


async def versions(purpose: Purpose) -> set[int]:
    """Return the versions that the stored contents of a purpose name."""
    async with db.worker() as session:
        found = list(await session.scalars(sa.text(SEALED[purpose])))
    assert found
    return {versions_of(b64decode(one) if isinstance(one, str) else bytes(one))[0] for one in found}


async def states(purpose: Purpose) -> dict[int, tuple[bool, bool]]:
    """Return by version whether it is retired, and whether its key is deleted."""
    query = "select version, retired_at is not null, wrapped is null from data_keys where purpose = :purpose"
    async with db.worker() as session:
        rows = await session.execute(sa.text(query), {"purpose": purpose.value})
        return {version: (is_retired, is_deleted) for version, is_retired, is_deleted in rows}


def server(database_url: str) -> Machine:
    """The machine of the API of the tests."""
    return Machine(settings().home, database_url)


@pytest.mark.parametrize("purpose", ROTATED)
async def test_key_is_rotated_while_the_api_reads_and_writes(
    world: World, api: Any, database_url: str, tmp_path: Path, purpose: Purpose
) -> None:
    office = await Office.open(world, api)
    before = max(await states(purpose))
    command, rounds = server(database_url).start("keys", "rotate", purpose.value), 0
    while command.poll() is None:
        await office.write()
        await office.read(tmp_path)
        rounds += 1
    out, err = await asyncio.to_thread(command.communicate)
    assert (command.returncode, rounds > 2) == (0, True), out + err
    assert await versions(purpose) == {before + 1}
    found = await states(purpose)
    assert (found[before], found[before + 1]) == ((True, False), (False, False))
    await office.write()
    await office.read(tmp_path)
    assert await versions(purpose) == {before + 1}
    async with db.worker() as session:
        signing = [key["kid"] for key in tokens.published()]
        await tokens.load_keys(session)
        assert [key["kid"] for key in tokens.published()] == signing, "tokens stay valid"


async def test_interrupted_rotation_is_continued_with_its_version(
    world: World, api: Any, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = await Office.open(world, api)
    before, replace, replaced = max(await states(Purpose.DOCUMENTS)), Bytes.replace, []

    def die_at_the_second(column: Bytes, *arguments: Any) -> None:
        replaced.append(arguments)
        if len(replaced) == 2:
            raise SystemExit
        replace(column, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(rotation, "BATCH", 1)
        patched.setattr(Bytes, "replace", die_at_the_second)
        with pytest.raises(SystemExit):
            rotation.rotate(Purpose.DOCUMENTS, lambda _: None)
    assert await versions(Purpose.DOCUMENTS) == {before, before + 1}
    await office.read(tmp_path)
    killed = server(database_url).start("keys", "rotate", "documents")
    await asyncio.to_thread(killed.stdout.readline)  # type: ignore[union-attr]
    killed.kill()
    await asyncio.to_thread(killed.communicate)
    await office.read(tmp_path)
    code, output = await asyncio.to_thread(server(database_url).run, "keys", "rotate", "documents")
    assert code == 0, output
    assert await versions(Purpose.DOCUMENTS) == {before + 1}
    assert max(await states(Purpose.DOCUMENTS)) == before + 1
    await office.read(tmp_path)


async def test_retired_key_is_deleted_after_a_week_and_contents_that_need_it_are_saved(
    world: World, api: Any, tmp_path: Path
) -> None:
    office = await Office.open(world, api)
    old = max(await states(Purpose.DOCUMENTS))
    version = rotation._begin(Purpose.DOCUMENTS)
    retire = "update data_keys set retired_at = now() - interval '{}' where purpose = 'documents' and version = :old"
    for age, is_deleted in (("6 days", False), ("8 days", True)):
        async with db.worker() as session:
            await session.execute(sa.text(retire.format(age)), {"old": old})
        await asyncio.to_thread(rotation.delete_retired)
        assert (await states(Purpose.DOCUMENTS))[old] == (True, is_deleted)
    assert await versions(Purpose.DOCUMENTS) == {version}
    await office.read(tmp_path)
