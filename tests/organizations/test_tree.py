"""The tree: one node's children at a time."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from backend.client import ApiProblem
from backend.core import db
from backend.core.pagination import encode_parts
from backend.lists.pages import mark_of
from tests.conftest import Actor, World


async def pages(person: Actor, path: str, **params: Any) -> list[dict[str, Any]]:
    nodes, cursor = [], None
    while True:
        page = await person.call("GET", path, params={**params, "cursor": cursor})
        nodes += page["nodes"]
        if not (cursor := page["nextCursor"]):
            return nodes


async def test_tree_node_lists_its_children_by_name(world: World) -> None:
    top = await world.organization("Top")
    for name in ("beta", "Alpha", "gamma", "Alpha", "Delta"):
        child = await world.organization(name, top)
    await world.organization("Grandchild", child)
    person = await world.person(top)
    nodes = await pages(person, f"/orgs/{top}/tree", limit=2)
    assert [(n["name"], n["depth"], n["child_count"]) for n in nodes] == [
        ("Top", 0, 5),
        ("Alpha", 1, 0),
        ("Alpha", 1, 0),
        ("beta", 1, 0),
        ("Delta", 1, 1),
        ("gamma", 1, 0),
    ]
    below = await pages(person, f"/orgs/{top}/tree", parent=str(child))
    assert [(n["name"], n["depth"], n["has_children"], n["parent_id"]) for n in below] == [
        ("Grandchild", 2, False, str(child))
    ]


async def test_tree_for_a_key_starts_at_its_organization(world: World) -> None:
    top = await world.organization("Top")
    mine = await world.organization("Mine", top)
    below = await world.organization("Below", mine)
    key = await world.key(mine)
    found = await world.client.call("GET", f"/orgs/{mine}/tree", headers=key)
    assert [(n["name"], n["depth"]) for n in found["nodes"]] == [("Mine", 1), ("Below", 2)]
    assert (await world.client.call("GET", f"/orgs/{mine}/tree?parent={below}", headers=key))["nodes"] == []
    for foreign in (top, await world.organization("Foreign")):
        with pytest.raises(ApiProblem) as refused:
            await world.client.call("GET", f"/orgs/{mine}/tree?parent={foreign}", headers=key)
        assert refused.value.status == 404


@pytest.mark.parametrize("query", ["parent=x", "cursor=x", "cursor={forged}", "limit=-1"])
async def test_tree_with_an_invalid_query_is_a_400(world: World, query: str) -> None:
    top = await world.organization()
    person = await world.person(top)
    forged = encode_parts(mark_of(f"/v1/orgs/{top}/tree"), "a", "b")
    with pytest.raises(ApiProblem) as refused:
        await person.call("GET", f"/orgs/{top}/tree?{query.format(forged=forged)}")
    assert refused.value.status == 400


async def test_number_of_children_follows_creation_move_and_deletion(world: World) -> None:
    top = await world.organization("Top")
    near, far = await world.organization("Near", top), await world.organization("Far", top)
    person = await world.person(top)
    unit = (await person.call("POST", f"/orgs/{near}/sub-orgs", json={"name": "Unit"}))["id"]

    async def counts() -> dict[str, int]:
        nodes = (await person.call("GET", f"/orgs/{top}/tree"))["nodes"]
        return {node["name"]: node["child_count"] for node in nodes}

    assert await counts() == {"Top": 2, "Near": 1, "Far": 0}
    await person.call("POST", f"/orgs/{near}/sub-orgs/{unit}/move", json={"newParentId": str(far)})
    assert await counts() == {"Top": 2, "Near": 0, "Far": 1}
    async with db.worker() as session:
        await session.execute(sa.text("update organizations set name = 'Distant' where id = :id"), {"id": far})
        await session.execute(sa.text("delete from organizations where id = :id"), {"id": near})
    assert await counts() == {"Top": 1, "Distant": 1}


async def test_organizations_created_at_the_same_time_are_all_counted(world: World) -> None:
    top = await world.organization("Top")
    person = await world.person(top)
    made = (person.call("POST", f"/orgs/{top}/sub-orgs", json={"name": f"Unit {n}"}) for n in range(8))
    await asyncio.gather(*made)
    assert (await person.call("GET", f"/orgs/{top}/tree"))["nodes"][0]["child_count"] == 8
