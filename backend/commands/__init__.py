"""The commands of people and programs that use an installation, over the Python client (docs/cli.md).

Only Typer is imported here; everything else when a command runs, so that `signum serve` starts as fast as without them.
"""

import typer

from backend.commands import access, assets, attestations, markets, members, organizations, requests

GROUPS = {
    "orgs": (organizations.app, "Organizations: their tree, and moves in it."),
    "assets": (assets.app, "Assets: list them, change their rules."),
    "markets": (markets.app, "Markets: deploy them."),
    "requests": (requests.app, "Requests: what was accepted and how far it is."),
}


def add_to(app: typer.Typer) -> None:
    """Add the commands beside the operator's."""
    for name, (group, words) in GROUPS.items():
        app.add_typer(group, name=name, help=words, no_args_is_help=True)
    app.command()(access.login)
    app.command()(access.logout)
    app.command()(attestations.attest)
    app.command()(attestations.revoke)
    app.command()(members.eligibility)
