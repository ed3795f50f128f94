"""`/v1/orgs/{orgId}/assets/{assetId}/distributions`, and those of all assets at `/v1/orgs/{orgId}/distributions`."""

from io import BytesIO
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response, status
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from backend.assets import records
from backend.auth.guard import Current, DryRun, GuardedRoute, requires, takes
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.errors import BadRequest, NotFound
from backend.core.fields import Address
from backend.distributions import creation, drafts, held, listing, payments, proofs, recipient_list, rules, service
from backend.distributions.recipients import Recipients, of_csv, of_pairs
from backend.distributions.schemas import (
    Activated,
    BlockedRecipients,
    Distribution,
    DistributionAccepted,
    DistributionActivate,
    DistributionCreate,
    DistributionList,
    DistributionPlan,
    DistributionStatus,
    EntitlementList,
    HeldRecipientList,
    PaidIn,
    Proof,
    RecipientPaymentAccepted,
)
from backend.http.middleware import CSV, MAX_CSV
from backend.http.uploads import Upload
from backend.lists.pages import Page
from backend.requests.responses import accepted, planned

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}", tags=["Distributions"], route_class=GuardedRoute)
ALL = "/assets/{assetId}/distributions"
ONE = ALL + "/{distId}"
Unit = Literal["base", "whole"]


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a model's schema without references, for a body that is not a parameter."""
    parts = schema.pop("$defs", {})

    def put(value: Any) -> Any:
        if isinstance(value, list):
            return [put(v) for v in value]
        if not isinstance(value, dict):
            return value
        return (
            put(parts[value["$ref"].rpartition("/")[2]]) if "$ref" in value else {k: put(v) for k, v in value.items()}
        )

    return dict(put(schema))


EXAMPLE = {
    "name": "Dividend 2026",
    "chain_eid": 40362,
    "recipients": [{"address": "0x52908400098527886E0F7030069857D2E4169EE7", "amount": "250000000000000000000"}],
}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": _inlined(DistributionCreate.model_json_schema()), "example": EXAMPLE},
            CSV: {
                "schema": {
                    "type": "string",
                    "maxLength": MAX_CSV,
                    "examples": ["address,amount\n0x1111111111111111111111111111111111111111,1"],
                }
            },
        },
    }
}


async def _check_list(request: Request, context: Context) -> None:
    """Check name, asset and chain of a distribution, before a file with its recipients is read."""
    query, asset = request.query_params, request.path_params["assetId"]
    body = _validated({"name": query.get("name"), "chain_eid": _number(query.get("chain_eid"))}, "query")
    try:
        asset_id = UUID(asset)
    except ValueError as error:
        raise NotFound("No resource has this ID.") from error
    await service.distributable(context, asset_id, body.chain_eid)


@router.get("/distributions", response_model=DistributionList)
@requires(Scope.ASSETS_READ)
async def list_organization_distributions(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    status: DistributionStatus | None = None,
    assetId: UUID | None = None,
) -> Response:
    """List distributions of all assets of the organization, or of one, newest first, with the claimed amount of
    each."""
    return await listing.page(context, page, assetId, status)


@router.get(ALL, response_model=DistributionList)
@requires(Scope.ASSETS_READ)
async def list_distributions(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    status: DistributionStatus | None = None,
) -> Response:
    """List distributions of an asset, newest first, with the claimed amount of each."""
    await records.asset(context.session, orgId, assetId)
    return await listing.page(context, page, assetId, status)


