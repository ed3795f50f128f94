"""Bridge paths of a chain: who verifies packets to each other chain, and whether each token's settings match."""

import reflex as rx

from components.ui.box import text
from components.ui.card import kv
from components.ui.status import tag
from components.ui.value import short_hash, when
from state.bridges.paths import PathTokenView, PathView
from state.chains.views import ChainDetail


def bridge_paths(chain: rx.Var[ChainDetail]) -> rx.Component:
    """Draw the paths; nothing where the chain has none."""
    shown = rx.fragment(rx.el.h3("Bridge paths"), rx.el.div(rx.foreach(chain.paths, _path), class_name="paths"))
    return rx.cond(chain.paths.length() > 0, shown, rx.fragment())


def _path(path: rx.Var[PathView]) -> rx.Component:
    state = rx.cond(path.is_allowed, tag("Allowed", "ok"), tag("Refused", "bad"))
    return rx.el.section(
        rx.el.div(rx.el.b("To ", path.destination), state, class_name="row"),
        rx.el.p(path.summary, class_name="small"),
        rx.cond(path.confirmations != "", _settings(path), rx.fragment()),
        rx.cond(path.tokens.length() > 0, _tokens(path), rx.fragment()),
        key=path.id,
        aria_label="Path to " + path.destination,
    )


def _settings(path: rx.Var[PathView]) -> rx.Component:
    return rx.el.details(
        rx.el.summary("Settings"),
        kv(
            ("Confirmations", text(path.confirmations, cls="num")),
            ("Required DVNs", rx.el.div(rx.foreach(path.verifiers, _address))),
            (
                "Optional DVNs",
                rx.cond(
                    path.threshold != "",
                    rx.el.div(text(path.threshold), rx.foreach(path.optional, _address)),
                    text("none", cls="muted"),
                ),
            ),
            ("Sending library", _library(path.send_library)),
            ("Receiving library", _library(path.receive_library)),
            ("Delivery gas", text(path.gas, cls="num")),
        ),
    )


def _address(address: rx.Var[str]) -> rx.Component:
    return rx.el.div(short_hash(address, "address"), key=address)


def _library(address: rx.Var[str]) -> rx.Component:
    return rx.cond(address != "", short_hash(address, "address"), text("the endpoint's default, pinned", cls="muted"))


def _tokens(path: rx.Var[PathView]) -> rx.Component:
    return rx.el.ul(rx.foreach(path.tokens, _token), class_name="small")


def _token(token: rx.Var[PathTokenView]) -> rx.Component:
    agrees = rx.fragment("matches the settings, read ", when(token.read_at))
    differs = rx.fragment("differs from the settings; the next bridge updates it. Read ", when(token.read_at))
    return rx.el.li(rx.el.b(token.symbol), ": ", rx.cond(token.agrees, agrees, differs), key=token.id)
