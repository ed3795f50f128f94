"""The actions of a pack, which the browser keeps."""

import reflex as rx

from components.ui.value import Local
from state.evidence.pack import EvidenceState

MOST = 16_777_216
"""Bytes of an archive that the API opens."""


def _read(contents: rx.Var[str], name: rx.Var[str]) -> tuple[rx.Var[str], rx.Var[str]]:
    return (contents, name)


def _text(text: rx.Var[str]) -> tuple[rx.Var[str]]:
    return (text,)


def _failed(why: rx.Var[str], status: rx.Var[int]) -> tuple[rx.Var[str], rx.Var[int]]:
    return (why, status)


class EvidencePack(Local):
    """Buttons that make, open, download, print and verify a pack. `path` is the API's; `most` in bytes."""

    library = "$/public/react/evidence_pack.jsx"
    tag = "EvidencePack"

    path: rx.Var[str]
    most: rx.Var[int]

    on_read: rx.EventHandler[_read]
    on_verified: rx.EventHandler[_text]
    on_failed: rx.EventHandler[_failed]
    on_refused: rx.EventHandler[_text]


def actions() -> rx.Component:
    """Draw the buttons. A further visit makes a new pack."""
    state = EvidenceState
    return EvidencePack.create(
        path=state.path,
        most=MOST,
        on_read=state.read,
        on_verified=state.verified,
        on_failed=state.failed,
        on_refused=state.refused,
        key=state.path + " " + state.visits.to_string(),
    )