@router.post(ALL, status_code=status.HTTP_201_CREATED, openapi_extra=BODY)
@requires(Scope.ASSETS_WRITE)
@takes(CSV, check=_check_list)
async def create_distribution(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    request: Request,
    response: Response,
    name: Annotated[str | None, Query(max_length=120, description="With a CSV body only.")] = None,
    chain_eid: Annotated[str | None, Query(max_length=10, description="With a CSV body only.")] = None,
    amounts: Annotated[Unit, Query(description="With a CSV body only: the unit of its amounts.")] = "base",
    currency: Annotated[PaidIn, Query(description="With a CSV body only: what is paid out.")] = PaidIn.ASSET,
    blocked: Annotated[
        BlockedRecipients, Query(description="With a CSV body only: what happens to blocked recipients.")
    ] = BlockedRecipients.INCLUDE,
    dry_run: DryRun = False,
) -> Distribution | DistributionPlan:
    """Create a draft distribution of the asset: recipients as JSON, or as `text/csv` lines of `address,amount` (up to
    128 MB, which is more than a million lines) with `name` and `chain_eid` in the query. Amounts are base units, or
    whole tokens such as 12.5 with `amounts=whole`. Addresses, amounts, duplicates and the sum are checked; errors name
    the lines. The merkle tree is OpenZeppelin's standard one over (uint256 index, address, uint256 amount); the index
    is the position in the list. `holders` takes the holders at a block instead, in proportion; `total_amount` alone
    leaves root and count to the activation. A dry run checks every recipient against the asset's rules; `blocked`
    decides what happens to those whom the rules refuse. A draft without an activation or cancellation is deleted after
    30 days."""
    upload: Upload | None = request.state.upload
    if upload is not None or request.headers.get("content-type", "").lower().startswith(CSV):
        given = {"name": name, "chain_eid": _number(chain_eid), "currency": currency, "blocked": blocked}
        body = _validated(given, "query")
        decimals = await creation.decimals(context, assetId, body) if amounts == "whole" else 0
        source = upload.file if upload else BytesIO(await request.body())
        recipients: Recipients | None = await service.computed(context, of_csv, source, decimals)
    else:
        others = (name, chain_eid, amounts, currency, blocked)
        if others != (None, None, "base", PaidIn.ASSET, BlockedRecipients.INCLUDE):
            raise BadRequest(
                "name, chain_eid, amounts, currency and blocked belong in the query only with a CSV body. Put them in "
                "the JSON body."
            )
        body = _validated(await request.json() if await request.body() else None, "body")
        rules.check_source(body)
        recipients = _pairs(body)
    drawn = await creation.draft(context, assetId, body, recipients, is_dry_run=dry_run)
    if dry_run:
        return planned(response, await creation.plan(context, drawn))
    return await listing.one(context, assetId, await creation.create(context, drawn))


def _validated(values: Any, place: str) -> DistributionCreate:
    try:
        return DistributionCreate.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError([{**e, "loc": (place, *e["loc"])} for e in error.errors()]) from None


