"""`signum`: the commands of the operator (`serve | worker | migrate | reconcile | bootstrap | rotate-keys | outbox |
backup | restore | export | erase | chain check | chain rewind | audit verify | approvals lift | factors remove |
ip-ranges clear | config check | openapi`) and of users.
"""

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from backend.cli import registration as commands
from backend.core.settings import settings

if TYPE_CHECKING:
    from fastapi import FastAPI

# Declared at import.
app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
# Declared at import.
audit = typer.Typer(no_args_is_help=True, help="The audit log.")
app.add_typer(audit, name="audit")
# Declared at import.
approvals = typer.Typer(no_args_is_help=True, help="Approvals by a second person.")
app.add_typer(approvals, name="approvals")
# Declared at import.
factors = typer.Typer(no_args_is_help=True, help="Second factors of accounts.")
app.add_typer(factors, name="factors")
# Declared at import.
ip_ranges = typer.Typer(no_args_is_help=True, help="Allowed IP ranges of organizations.")
app.add_typer(ip_ranges, name="ip-ranges")
# Declared at import.
chain = typer.Typer(no_args_is_help=True, help="The chains and their nodes.")
app.add_typer(chain, name="chain")

commands.add_to(app)


@app.callback()
def main() -> None:
    """Signum: issue tokenized real-world assets and keep them compliant."""
    from backend.core.logs import output

    output.configure()


@app.command()
def serve() -> None:
    """Start the console and the API, with an embedded database and chains unless external ones are set."""
    from backend.server import supervisor

    supervisor.guarded(lambda: supervisor.serve(settings(), _api))


def _api() -> "FastAPI":
    from backend.api import of_process

    return of_process()


@app.command()
def migrate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the SQL and change nothing")] = False,
    accept_drift: Annotated[bool, typer.Option("--accept-drift", help="keep changes that others made")] = False,
    wait: Annotated[float, typer.Option(help="seconds to wait for another migration")] = 300,
    lock_timeout: Annotated[float, typer.Option(help="seconds to wait for a table, at each attempt")] = 5,
    statement_timeout: Annotated[float, typer.Option(help="seconds that a statement may take")] = 900,
) -> None:
    """Migrate the database of DATABASE_URL to the newest schema, and create the login roles of web and workers."""
    from backend.migrations.migrate import Terms
    from backend.server import schema, supervisor

    terms = Terms(wait, lock_timeout, statement_timeout)
    sql = supervisor.guarded(
        lambda: schema.migrate_only(settings(), terms, is_dry_run=dry_run, accepts_drift=accept_drift)
    )
    typer.echo(sql or "The database has the newest schema.")


@app.command()
def openapi() -> None:
    """Print the API's OpenAPI document, as `backend/openapi.json` holds it."""
    from backend.api import create_api
    from backend.openapi import text
    from backend.server import supervisor

    typer.echo(supervisor.guarded(lambda: text(create_api().openapi())), nl=False)


@app.command()
def bootstrap(
    organization: Annotated[str, typer.Option(prompt=True, help="Name of the first organization.")],
    email: Annotated[str, typer.Option(prompt=True, help="Email address of its first admin.")],
    name: Annotated[str, typer.Option(prompt="Name of the admin", help="Name of its first admin.")],
    password: Annotated[
        str, typer.Option(prompt=True, hide_input=True, confirmation_prompt=True, help="Password of its first admin.")
    ],
) -> None:
    """Create the first organization and its admin in an empty database (while `signum serve` runs)."""
    import asyncio

    from backend.cli.bootstrap import found
    from backend.server import supervisor

    organization_id = supervisor.guarded(lambda: asyncio.run(found(settings(), organization, email, name, password)))
    typer.echo(f"Created {organization} ({organization_id}). Sign in at {settings().origin} as {email}.")


@app.command()
def demo_reset() -> None:
    """Reset the demo of the data folder: a running server restarts, otherwise the next start creates the demo again."""
    import asyncio

    from backend.demo.reset import start_over
    from backend.server import supervisor

    typer.echo(supervisor.guarded(lambda: asyncio.run(start_over(settings()))))


@app.command()
def rotate_keys() -> None:
    """Create a new signing key.

    The old key verifies for another hour. A running server loads the new key within a minute.
    """
    import asyncio

    from backend.cli.bootstrap import rotate
    from backend.server import supervisor

    typer.echo(f"New tokens are signed with {supervisor.guarded(lambda: asyncio.run(rotate(settings())))}.")


@app.command()
def worker(
    chain: Annotated[
        list[int] | None,
        typer.Option(
            help="Endpoint ID of a chain that this process serves; can be repeated. Default: all of "
            "SIGNUM_WORKER_CHAINS."
        ),
    ] = None,
) -> None:
    """Do the work of some chains in a separate process, beside a running `signum serve`. Stop with SIGTERM."""
    import asyncio

    from backend.server import supervisor
    from backend.server.worker import work

    supervisor.guarded(lambda: asyncio.run(work(settings(), chain or settings().worker_chains)))


