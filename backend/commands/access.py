"""`signum login` and `logout`."""

import os
import sys
from typing import Annotated

import typer

from backend.commands.ending import command


@command
async def login(
    email: Annotated[str, typer.Option(prompt=True, help="The address you sign in with.")],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True, envvar="SIGNUM_PASSWORD")],
    url: Annotated[str | None, typer.Option(envvar="SIGNUM_URL", help="The installation's origin.")] = None,
    org: Annotated[str | None, typer.Option(envvar="SIGNUM_ORG", help="The organization to work in.")] = None,
    code: Annotated[
        str | None, typer.Option(help="A code of your authenticator app, or a recovery code, if you have them.")
    ] = None,
) -> None:
    """Sign in; the sign-in is kept in a file that only you can read."""
    from backend.auth.schemas import Login
    from backend.client import ApiProblem, SignumClient
    from backend.commands import keeping, output
    from backend.commands.connecting import DEFAULT_URL

    origin = (url or DEFAULT_URL).rstrip("/")
    async with SignumClient(origin) as client:
        given = {"email": email, "password": password, "org_id": org, "code": code}
        try:
            tokens = await client.login(Login.model_validate(given))
        except ApiProblem as problem:
            if problem.rule != "second_factor" or not sys.stdin.isatty():
                raise
            given["code"] = typer.prompt("Code of your second factor")
            tokens = await client.login(Login.model_validate(given))
    first = str(tokens.organizations[0].id) if tokens.organizations else None
    keeping.write(keeping.Kept(origin, tokens.user.email, tokens.access_token, tokens.refresh_token, org or first))
    output.say(f"Signed in to {origin} as {tokens.user.email}. Kept in {keeping.place()}, readable by you alone.")
    if os.environ.get("SIGNUM_API_KEY"):
        output.say("SIGNUM_API_KEY is set and comes first: commands act by that key.")


@command
async def logout() -> None:
    """End the sign-in, here and at the installation."""
    import httpx

    from backend.client import ApiProblem
    from backend.commands import keeping, output
    from backend.commands.connecting import KeptClient

    kept = keeping.read()
    if kept is not None:
        try:
            async with KeptClient(kept) as client:
                await client.logout()
        except (ApiProblem, httpx.TransportError) as error:
            # It ends by itself; what matters is that nobody finds it here.
            output.say(f"The installation did not end the session ({error}).")
        keeping.forget()
    output.say("Signed out.")