def _number(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 11 else text


def _pairs(body: DistributionCreate) -> Recipients | None:
    if body.recipients is None:
        return None
    return of_pairs([r.address for r in body.recipients], [int(r.amount) for r in body.recipients])


@router.get(ONE)
@requires(Scope.ASSETS_READ)
async def get_distribution(context: Current, orgId: UUID, assetId: UUID, distId: UUID) -> Distribution:
    """Get a distribution."""
    return await listing.one(context, assetId, distId)


@router.delete(
    ONE,
    status_code=status.HTTP_204_NO_CONTENT,
    response_model=None,
    responses={
        200: {"model": DistributionPlan, "description": "The plan of a dry run; nothing was changed."},
        409: {},
    },
)
@requires(Scope.ASSETS_WRITE)
async def delete_distribution(
    context: Current, orgId: UUID, assetId: UUID, distId: UUID, dry_run: DryRun = False
) -> Response:
    """Delete a draft with its recipients and their tree. 409 after an activation or cancellation was requested."""
    if dry_run:
        plan = service.plan(await drafts.deletable(context, assetId, distId), ["Recipients and their tree deleted"])
        return JSONResponse(plan.model_dump(mode="json"))
    await drafts.delete(context, assetId, distId)
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.get(ONE + "/recipients")
@requires(Scope.ASSETS_READ)
async def list_recipients(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    distId: UUID,
    page: Annotated[Page, Depends(recipient_list.LIST.page)],
    check: Annotated[bool, Query(description="Also check whether each recipient could claim now.")] = False,
    claimed: Annotated[bool | None, Query(description="Only those who have claimed, or have not.")] = None,
) -> EntitlementList:
    """List the recipients of a distribution, by their position in its list. Empty if Signum knows only the root
    (`has_recipients` is false). `check=true` asks the chain about the first 10,000: before the activation the asset's
    rules decide, afterwards the token itself. Claims of a quote currency are never refused."""
    row = await service.distribution(context, assetId, distId)
    return await recipient_list.page(context, row, page, is_checked=check, is_claimed=claimed)


@router.get(ONE + "/held-recipients")
@requires(Scope.ASSETS_READ)
async def list_held_recipients(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    distId: UUID,
    page: Annotated[Page, Depends(held.LIST.page)],
) -> HeldRecipientList:
    """List the recipients whom the asset's rules refused when the distribution was created with `blocked=hold`, with
    the reasons. They are not paid."""
    return await held.page(context, await service.distribution(context, assetId, distId), page)


@router.get(ONE + "/proofs/{address}")
@requires(Scope.ASSETS_READ)
async def get_proof(context: Current, orgId: UUID, assetId: UUID, distId: UUID, address: Address) -> Proof:
    """Get what a recipient passes to the distributor's `claim`, and whether it has been claimed."""
    return await proofs.proof(context, await service.distribution(context, assetId, distId), address)


@router.post(ONE + "/activate")
@requires(Scope.ASSETS_WRITE, fresh=True)
async def activate_distribution(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    distId: UUID,
    body: DistributionActivate,
    response: Response,
    dry_run: DryRun = False,
) -> Activated | DistributionPlan:
    """Activate a distribution: its distributor is deployed, attested by the organization's own issuer, funded with the
    whole sum from the wallet that owns the token, and opened for claims under the root. Answers `{}` once the
    activation is durably accepted; `Location` names the request. The same activation again returns 200 too, a different
    one 409. The distributor counts as one holder, and a lock-up blocks claims until it ends."""
    if dry_run:
        return await service.activation_plan(context, assetId, distId, body)
    request_id = await service.activate(context, assetId, distId, body)
    if request_id is not None:
        response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{request_id}"
    return Activated()


@router.post(ONE + "/cancel", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def cancel_distribution(
    context: Current, orgId: UUID, assetId: UUID, distId: UUID, response: Response, dry_run: DryRun = False
) -> DistributionAccepted | DistributionPlan:
    """Cancel a draft or active distribution; unclaimed amounts return to the wallet that owns the token."""
    if dry_run:
        return planned(response, service.plan(await service.cancellable(context, assetId, distId), [service.CLOSING]))
    return accepted(response, orgId, await service.cancel(context, assetId, distId))


@router.post(ONE + "/recipients/{address}/pay", status_code=status.HTTP_202_ACCEPTED, responses={409: {}})
@requires(Scope.ASSETS_WRITE)
async def pay_recipient(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    distId: UUID,
    address: Address,
    response: Response,
    dry_run: DryRun = False,
) -> RecipientPaymentAccepted | DistributionPlan:
    """Pay a recipient of an active distribution: the wallet that owns the token sends the recipient's claim, and the
    distributor pays the recipient's address. This is for recipients whose wallet the organization keeps, and for those
    who cannot send a transaction. While a payment runs, a repetition returns its request. 404 if Signum does not know
    the recipient, also where it knows only the root; 409 if the distribution is not active, the amount was claimed, or
    the token refuses the payment. No second person is needed: the activation decided who is paid how much."""
    if dry_run:
        return planned(response, await payments.plan(context, assetId, distId, address))
    return accepted(response, orgId, await payments.pay(context, assetId, distId, address))