@app.command()
def reconcile(
    chain: Annotated[
        list[int] | None, typer.Option(help="Endpoint ID of a chain; default: all chains with a node.")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair differences by reading the chain again. Never writes to the chain.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List every difference between the database and the chains (while `signum serve` runs, or with DATABASE_URL).

    Exit code 0 where they agree, 1 where they differ, 2 where a chain could not be read.
    """
    import asyncio

    from backend.cli.reconcile import reconciled
    from backend.server import supervisor

    report = supervisor.guarded(lambda: asyncio.run(reconciled(settings(), chain, repairs=repair)))
    typer.echo(report.as_json() if as_json else report.as_table())
    raise typer.Exit(report.exit_code)


@app.command()
def outbox(
    to: Annotated[str | None, typer.Option(help="Only emails to this address.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Number of newest emails.")] = 10,
) -> None:
    """Read emails that were kept because no mail server is set, including password reset links (while `signum serve`
    runs, or with DATABASE_URL).

    Needs access to the database.
    """
    import asyncio

    from backend.cli.outbox import read
    from backend.server import supervisor

    for mail in supervisor.guarded(lambda: asyncio.run(read(settings(), to, limit))):
        text = mail.body or "(The text was deleted: its link was used, was revoked or has expired.)"
        typer.echo(f"{mail.created_at:%Y-%m-%d %H:%M:%S}  To: {mail.recipient}\nSubject: {mail.subject}\n\n{text}\n")


@chain.command("check")
def check_chain(
    eid: Annotated[int, typer.Option(help="LayerZero's endpoint ID of the chain.")],
    url: Annotated[str | None, typer.Option(help="An RPC URL to check; default: those of SIGNUM_RPC_URLS.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Check what a chain's nodes support, and which settings suit them. Prints only hosts, never whole URLs.

    Exit code 0: every node is suitable. 1: one is not. 2: one does not respond.
    """
    import asyncio

    from backend.chain.node_check.service import check_configured
    from backend.server import supervisor

    report = supervisor.guarded(lambda: asyncio.run(check_configured(eid, url)))
    typer.echo(report.as_json() if as_json else report.as_text())
    raise typer.Exit(report.exit_code)


@chain.command("rewind")
def rewind_chain(
    eid: Annotated[int, typer.Option(help="LayerZero's endpoint ID of the chain.")],
    to_block: Annotated[int, typer.Option(help="The newest block to keep; later blocks are read again.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Read a chain again from a block, after a reorganization that was too deep for automatic recovery (while `signum
    serve` runs, or with DATABASE_URL).
    """
    import asyncio

    from backend.cli.chain_rewind import plan, rewind
    from backend.server import supervisor

    planned = supervisor.guarded(lambda: asyncio.run(plan(settings(), eid, to_block)))
    typer.echo("\n".join(planned.lines()))
    if not yes:
        typer.confirm(f"Rewind to block {to_block}?", abort=True)
    supervisor.guarded(lambda: asyncio.run(rewind(settings(), planned)))
    typer.echo(f"Rewound to block {to_block}. The indexer continues from there.")


@audit.command("verify")
def verify_audit(
    organization: Annotated[UUID | None, typer.Option(help="Only this organization's log, by its ID.")] = None,
) -> None:
    """Recompute every hash of the audit log (while `signum serve` runs, or with DATABASE_URL).

    Exit code 0: every chain is intact. 3: one is broken, and the output says where. 1: the check could not run.
    """
    import asyncio

    from backend.cli import audit_verify
    from backend.metrics import verifications
    from backend.server import supervisor

    findings = supervisor.guarded(lambda: asyncio.run(audit_verify.verify(settings(), organization)))
    if organization is None:
        verifications.note(settings().home, is_whole=all(found.whole for _, _, found in findings))
    for organization_id, name, found in findings:
        entries = f"{found.length} entries" if found.broken is None else f"broken at entry {found.broken.seq}"
        if found.whole and found.erased:
            by = ", ".join(map(str, found.erasures))
            entries += f", {found.erased} of them erased by entry {by}"
        reason = "" if found.broken is None else f" {found.broken.reason}"
        typer.echo(f"{'intact' if found.whole else 'BROKEN'}  {organization_id}  {name}: {entries}.{reason}")
    if not all(found.whole for _, _, found in findings):
        raise typer.Exit(3)


@approvals.command("lift")
def lift_approvals(
    organization: Annotated[UUID, typer.Option("--org", help="The organization, by its ID.")],
    reason: Annotated[str, typer.Option(prompt="Reason", help="Stored in the organization's audit log.")],
) -> None:
    """Remove all approval requirements of an organization whose only other admin cannot be reached (while `signum
    serve` runs, or with DATABASE_URL).

    Its audit log keeps the reason.
    """
    import asyncio

    from backend.cli.approvals_lift import lift
    from backend.server import supervisor

    for line in supervisor.guarded(lambda: asyncio.run(lift(settings(), organization, reason))):
        typer.echo(line)


@factors.command("remove")
def remove_factors(
    email: Annotated[str, typer.Option(help="Email address of the account.")],
    reason: Annotated[
        str, typer.Option(prompt="Reason", help="Stored in the audit logs of the person's organizations.")
    ],
) -> None:
    """Remove all second factors of a person who has lost them and their recovery codes (while `signum serve` runs, or
    with DATABASE_URL).

    Verify the person's identity first. All their sessions end.
    """
    import asyncio

    from backend.cli.factors_remove import remove
    from backend.server import supervisor

    typer.echo(supervisor.guarded(lambda: asyncio.run(remove(settings(), email, reason))))


@ip_ranges.command("clear")
def clear_ip_ranges(
    organization: Annotated[UUID, typer.Option("--org", help="The organization, by its ID.")],
    reason: Annotated[str, typer.Option(prompt="Reason", help="Stored in the organization's audit log.")],
) -> None:
    """Let an organization allow every IP address, where its ranges lock its admins out (while `signum serve` runs, or
    with DATABASE_URL).

    Verify the requester's identity first. The audit log keeps the reason.
    """
    import asyncio

    from backend.cli import ip_ranges_clear
    from backend.server import supervisor

    cleared = ip_ranges_clear.clear_ip_ranges(settings(), organization, reason)
    for line in supervisor.guarded(lambda: asyncio.run(cleared)):
        typer.echo(line)
