"""The commands of people and programs that use an installation, with the Python client (docs/cli.md).

Only Typer is imported here; other imports happen when a command runs, so that `signum serve` starts quickly.
"""

import typer

from backend.backups import command as backups
from backend.cli import (
    access,
    assets,
    attestations,
    markets,
    members,
    organizations,
    requests,
)
from backend.cli.tenant_data import erasure, export
from backend.configuration import command as configuration
from backend.secret_keys import command as keys

GROUPS = {
    "erase": (erasure.app, "Erasure of personal data, as a law requires."),
    "config": (configuration.app, "The configuration of an installation."),
    "keys": (keys.app, "The keys in the database: list and rotate them."),
    "orgs": (organizations.app, "Organizations: show the tree, move organizations."),
    "assets": (assets.app, "Assets: list assets, change their rules."),
    "markets": (markets.app, "Markets: deploy markets."),
    "events": (requests.events, "Events: follow the changes of an organization."),
    "requests": (requests.app, "Requests: follow accepted operations."),
}


def add_to(app: typer.Typer) -> None:
    """Add the commands to the operator's."""
    for name, (group, words) in GROUPS.items():
        app.add_typer(group, name=name, help=words, no_args_is_help=True)
    app.command()(backups.backup)
    app.command()(backups.restore)
    app.command()(export.export)
    app.command()(access.login)
    app.command()(access.logout)
    app.command()(attestations.attest)
    app.command()(attestations.revoke)
    app.command()(members.eligibility)
