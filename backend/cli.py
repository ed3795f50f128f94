"""`signum`: the operator's commands (`serve | worker | migrate | reconcile | bootstrap | rotate-keys | outbox |
chain check | chain rewind | audit verify | approvals lift | factors remove | ip-ranges clear |
openapi`), and its users'.
"""

from typing import Annotated
from uuid import UUID

import typer

from backend import commands
from backend.settings import settings

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
audit = typer.Typer(no_args_is_help=True, help="The log of every change.")
app.add_typer(audit, name="audit")
approvals = typer.Typer(no_args_is_help=True, help="What needs a second person.")
app.add_typer(approvals, name="approvals")
factors = typer.Typer(no_args_is_help=True, help="Second factors of people.")
app.add_typer(factors, name="factors")
ip_ranges = typer.Typer(no_args_is_help=True, help="Allowed IP ranges of organizations.")
app.add_typer(ip_ranges, name="ip-ranges")
chain = typer.Typer(no_args_is_help=True, help="The chains and their nodes.")
app.add_typer(chain, name="chain")

commands.add_to(app)


@app.callback()
def main() -> None:
    """Signum: issue tokenized real-world assets and keep them compliant."""
    from backend import logs

    logs.configure()


@app.command()
def serve() -> None:
    """Start the console and the API, with an embedded database and chains unless others are set."""
    from backend import supervisor

    supervisor.guarded(lambda: supervisor.serve(settings()))


@app.command()
def migrate() -> None:
    """Bring the database of DATABASE_URL to the newest schema, and make the login roles of web and workers."""
    from backend import supervisor

    supervisor.guarded(lambda: supervisor.migrate_only(settings()))
    typer.echo("The database has the newest schema.")


@app.command()
def openapi() -> None:
    """Print the API's OpenAPI document, as `backend/openapi.json` holds it."""
    from backend.api import create_api
    from backend.openapi import text

    typer.echo(text(create_api().openapi()), nl=False)


@app.command()
def bootstrap(
    organization: Annotated[str, typer.Option(prompt=True, help="Name of the first organization.")],
    email: Annotated[str, typer.Option(prompt=True, help="Address of its first admin.")],
    name: Annotated[str, typer.Option(prompt="Name of the admin", help="Name of its first admin.")],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True, confirmation_prompt=True)],
) -> None:
    """Make the first organization and its admin in a database that has none (while `signum serve` runs)."""
    import asyncio

    from backend import supervisor
    from backend.auth.bootstrap import found

    organization_id = supervisor.guarded(lambda: asyncio.run(found(settings(), organization, email, name, password)))
    typer.echo(f"Made {organization} ({organization_id}). Sign in on {settings().origin} as {email}.")


@app.command()
def rotate_keys() -> None:
    """Let a new key sign tokens; the one before verifies for another hour. A running server takes it up in a minute."""
    import asyncio

    from backend import supervisor
    from backend.auth.bootstrap import rotate

    typer.echo(f"Tokens are signed with {supervisor.guarded(lambda: asyncio.run(rotate(settings())))} from now on.")


@app.command()
def worker(
    chain: Annotated[
        list[int], typer.Option(help="Endpoint id of a chain whose work this process does; may be repeated.")
    ],
) -> None:
    """Do the work of some chains in a process of its own, beside a running `signum serve`. Stop with SIGTERM."""
    import asyncio

    from backend import supervisor
    from backend.worker import work

    supervisor.guarded(lambda: asyncio.run(work(settings(), chain)))


