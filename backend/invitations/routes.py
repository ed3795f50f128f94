"""`/v1/orgs/{orgId}/invitations`, `/v1/invitations/preview` and `accept`."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response, status

from backend.auth.credentials import authenticate, cookie_name
from backend.auth.guard import Current, DryRun, GuardedRoute, public, requires
from backend.auth.scopes import Scope
from backend.core.errors import Unauthenticated
from backend.core.fields import Acceptance
from backend.invitations import creation, service
from backend.invitations.schemas import (
    InvitationAccept,
    InvitationAccepted,
    InvitationCreate,
    InvitationCreated,
    InvitationList,
    InvitationPlan,
    InvitationPreview,
    InvitationRevoked,
    InvitationStatus,
    InvitationToken,
    SentInvitation,
)
from backend.lists.pages import Page
from backend.requests.responses import planned, waiting

# Declared at import.
router = APIRouter(tags=["Invitations"], route_class=GuardedRoute)
OF_ORGANIZATION = "/orgs/{orgId}/invitations"
WAITING: dict[str, Any] = {
    "model": Acceptance,
    "description": "The request waits for a second person; the invitation exists after their approval.",
}
OPTIONAL: list[dict[str, list[str]]] = [{}, {"accessToken": []}, {"session": []}]


@router.get(OF_ORGANIZATION)
@requires(Scope.MEMBERS_READ)
async def list_invitations(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(service.LIST.page)],
    status: InvitationStatus | None = None,
) -> InvitationList:
    """List invitations, newest first."""
    return await service.page(context, page, status)


@router.get(f"{OF_ORGANIZATION}/{{invitationId}}")
@requires(Scope.MEMBERS_READ)
async def get_invitation(context: Current, orgId: UUID, invitationId: UUID) -> SentInvitation:
    """Get an invitation."""
    return await service.one(context, invitationId)


@router.post(
    OF_ORGANIZATION,
    status_code=status.HTTP_201_CREATED,
    response_model=InvitationCreated | InvitationPlan,
    responses={202: WAITING, 409: {}},
)
@requires(Scope.MEMBERS_WRITE, fresh=True)
async def invite(
    context: Current, orgId: UUID, body: InvitationCreate, response: Response, dry_run: DryRun = False
) -> InvitationCreated | InvitationPlan | Response:
    """Invite an address by email; the link works once, for 7 days.

    The caller must hold every scope of the role, and only a signed-in admin invites an admin. If the organization, or
    one below it, requires a second person for any action, inviting an admin, a compliance officer or a member waits for
    one (202), and the email is sent after approval.

    The link is only in the email, because anyone who has it joins as the invited person. If no mail server is
    configured, the operator reads it with `signum outbox`.
    """
    if dry_run:
        return planned(response, await creation.plan(context, body))
    answer = await creation.create(context, body)
    return answer if isinstance(answer, InvitationCreated) else waiting(orgId, answer)


@router.delete(f"{OF_ORGANIZATION}/{{invitationId}}")
@requires(Scope.MEMBERS_WRITE)
async def revoke_invitation(context: Current, orgId: UUID, invitationId: UUID) -> InvitationRevoked:
    """Revoke a pending invitation; any other status returns 400."""
    return InvitationRevoked(message=await service.revoke(context, invitationId))


@router.post("/invitations/preview", responses={404: {}})
@public
async def preview_invitation(context: Current, body: InvitationToken) -> InvitationPreview:
    """Preview an invitation by the token of its email; nothing changes. The token is in the body, so that logs do not
    contain it."""
    return await service.preview(context, body.token)


@router.post("/invitations/accept", responses={401: {}, 403: {}, 404: {}}, openapi_extra={"security": OPTIONAL})
@public
async def accept_invitation(context: Current, request: Request, body: InvitationAccept) -> InvitationAccepted:
    """Accept an invitation with the token of its email.

    A signed-in person whose address was invited joins; without a credential, name and password create an account. 409
    if the person, key or application that invited them may no longer grant the role.
    """
    await _sign_in(context, request)
    return await service.accept(context, body)


async def _sign_in(context: Current, request: Request) -> None:
    """Use the person of the credential that was sent. An expired browser session counts as no credential."""
    sent = "authorization" in request.headers or "x-api-key" in request.headers
    if not sent and cookie_name() not in request.cookies:
        return
    try:
        context.person = (await authenticate(request, context.session)).require_person()
    except Unauthenticated:
        if sent:
            raise
