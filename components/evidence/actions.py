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


def _nothing() -> tuple[()]:
    return ()


class EvidencePack(Local):
    """Buttons that make, open, download, print and verify a pack. `path` is the API's; `most` in bytes; the browser
    shows a pack again to its `owner` only."""

    library = "$/public/react/evidence_pack.jsx"
    tag = "EvidencePack"

    path: rx.Var[str]
    most: rx.Var[int]
    owner: rx.Var[str]

    on_rest: rx.EventHandler[_nothing]
    on_begin: rx.EventHandler[_nothing]
    on_read: rx.EventHandler[_read]
    on_verified: rx.EventHandler[_text]
    on_refused: rx.EventHandler[_text]


class CreatePack(Local):
    """The button of a page without a pack, which makes one."""

    library = "$/public/react/evidence_pack.jsx"
    tag = "CreatePack"


def create() -> rx.Component:
    """Draw the button that makes a pack."""
    return CreatePack.create()


def actions() -> rx.Component:
    """Draw the buttons. A visit makes no pack; it shows the one that this person made here before."""
    state = EvidenceState
    return EvidencePack.create(
        path=state.path,
        most=MOST,
        owner=state.owner,
        on_rest=state.rest,
        on_begin=state.begin,
        on_read=state.read,
        on_verified=state.verified,
        on_refused=state.refused,
        key=state.path + " " + state.visits.to_string(),
    )
