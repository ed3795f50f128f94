"""Sign-in: `/v1/auth/*`, and the console's native forms at `/session`."""

from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, BackgroundTasks, Depends, Form, Request, Response, status
from fastapi.responses import RedirectResponse

from backend.auth.credentials import check_origin, client_address, cookie_name, present
from backend.auth.guard import ANY_ORGANIZATION, Current, GuardedRoute, public, requires
from backend.core import db
from backend.core.errors import TooManyRequests, Unauthenticated
from backend.core.settings import settings
from backend.factors import verification
from backend.limits import rate_limits
from backend.limits.client_address import group
from backend.lists.pages import SHORT, Page
from backend.sign_in import browser, known_devices, linked_wallets, passwords, service, sessions, siwe
from backend.sign_in.schemas import (
    LinkedWalletList,
    Login,
    Me,
    PasswordChange,
    PasswordForgot,
    PasswordLink,
    PasswordReset,
    Refresh,
    SessionList,
    SiweNonce,
    SiweVerify,
    Tokens,
)

# Declared at import.
router = APIRouter(prefix="/auth", tags=["Sign-in"], route_class=GuardedRoute)
# Declared at import.
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
    """Rotate a refresh token. Using one twice ends its session."""
    response.headers["Cache-Control"] = "no-store"
    return await service.refresh(context, body.refresh_token)


