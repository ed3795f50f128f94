"""Responses of an operation: the plan of a dry run, or the request that was accepted."""

from typing import Any, Protocol, TypeVar
from uuid import UUID

from fastapi import Response, status
from fastapi.responses import JSONResponse


class Accepted(Protocol):
    """The answer to an accepted operation."""

    @property
    def request_id(self) -> Any:
        """Return the request's ID."""


P = TypeVar("P")
A = TypeVar("A", bound=Accepted)


def planned(response: Response, plan: P) -> P:
    """Return the plan of a dry run, with the status 200."""
    response.status_code = status.HTTP_200_OK
    return plan


def accepted(response: Response, organization_id: UUID, answer: A) -> A:
    """Return the answer to an accepted operation; `Location` names its request."""
    response.headers["Location"] = f"/v1/orgs/{organization_id}/requests/{answer.request_id}"
    return answer


def waiting(organization_id: UUID, answer: Any) -> Response:
    """Return 202 from a route with another status, because the request waits for a second person."""
    headers = {"Location": f"/v1/orgs/{organization_id}/requests/{answer.request_id}"}
    return JSONResponse(answer.model_dump(mode="json", by_alias=True), status.HTTP_202_ACCEPTED, headers)
