"""Routes."""

from fastapi import APIRouter

from backend.auth.route import GuardedRoute

router = APIRouter(route_class=GuardedRoute)
