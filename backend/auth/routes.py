"""Sign-in: `/v1/auth/*`, and the console's native forms at `/session`."""

from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, BackgroundTasks, Depends, Form, Request, Response, status
from fastapi.responses import RedirectResponse

from backend import db
from backend.auth import browser, devices, linked_wallets, passwords, rate_limit, service, sessions, siwe
from backend.auth.address import group
from backend.auth.credentials import check_origin, client_address, cookie_name, present
from backend.auth.route import ANY_ORGANIZATION, Current, GuardedRoute, public, requires
from backend.auth.schemas import (
    LinkedWalletList,
    Login,
    Me,
    PasswordChange,
    PasswordForgot,
    PasswordReset,
    Refresh,
    SessionList,
    SiweNonce,
    SiweVerify,
    Tokens,
)
from backend.errors import SecondFactorNeeded, TooManyRequests, Unauthenticated
from backend.keyset import Page
from backend.settings import settings

router = APIRouter(prefix="/auth", tags=["Sign-in"], route_class=GuardedRoute)
forms = APIRouter(include_in_schema=False)


@router.post("/login", responses={401: {}, 403: {}})
@public
async def login(context: Current, request: Request, body: Login, response: Response) -> Tokens:
    """Sign in with email and password."""
    response.headers["Cache-Control"] = "no-store"
    return await service.login(context, body, request.headers.get("user-agent", ""))


@router.post("/refresh", responses={401: {}})
@public
async def refresh(context: Current, body: Refresh, response: Response) -> Tokens:
    """Rotate a refresh token; using one twice ends its session."""
    response.headers["Cache-Control"] = "no-store"
    return await service.refresh(context, body.refresh_token)


@router.post("/logout", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def logout(context: Current) -> None:
    """End the session of the credential."""
    await service.revoke(context.session, context.require_person().session_id)


@router.get("/me")
@requires(organization=ANY_ORGANIZATION, person=True)
async def get_me(context: Current) -> Me:
    """The signed-in person and where they have a role."""
    return await service.me(context)


@router.post("/siwe/nonce")
@public
async def begin_siwe(context: Current, response: Response) -> SiweNonce:
    """What a wallet's sign-in message must say (EIP-4361); the nonce works once, for 5 minutes."""
    response.headers["Cache-Control"] = "no-store"
    return await siwe.begin(context.session)


@router.post("/siwe/verify", responses={401: {}, 403: {}, 409: {}})
@public
async def verify_siwe(context: Current, request: Request, body: SiweVerify, response: Response) -> Tokens:
    """Sign in with a wallet by a message that it has signed.

    The wallet was linked before (`link`, with the person's credential), or an organization has added its owner as a
    member: that waits under GET /v1/memberships/pending until they agree. To link a wallet, a person with a second
    factor needs a fresh one, and any other person their `password`, or without a password a signature of a wallet that
    they have (`wallet`).
    """
    response.headers["Cache-Control"] = "no-store"
    if body.link:
        context.person = await present(request, context.session)
    return await siwe.verify(context, body, request.headers.get("user-agent", ""))


@router.get("/wallets")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_linked_wallets(context: Current) -> LinkedWalletList:
    """List the wallets that sign in the signed-in person, the oldest first."""
    return await linked_wallets.listed(context)


@router.delete("/wallets/{walletId:uuid}", status_code=status.HTTP_204_NO_CONTENT, responses={409: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def unlink_wallet(context: Current, walletId: UUID) -> None:
    """Unlink a wallet: it no longer signs anybody in. A person with a second factor needs a fresh one, and anybody
    else who does this in a browser a fresh proof (POST /v1/auth/factors/verify).

    Every other session of a program of the person ends, because the wallet may have signed it in. 409 where the person
    has no password and no other wallet: they could not sign in any more.
    """
    await linked_wallets.unlink(context, walletId)


@router.post("/password/forgot", status_code=status.HTTP_204_NO_CONTENT)
@public
async def forgot_password(context: Current, body: PasswordForgot, after: BackgroundTasks) -> None:
    """Ask for a link to choose a new password. The answer is the same, and takes as long, whoever the address is."""
    place = group(context.address)
    await rate_limit.hit(rate_limit.PASSWORD_LINKS_PER_ADDRESS, "forgot", place)
    await rate_limit.hit(rate_limit.PASSWORD_LINKS_PER_ACCOUNT, "forgot", place, body.email)
    after.add_task(passwords.send_link, body.email)


@router.post("/password/reset", status_code=status.HTTP_204_NO_CONTENT)
@public
async def reset_password(context: Current, body: PasswordReset) -> None:
    """Choose a new password with the token of the mail: once, for 30 minutes. Every session of the person ends.

    Linked wallets still sign the person in. GET /v1/auth/wallets lists them, DELETE /v1/auth/wallets/{walletId} unlinks
    one.
    """
    await passwords.reset(context.session, body)


@router.post("/password/change", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def change_password(context: Current, body: PasswordChange) -> None:
    """Choose a new password with the old one. Every other session of the person ends; linked wallets still sign in."""
    await passwords.change(context, body)


@router.get("/sessions")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_sessions(context: Current, page: Annotated[Page, Depends()]) -> SessionList:
    """Where the person is signed in, newest first: browsers, programs, and applications in their name."""
    return await sessions.page(context, page)


@router.delete("/sessions", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def sign_out_everywhere(context: Current) -> None:
    """End every session of the person, this one too: browsers, programs, and applications in their name.

    Linked wallets can sign the person in again. GET /v1/auth/wallets lists them.
    """
    await service.end_everywhere(context)


@router.delete("/sessions/{sessionId}", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def end_session(context: Current, sessionId: UUID) -> None:
    """End a session; its cookie and tokens stop at once."""
    await sessions.end(context, sessionId)


@forms.post("/session")
async def sign_in(
    request: Request,
    email: Annotated[str, Form(max_length=320)] = "",
    password: Annotated[str, Form(max_length=256)] = "",
    next: Annotated[str, Form(max_length=8000)] = "/",
) -> Response:
    """Sign in a browser. The session it presented ends, so that nobody can plant one."""
    check_origin(request)
    target = browser.target_of(request, next)
    try:
        with browser.acting_in(request):
            entry = await _change_session(request, email, password)
    except SecondFactorNeeded as needed:
        return await browser.ask_for_factor(needed.user_id, target)
    except (Unauthenticated, TooManyRequests) as error:
        word = "invalid" if isinstance(error, Unauthenticated) else "slow"
        return RedirectResponse(f"/sign-in?error={word}&next={quote(target, safe='')}", 303)
    return await browser.signed_in(request, target, entry)


def _account(email: str) -> str:
    return email.strip().lower()


async def _change_session(request: Request, email: str, password: str) -> browser.Entry:
    device = await devices.known(request, _account(email))
    async with db.transaction() as session:
        user = await service.by_password(session, email, password, client_address(request), device)
        return await browser.enter(request, session, user)


@forms.post("/session/end")
async def sign_out(
    request: Request,
    next: Annotated[str, Form(max_length=2000)] = "/sign-in",
    everywhere: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Sign out a browser; with `everywhere` its person has no session anywhere any more."""
    check_origin(request)
    if cookie := request.cookies.get(cookie_name()):
        with browser.acting_in(request):
            async with db.transaction() as session:
                await service.end_by_cookie(session, cookie, everywhere=everywhere == "yes")
    answer = RedirectResponse(browser.own_path(next, "/sign-in"), 303)
    answer.delete_cookie(cookie_name(), path="/", secure=settings().secure, httponly=True, samesite="lax")
    return answer


forms.include_router(browser.forms)