@app.command()
def reconcile(
    chain: Annotated[
        list[int] | None, typer.Option(help="Endpoint id of a chain; every one with a node by default.")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair what reading the chain again can. The chain is never written.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List every difference between the database and the chains (while `signum serve` runs, or with DATABASE_URL).

    Exit code 0 where they agree, 1 where they differ, 2 where a chain could not be read.
    """
    import asyncio

    from backend import supervisor
    from backend.reconciliation.outside import reconciled

    report = supervisor.guarded(lambda: asyncio.run(reconciled(settings(), chain, repairs=repair)))
    typer.echo(report.as_json() if as_json else report.as_table())
    raise typer.Exit(report.exit_code)


@app.command()
def outbox(
    to: Annotated[str | None, typer.Option(help="Only mails to this address.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="The newest ones.")] = 10,
) -> None:
    """Read mails that were kept because no mail server is set, links of forgotten passwords among them: for whoever may
    open the database (while `signum serve` runs, or with DATABASE_URL)."""
    import asyncio

    from backend import supervisor
    from backend.mail.outside import read

    for mail in supervisor.guarded(lambda: asyncio.run(read(settings(), to, limit))):
        text = mail.body or "(The text was deleted: its link was used, revoked or has expired.)"
        typer.echo(f"{mail.created_at:%Y-%m-%d %H:%M:%S}  To: {mail.recipient}\nSubject: {mail.subject}\n\n{text}\n")


@chain.command("check")
def check_chain(
    eid: Annotated[int, typer.Option(help="LayerZero's endpoint id of the chain.")],
    url: Annotated[str | None, typer.Option(help="An RPC URL to check; by default those of SIGNUM_RPC_URLS.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Check what a chain's nodes support, and which settings fit them. Only hosts are printed, never whole URLs.

    Exit code 0 where every node is good enough, 1 where one is not, 2 where one does not answer.
    """
    import asyncio

    from backend import supervisor
    from backend.chain.node_check.outside import checked

    report = supervisor.guarded(lambda: asyncio.run(checked(eid, url)))
    typer.echo(report.as_json() if as_json else report.as_text())
    raise typer.Exit(report.exit_code)


@chain.command("rewind")
def rewind_chain(
    eid: Annotated[int, typer.Option(help="LayerZero's endpoint id of the chain.")],
    to_block: Annotated[int, typer.Option(help="The newest block that stays; everything after it is read again.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Read a chain again from a block on, after a reorganization that was too deep to be undone automatically (while
    `signum serve` runs, or with DATABASE_URL)."""
    import asyncio

    from backend import supervisor
    from backend.chain_rewind import plan, rewind

    planned = supervisor.guarded(lambda: asyncio.run(plan(settings(), eid, to_block)))
    typer.echo("\n".join(planned.lines()))
    if not yes:
        typer.confirm(f"Rewind to block {to_block}?", abort=True)
    supervisor.guarded(lambda: asyncio.run(rewind(settings(), planned)))
    typer.echo(f"Rewound to block {to_block}. The indexer reads on from there.")


@audit.command("verify")
def verify_audit(
    organization: Annotated[UUID | None, typer.Option(help="Only this organization's log, by its id.")] = None,
) -> None:
    """Compute every hash of the audit log again (while `signum serve` runs, or with DATABASE_URL).

    Exit code 0: every chain is whole. 3: one is broken, and the output says where. 1: it could not be looked at.
    """
    import asyncio

    from backend import supervisor
    from backend.audit import operator

    findings = supervisor.guarded(lambda: asyncio.run(operator.verify(settings(), organization)))
    for organization_id, name, found in findings:
        entries = f"{found.length} entries" if found.broken is None else f"broken at entry {found.broken.seq}"
        reason = "" if found.broken is None else f" {found.broken.reason}"
        typer.echo(f"{'whole ' if found.whole else 'BROKEN'}  {organization_id}  {name}: {entries}.{reason}")
    if not all(found.whole for _, _, found in findings):
        raise typer.Exit(3)


@approvals.command("lift")
def lift_approvals(
    organization: Annotated[UUID, typer.Option("--org", help="The organization, by its id.")],
    reason: Annotated[str, typer.Option(prompt="Why", help="Kept in the organization's audit log.")],
) -> None:
    """Let nothing in an organization need a second person any more, where the only other admin cannot be reached (while
    `signum serve` runs, or with DATABASE_URL). Its audit log keeps it, with the reason."""
    import asyncio

    from backend import supervisor
    from backend.approvals.operator import lift

    for line in supervisor.guarded(lambda: asyncio.run(lift(settings(), organization, reason))):
        typer.echo(line)


@factors.command("remove")
def remove_factors(
    email: Annotated[str, typer.Option(help="Whose second factors, by the address they sign in with.")],
    reason: Annotated[str, typer.Option(prompt="Why", help="Kept in the audit log of their organizations.")],
) -> None:
    """Remove every second factor of somebody who has lost them and their recovery codes, once you have made sure who
    asks (while `signum serve` runs, or with DATABASE_URL). Every session of theirs ends."""
    import asyncio

    from backend import supervisor
    from backend.factors.operator import remove

    typer.echo(supervisor.guarded(lambda: asyncio.run(remove(settings(), email, reason))))


@ip_ranges.command("clear")
def clear_ip_ranges(
    organization: Annotated[UUID, typer.Option("--org", help="The organization, by its id.")],
    reason: Annotated[str, typer.Option(prompt="Why", help="Kept in the organization's audit log.")],
) -> None:
    """Let an organization allow every IP address, where its ranges shut its admins out and you have made sure who asks
    (while `signum serve` runs, or with DATABASE_URL). Its audit log keeps it, with the reason."""
    import asyncio

    from backend import supervisor
    from backend.organizations import operator

    for line in supervisor.guarded(lambda: asyncio.run(operator.clear_ip_ranges(settings(), organization, reason))):
        typer.echo(line)


if __name__ == "__main__":
    app()
