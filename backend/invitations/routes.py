"""`/v1/orgs/{orgId}/invitations`, `/v1/invitations/preview` and `accept`."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response, status
from fastapi.responses import JSONResponse

from backend.auth.credentials import authenticate, cookie_name
from backend.auth.route import Current, DryRun, GuardedRoute, public, requires
from backend.auth.scopes import Scope
from backend.errors import Unauthenticated
from backend.invitations import inviting, service
from backend.invitations.schemas import (
    Invitation,
    InvitationAccept,
    InvitationAccepted,
    InvitationCreate,
    InvitationList,
    InvitationPlan,
    InvitationPreview,
    InvitationRevoked,
    InvitationStatus,
    InvitationToken,
    InvitationWaiting,
)
from backend.keyset import Page

router = APIRouter(tags=["Invitations"], route_class=GuardedRoute)
OF_ORGANIZATION = "/orgs/{orgId}/invitations"
WAITING: dict[str, Any] = {"model": InvitationWaiting, "description": "It waits for a second person."}
OPTIONAL: list[dict[str, list[str]]] = [{}, {"accessToken": []}, {"session": []}]


@router.get(OF_ORGANIZATION)
@requires(Scope.MEMBERS_READ)
async def list_invitations(
    context: Current, orgId: UUID, page: Annotated[Page, Depends()], status: InvitationStatus | None = None
) -> InvitationList:
    """Invitations, newest first."""
    return await service.page(context, page, status)


@router.post(
    OF_ORGANIZATION,
    status_code=status.HTTP_201_CREATED,
    response_model=Invitation | InvitationPlan,
    responses={202: WAITING, 409: {}},
)
@requires(Scope.MEMBERS_WRITE, fresh=True)
async def invite(
    context: Current, orgId: UUID, body: InvitationCreate, response: Response, dry_run: DryRun = False
) -> Invitation | InvitationPlan | Response:
    """Invite an address by mail; the link works once, for 7 days.

    The caller holds every scope of the role, and only a signed-in admin invites an admin. Where the organization, or
    one below it, requires a second person for any action, inviting an admin, a compliance officer or a member waits
    for one (202), and the mail is sent once they agree.

    The link is in the mail alone, because whoever has it joins in the name of who was invited. Where no mail server is
    set, the operator reads it with `signum outbox`.
    """
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await inviting.plan(context, body)
    answer = await inviting.create(context, body)
    if isinstance(answer, Invitation):
        return answer
    headers = {"Location": f"/v1/orgs/{orgId}/requests/{answer.request_id}"}
    return JSONResponse(answer.model_dump(mode="json", by_alias=True), status.HTTP_202_ACCEPTED, headers)


@router.delete(f"{OF_ORGANIZATION}/{{invitationId}}")
@requires(Scope.MEMBERS_WRITE)
async def revoke_invitation(context: Current, orgId: UUID, invitationId: UUID) -> InvitationRevoked:
    """Revoke a pending invitation; any other is a 400."""
    return InvitationRevoked(message=await service.revoke(context, invitationId))


@router.post("/invitations/preview", responses={404: {}})
@public
async def preview_invitation(context: Current, body: InvitationToken) -> InvitationPreview:
    """What an invitation is, by the token of its mail; nothing changes. The token is in the body, so in no log."""
    return await service.preview(context, body.token)


@router.post("/invitations/accept", responses={401: {}, 403: {}, 404: {}}, openapi_extra={"security": OPTIONAL})
@public
async def accept_invitation(context: Current, request: Request, body: InvitationAccept) -> InvitationAccepted:
    """Accept an invitation with the token of its mail.

    A signed-in person whose address was invited joins; without a credential, name and password make an account. 409
    where the person, key or application that invited them may not grant the role any more.
    """
    await _sign_in(context, request)
    return await service.accept(context, body)


async def _sign_in(context: Current, request: Request) -> None:
    """Take the person of a credential that was sent. A browser's session that is over counts as none."""
    sent = "authorization" in request.headers or "x-api-key" in request.headers
    if not sent and cookie_name() not in request.cookies:
        return
    try:
        context.person = (await authenticate(request, context.session)).require_person()
    except Unauthenticated:
        if sent:
            raise
