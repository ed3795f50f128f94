"""`signum login` and `logout`."""

import os
import sys
from typing import Annotated

import typer

from backend.cli.exit import command


@command
async def login(
    email: Annotated[str, typer.Option(prompt=True, help="Email address of your account.")],
    password: Annotated[
        str,
        typer.Option(
            prompt=True, hide_input=True, envvar="SIGNUM_PASSWORD", help="Password; asked for if it is not set."
        ),
    ],
    url: Annotated[
        str | None, typer.Option(envvar="SIGNUM_URL", help="The installation's origin; default: http://localhost:8000.")
    ] = None,
    org: Annotated[
        str | None,
        typer.Option(
            envvar="SIGNUM_ORG", help="The organization to work in, by its ID; default: the first one you belong to."
        ),
    ] = None,
    code: Annotated[
        str | None,
        typer.Option(help="A code of your authenticator app, or a recovery code, if your account has a second factor."),
    ] = None,
) -> None:
    """Sign in. The sign-in is stored in a file that only you can read."""
    from backend.cli import credentials as keeping
    from backend.cli import output
    from backend.cli.connection import DEFAULT_URL
    from backend.client import ApiProblem, SignumClient
    from backend.sign_in.schemas import Login

    origin = (url or DEFAULT_URL).rstrip("/")
    async with SignumClient(origin) as client:
        given = {"email": email, "password": password, "org_id": org, "code": code}
        try:
            tokens = await client.login(Login.model_validate(given))
        except ApiProblem as problem:
            if problem.rule != "second_factor" or not sys.stdin.isatty():
                raise
            given["code"] = typer.prompt("Second-factor code")
            tokens = await client.login(Login.model_validate(given))
    first = str(tokens.organizations[0].id) if tokens.organizations else None
    name = tokens.user.email or email
    keeping.write(keeping.Kept(origin, name, tokens.access_token, tokens.refresh_token, org or first))
    output.say(f"Signed in to {origin} as {name}. Stored in {keeping.place()}, readable only by you.")
    if os.environ.get("SIGNUM_API_KEY"):
        output.say("SIGNUM_API_KEY is set and takes precedence: commands use that key.")


@command
async def logout() -> None:
    """Sign out, here and at the installation."""
    import httpx

    from backend.cli import credentials as keeping
    from backend.cli import output
    from backend.cli.connection import KeptClient
    from backend.client import ApiProblem

    kept = keeping.read()
    if kept is not None:
        try:
            async with KeptClient(kept) as client:
                await client.logout()
        except (ApiProblem, httpx.TransportError) as error:
            # The session expires anyway; removing the local credentials is what matters.
            output.say(f"The installation did not end the session ({error}).")
        keeping.forget()
    output.say("Signed out.")
