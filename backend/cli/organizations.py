"""`signum orgs`."""

from typing import TYPE_CHECKING, Annotated

import typer

from backend.cli.exit import command
from backend.cli.options import DryRun, Json, Org

if TYPE_CHECKING:
    from backend.client import SignumClient
    from backend.organizations.schemas import MovePlan, TreeNode

# Declared at import.
app = typer.Typer()


@app.command()
@command
async def tree(org: Org = None, as_json: Json = False) -> None:
    """Show an organization and everything below it."""
    from backend.cli import output
    from backend.cli.connection import connected, organization

    async with connected() as client:
        top = await organization(client, org)
        nodes = await _below(client, top)
    if as_json:
        output.show_all(nodes)
        return
    shallow = nodes[0].depth if nodes else 0
    output.table(
        ("Organization", "Status", "Id"), [("  " * (n.depth - shallow) + n.name, n.status, n.id) for n in nodes]
    )


async def _below(client: "SignumClient", top: str) -> "list[TreeNode]":
    """Return the node itself, then all below it, each under its parent."""
    nodes = [node async for node in client.get_tree(top)]
    found: list[TreeNode] = []
    for node in nodes:
        found.append(node)
        if node.has_children and str(node.id) != top:
            found += (await _below(client, str(node.id)))[1:]
    return found


@app.command()
@command
async def move(
    organization_id: Annotated[
        str, typer.Argument(metavar="ORGANIZATION", help="The organization to move, by its ID.")
    ],
    to: Annotated[str, typer.Option(help="The new parent, by its ID.")],
    dry_run: DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: Json = False,
) -> None:
    """Move an organization, with all below it, to another parent. Shows the effects, and asks for confirmation.

    Needs the sign-in of an admin of both parents (`signum login`); an API key moves nothing.
    """
    from backend.cli import output
    from backend.cli.connection import check_signed_in, connected
    from backend.cli.exit import CannotRun
    from backend.organizations.schemas import OrganizationMove

    check_signed_in("Only a signed-in admin of both parents can move an organization.")
    async with connected() as client:
        moving = await client.get_organization(organization_id)
        if moving.parent_id is None:
            raise CannotRun(f"{moving.name} is the root of its tree and cannot be moved.")
        body = OrganizationMove.model_validate({"newParentId": to})
        plan = await client.move_sub_organization(moving.parent_id, moving.id, body, dry_run=True)
        if dry_run and as_json:
            output.show(plan)
        elif not as_json:
            _show(plan)
        if dry_run:
            return
        if not yes and not typer.confirm("Move it?", err=True):
            raise typer.Abort
        moved = await client.move_sub_organization(moving.parent_id, moving.id, body)
    if as_json:
        output.show(moved)
    else:
        output.say(f"{moved.name} is now at depth {moved.depth}.")


def _show(plan: "MovePlan") -> None:
    from backend.cli import output

    output.table(("From", "To"), [(n.path_before, n.path_after) for n in plan.impact.nodes])
    if plan.impact.access:
        output.table(("Person", "Role", ""), [(a.display_name, a.role, a.change) for a in plan.impact.access])
