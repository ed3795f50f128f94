"""`/v1/demo` and the form `/session/demo`: only for a browser on the machine of an embedded installation."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from backend.auth.guard import Current, GuardedRoute, public
from backend.core import db
from backend.core.errors import TooManyRequests
from backend.demo_people import service
from backend.demo_people.schemas import Demo
from backend.factors import verification
from backend.sign_in import browser

# Declared at import.
router = APIRouter(prefix="/demo", tags=["Demo"], route_class=GuardedRoute)
# Declared at import.
forms = APIRouter(include_in_schema=False)


@router.get("", responses={404: {}}, dependencies=[Depends(service.check)])
@public
async def get_demo(context: Current) -> Demo:
    """Get the demo's people as whom a browser can sign in with one click, or how far the demo's creation is.

    Only on the machine of an embedded installation that listens on loopback; 404 everywhere else.
    """
    return await service.read(context.session)


@forms.post("/session/demo")
async def sign_in(
    request: Request,
    person: Annotated[str, Form(max_length=30)] = "",
    next: Annotated[str, Form(max_length=8000)] = "/",
) -> Response:
    """Sign in a browser as a person of the demo, named by their role. A second factor that was set up is asked for."""
    service.check(request, from_own_page=True)
    target = browser.target_of(request, next)
    try:
        with browser.acting_in(request):
            entry = await _change_session(request, person)
    except TooManyRequests:
        return RedirectResponse(f"/sign-in?error=slow&next={quote(target, safe='')}", 303)
    if isinstance(entry, browser.FirstStep):
        return browser.ask_for_factor(entry, target)
    return await browser.signed_in(request, target, entry)


async def _change_session(request: Request, person: str) -> browser.Entry | browser.FirstStep:
    async with db.transaction() as session:
        user = await service.person(session, person)
        if await verification.has_factor(session, user.id):
            return browser.begin(session, user)
        entry = await browser.enter(request, session, user)
        await service.keep_proven(session, entry.secret)
        return entry
