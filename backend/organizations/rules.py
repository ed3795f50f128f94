"""Rules of the hierarchy, and what a move changes. Pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.core.errors import BadRequest
from backend.organizations.schemas import AccessChange, FieldChange, MovedNode
from backend.users.schemas import Role

MAX_DEPTH = 64
"""Depth of the deepest organization allowed; a root has depth 0."""
PREVIEWED = 100
"""Maximum number of organizations in a move preview."""
SEPARATOR = " / "


@dataclass(frozen=True)
class Place:
    """One organization on the path from a root."""

    id: UUID
    name: str


@dataclass(frozen=True)
class Node:
    """An organization below the moved one; `height` counts from the moved one."""

    id: UUID
    parent_id: UUID | None
    name: str
    height: int

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "Node":
        """Build one from the database's JSON."""
        parent = found["parent_id"]
        return cls(UUID(found["id"]), UUID(parent) if parent else None, found["name"], found["height"])


@dataclass(frozen=True)
class Holder:
    """A person's role that reaches an organization from `height` levels above it."""

    user_id: UUID
    name: str
    role: Role
    height: int


def check_target(moved: UUID, target: Sequence[Place]) -> None:
    """Raise 400 if the new parent (the last of its own path) is the moved organization or lies below it."""
    if target[-1].id == moved:
        raise BadRequest("An organization cannot be its own parent.", pointer="/newParentId")
    if any(place.id == moved for place in target):
        raise BadRequest("The new parent lies below the organization to move.", pointer="/newParentId")


def check_depth(parent: Sequence[Place], height: int, pointer: str | None = None) -> None:
    """Raise 400 if a subtree of `height` levels would exceed the maximum depth under this parent."""
    if len(parent) + height > MAX_DEPTH:
        raise BadRequest(f"The hierarchy would have more than {MAX_DEPTH} levels.", pointer=pointer)


def moved_nodes(nodes: Sequence[Node], before: Sequence[Place], after: Sequence[Place]) -> list[MovedNode]:
    """Return paths and depths of the moved organization and those below it; parents come before their children.
    `before` and `after` are the paths of the two parents."""
    below: dict[UUID, list[str]] = {}
    moved = []
    for node in nodes:
        above = below.get(node.parent_id, []) if node.parent_id and node.height else []
        names = below[node.id] = [*above, node.name]
        moved.append(
            MovedNode(
                id=node.id,
                name=node.name,
                path_before=_path(before, names),
                path_after=_path(after, names),
                depth_before=len(before) + node.height,
                depth_after=len(after) + node.height,
            )
        )
    return moved


def _path(parent: Sequence[Place], names: Sequence[str]) -> str:
    return SEPARATOR.join([*(p.name for p in parent), *names])


def access_changes(own: Iterable[Holder], before: Iterable[Holder], after: Iterable[Holder]) -> list[AccessChange]:
    """Return who gains or loses a role in the moved organization. `own` are roles assigned there, `before` and `after`
    those that reach the two parents: `client` does not reach down."""
    names: dict[UUID, str] = {}

    def held(holders: Iterable[Holder], inherited: bool) -> set[tuple[UUID, Role]]:
        kept = [h for h in holders if not inherited or h.role is not Role.CLIENT]
        names.update({h.user_id: h.name for h in kept})
        return {(h.user_id, h.role) for h in kept}

    here = held((h for h in own if h.height == 0), inherited=False)
    old, new = here | held(before, inherited=True), here | held(after, inherited=True)
    changes = [
        AccessChange(user_id=user, display_name=names[user], role=role, change=change)
        for change, pairs in (("gained", new - old), ("lost", old - new))
        for user, role in pairs
    ]
    return sorted(changes, key=lambda c: (c.change, c.display_name.lower(), c.role, c.user_id))


def made(fields: Mapping[str, Any]) -> list[FieldChange]:
    """Return the fields of a new record as changes."""
    return [FieldChange(field=n, before=None, after=v) for n, v in fields.items() if v is not None]


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[FieldChange]:
    """Return the differences between two records."""
    return [FieldChange(field=n, before=before[n], after=after[n]) for n in before if before[n] != after[n]]


def merged(patch: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Apply a JSON merge patch (RFC 7396) to an object: null removes a member."""
    result = dict(stored)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(value, result.get(name) or {}) if isinstance(value, Mapping) else value
    return result