@router.post("/logout", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def logout(context: Current) -> None:
    """End the session of the credential."""
    await service.revoke(context.session, context.require_person().session_id, keeps_requests=True)


@router.get("/me")
@requires(organization=ANY_ORGANIZATION, person=True)
async def get_me(context: Current) -> Me:
    """Get the signed-in person and their roles."""
    return await service.me(context)


@router.post("/siwe/nonce")
@public
async def begin_siwe(context: Current, response: Response) -> SiweNonce:
    """Create a nonce and the fields of a wallet's sign-in message (EIP-4361). The nonce works once, for 5 minutes."""
    response.headers["Cache-Control"] = "no-store"
    return await siwe.begin(context.session)


@router.post("/siwe/verify", responses={401: {}, 403: {}, 409: {}})
@public
async def verify_siwe(context: Current, request: Request, body: SiweVerify, response: Response) -> Tokens:
    """Sign in with a message that a wallet has signed.

    The wallet must be linked already (`link`, with the person's credential), or an organization must have added its
    owner as a member: that membership stays under GET /v1/memberships/pending until the owner accepts it. To link a
    wallet, a person with a second factor needs a fresh one; others need their `password`, or without a password a
    signature of an already linked wallet (`wallet`).
    """
    response.headers["Cache-Control"] = "no-store"
    if body.link:
        context.person = await present(request, context.session)
    return await siwe.verify(context, body, request.headers.get("user-agent", ""))


@router.get("/wallets")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_linked_wallets(context: Current, page: Annotated[Page, Depends(SHORT.page)]) -> LinkedWalletList:
    """List the wallets with which the signed-in person can sign in, the oldest first."""
    found = await linked_wallets.listed(context)
    return LinkedWalletList(wallets=page.kept(found.wallets))


@router.delete("/wallets/{walletId:uuid}", status_code=status.HTTP_204_NO_CONTENT, responses={409: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def unlink_wallet(context: Current, walletId: UUID) -> None:
    """Unlink a wallet. It can no longer be used to sign in.

    A person with a second factor needs a fresh one; a person without one who uses a browser needs a fresh proof (POST
    /v1/auth/factors/verify). All other token sessions of the person end, because the wallet may have opened them. 409
    where the person has no password and no other wallet, and could no longer sign in.
    """
    await linked_wallets.unlink(context, walletId)


@router.post("/password/forgot", status_code=status.HTTP_204_NO_CONTENT)
@public
async def forgot_password(context: Current, body: PasswordForgot, after: BackgroundTasks) -> None:
    """Request a password reset link. The response and its duration are the same for every address."""
    place = group(context.address)
    await rate_limits.hit(rate_limits.PASSWORD_LINKS_PER_ADDRESS, "forgot", place)
    await rate_limits.hit(rate_limits.PASSWORD_LINKS_PER_ACCOUNT, "forgot", place, body.email)
    after.add_task(passwords.send_link, body.email)


@router.post("/password/reset", status_code=status.HTTP_204_NO_CONTENT)
@public
async def reset_password(context: Current, body: PasswordReset) -> None:
    """Set a new password with the token from the email: once, within 30 minutes. All sessions of the person end.

    Linked wallets can still sign in. GET /v1/auth/wallets lists them, DELETE /v1/auth/wallets/{walletId} unlinks one.
    """
    await passwords.reset(context.session, body)


@router.post("/password/reset/check", status_code=status.HTTP_204_NO_CONTENT)
@public
async def check_password_link(context: Current, body: PasswordLink) -> None:
    """Check the token of a password reset link; nothing changes. 400 if it is invalid, was used or has expired. The
    token is in the body, so that logs do not contain it."""
    await passwords.check_link(context.session, body.token)


@router.post("/password/change", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def change_password(context: Current, body: PasswordChange) -> None:
    """Change the password with the current one.

    All other sessions of the person end; linked wallets can still sign in.
    """
    await passwords.change(context, body)


@router.get("/sessions")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_sessions(context: Current, page: Annotated[Page, Depends(sessions.LIST.page)]) -> SessionList:
    """List the person's sessions, newest first: browsers, tokens, and applications that act for them."""
    return await sessions.page(context, page)


@router.delete("/sessions", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def sign_out_everywhere(context: Current) -> None:
    """End every session of the person, including this one: browsers, tokens, and applications that act for them.

    Linked wallets can sign in again. GET /v1/auth/wallets lists them.
    """
    await service.end_everywhere(context)


@router.delete("/sessions/{sessionId}", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def end_session(context: Current, sessionId: UUID) -> None:
    """End a session. Its cookie and tokens stop working immediately."""
    await sessions.end(context, sessionId)


@forms.post("/session")
async def sign_in(
    request: Request,
    email: Annotated[str, Form(max_length=320)] = "",
    password: Annotated[str, Form(max_length=256)] = "",
    next: Annotated[str, Form(max_length=8000)] = "/",
) -> Response:
    """Sign in a browser. The session that it presented ends, which prevents session fixation."""
    check_origin(request)
    target = browser.target_of(request, next)
    try:
        with browser.acting_in(request):
            entry = await _change_session(request, email, password)
    except (Unauthenticated, TooManyRequests) as error:
        word = "invalid" if isinstance(error, Unauthenticated) else "slow"
        answer: Response = RedirectResponse(f"/sign-in?error={word}&next={quote(target, safe='')}", 303)
        browser.keep_email(answer, email)
        return answer
    if isinstance(entry, browser.FirstStep):
        return browser.ask_for_factor(entry, target)
    return await browser.signed_in(request, target, entry)


def _account(email: str) -> str:
    return email.strip().lower()


async def _change_session(request: Request, email: str, password: str) -> browser.Entry | browser.FirstStep:
    device = known_devices.known(request, _account(email))
    async with db.transaction() as session:
        user = await service.check_password(session, email, password, client_address(request), device)
        if await verification.has_factor(session, user.id):
            return browser.begin(session, user)
        return await browser.enter(request, session, user)


@forms.post("/session/end")
async def sign_out(
    request: Request,
    next: Annotated[str, Form(max_length=2000)] = "/sign-in",
    everywhere: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Sign out a browser; with `everywhere`, end all sessions of its person."""
    check_origin(request)
    if cookie := request.cookies.get(cookie_name()):
        with browser.acting_in(request):
            async with db.transaction() as session:
                await service.end_by_cookie(session, cookie, everywhere=everywhere == "yes")
    answer = RedirectResponse(browser.own_path(next, "/sign-in"), 303)
    answer.delete_cookie(cookie_name(), path="/", secure=settings().secure, httponly=True, samesite="lax")
    return answer


forms.include_router(browser.forms)
