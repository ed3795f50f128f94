"""The cap table: when, what of it, who, and that it adds up."""

from typing import Any

import reflex as rx

from components.ui.box import col, split
from components.ui.button import button, download
from components.ui.card import card
from components.ui.date_slider import date_slider, linked
from components.ui.icon import icon
from components.ui.note import empty
from components.ui.table import Col, list_table, pager, td, tr
from components.ui.tabs import filters
from components.ui.value import amount, no_value, short_hash, when
from state.assets.detail import AssetState
from state.cap_table.table import CapTableState
from state.cap_table.views import ChainRow, CountryRow, HolderRow
from state.core.session import Session


def cap_table() -> rx.Component:
    """Draw the tab."""
    return col(
        _times(),
        _sums(),
        split(_holders(), col(_check(), _countries(), cls="wide")),
        cls="wide cap-table",
        on_mount=CapTableState.load,
    )


def _units(value: Any, unit: Any = None) -> rx.Component:
    return amount(value, unit, CapTableState.table.decimals, 2, CapTableState.least)


def _file(kind: str) -> Any:
    """Return the address of the same numbers as a file: `.pdf` or `.csv`."""
    return "/v1/orgs/" + Session.org.id + "/assets/" + AssetState.asset.id + f"/cap-table{kind}?" + CapTableState.query


def _times() -> rx.Component:
    """Draw the sliders, and the file with the same numbers."""
    state, table = CapTableState, CapTableState.table
    sliders = rx.fragment(
        date_slider("As of", table.first_day, table.last_day, state.day, state.pick, now="Now", busy=state.busy),
        rx.cond(
            state.earlier != "",
            date_slider(
                "Compared with", table.first_day, table.last_day, state.earlier, state.compare, busy=state.busy
            ),
            rx.fragment(),
        ),
    )
    path = _file(".pdf")
    compares = state.earlier != ""
    return rx.el.div(
        rx.el.div(rx.cond(table.first_day != "", sliders, rx.fragment()), class_name="grow date-sliders"),
        rx.el.div(
            button(
                rx.cond(compares, "Stop comparing", "Compare"),
                "git-compare",
                small=True,
                disabled=table.first_day == "",
                on_click=state.compare_or_not(~compares),
            ),
            download(rx.fragment(icon("file-text", 13), "Download PDF"), path, class_name="btn small"),
            class_name="row",
        ),
        class_name="card times",
        role="group",
        aria_label="Time of the cap table",
    )


def _sums() -> rx.Component:
    table = CapTableState.table
    none = rx.el.span("none", class_name="muted")
    yes, no = (rx.el.span(words, class_name="sr") for words in ("agrees with every chain", "differs from a chain"))
    tick = rx.match(
        table.agrees,
        ("yes", rx.el.span(icon("circle-check", 15, class_name="ok-icon"), yes)),
        ("no", rx.el.span(icon("circle-x", 15, class_name="bad-icon"), no)),
        rx.fragment(),
    )

    def figure(name: Any, value: Any, below: str = "") -> rx.Component:
        of = [rx.el.div(below, class_name="muted small")] if below else []
        return rx.el.div(rx.el.div(name, class_name="muted small"), rx.el.div(value, class_name="of"), *of)

    def top(n: int, name: str) -> rx.Component:
        """Draw the share of the largest investors; nothing if there are fewer."""
        return rx.cond(table.tops.length() > n, figure(name, table.tops[n], "of what investors hold"), rx.fragment())

    def part(value: rx.Var[str]) -> rx.Component:
        return rx.cond(value != "0", _units(value), none)

    return rx.el.div(
        figure(rx.el.span("Total held", tick, class_name="row tight"), _units(table.total, table.symbol)),
        figure("Investors", table.investors),
        top(0, "Largest investor"),
        top(1, "5 largest investors"),
        top(2, "10 largest investors"),
        figure("In open orders", part(table.escrowed)),
        figure("Frozen", part(table.frozen)),
        figure("Between chains", part(table.transit)),
        class_name="card strip",
    )


def _holders() -> rx.Component:
    """Draw the bar and the table, which are one: what is under the pointer lights up in both."""
    state, compares = CapTableState, CapTableState.earlier != ""
    counts = state.table.counts
    changed = rx.cond(compares & (state.change != ""), "&change=" + state.change, "").to(str)
    words = [("", "All")] + [(name, name.capitalize(), counts[name]) for name in ("joined", "left", "grew", "shrank")]
    picked = rx.el.div(filters("Change", state.change, state.filter_change, words), class_name="toolbar")
    none = rx.cond(
        state.change != "",
        empty("filter", "No holders match this filter"),
        rx.cond(
            state.day != "",
            empty("users", "No one held this asset at that time", "Move the slider to a later day."),
            empty("users", "No holders yet", "The treasury gets the initial supply on deployment."),
        ),
    )
    rest = rx.cond(
        state.table.rest > 0,
        rx.el.i(class_name="rest", style={"flexGrow": state.table.rest.to_string()}),
        rx.fragment(),
    )
    bar = rx.el.div(
        rx.foreach(state.rows, _part), rest, class_name="share-bar", role="img", aria_label=state.table.summary
    )
    return card(
        "Holders",
        rx.cond(compares, picked, rx.fragment()),
        linked(
            rx.cond((state.rows.length() > 0) & (state.change == ""), bar, rx.fragment()),
            list_table(
                "Cap table",
                [
                    Col("Holder"),
                    Col("Country"),
                    Col("In orders", right=True),
                    Col("Frozen", right=True),
                    Col("Balance", right=True),
                    Col("Change", right=True),
                    Col("Share of all", right=True),
                ],
                state,
                _holder,
                empty=none,
                two=True,
            ),
            class_name=rx.cond(compares, "linked compares", "linked"),
        ),
        pager("On all chains, largest first", state, csv=_file(".csv") + changed),
    )


def _part(holder: rx.Var[HolderRow]) -> rx.Component:
    who = rx.cond(holder.name != "", holder.name, holder.address).to(str)
    return rx.el.i(
        title=who + " " + holder.share,
        style={"flexGrow": holder.part.to_string(), "background": holder.color},
        custom_attrs={"data-n": holder.place},
        key=holder.address,
    )


def _holder(holder: rx.Var[HolderRow]) -> rx.Component:
    name: Any = rx.cond(holder.name != "", holder.name, rx.el.span("Not known here", class_name="muted"))
    kind = rx.el.span(
        rx.cond(holder.kind != "", holder.kind + ", ", "").to(str), short_hash(holder.address), class_name="muted small"
    )
    who = rx.el.div(
        rx.el.span(class_name="dot", style={"background": holder.color}),
        rx.el.div(
            rx.el.span(name, class_name="strong"),
            kind,
            rx.cond(holder.chains != "", rx.el.span(holder.chains, class_name="muted small"), rx.fragment()),
            class_name="col none grow",
        ),
        class_name="row who",
    )
    none = no_value()
    moved = rx.cond(holder.moved != "", rx.el.span(holder.moved, class_name="num"), none)
    change = rx.cond(holder.change != "", rx.el.div(holder.change, class_name="muted small"), rx.fragment())

    def part(value: rx.Var[str]) -> rx.Component:
        return rx.cond(value != "0", _units(value), none)

    return tr(
        td(who, full=True),
        td(
            rx.cond(holder.country != "", holder.country, no_value()),
            class_name="muted if-any",
            label="Country",
        ),
        td(part(holder.escrowed), right=True, label="In orders", class_name="if-any"),
        td(part(holder.frozen), right=True, label="Frozen", class_name="if-any"),
        td(_units(holder.balance), right=True, label="Balance"),
        td(moved, change, right=True, label="Change", class_name="of-change"),
        td(holder.share, right=True, label="Share of all"),
        key=holder.address,
        class_name="facts",
        custom_attrs={"data-n": holder.place},
    )


def _check() -> rx.Component:
    """Draw the sums per chain beside the supply that the chain says."""
    table = CapTableState.table
    moving = rx.foreach(table.ways, lambda way: rx.el.div(way, ", on its way", class_name="muted small"))
    ways = rx.cond(table.ways.length() > 0, rx.el.div(moving, class_name="ways"), rx.fragment())
    none = empty("link", "On no chain at this time")
    return card(
        "Reconciliation",
        rx.cond(table.chains.length() > 0, rx.el.ul(rx.foreach(table.chains, _chain)), none),
        ways,
        class_name="sums",
    )


def _chain(chain: rx.Var[ChainRow]) -> rx.Component:
    table = CapTableState.table
    equals = rx.cond(
        chain.source == "events", "equals the mints less the burns on the chain", "equals the supply on the chain"
    )
    agrees = rx.el.span(icon("circle-check", 15, class_name="ok-icon"), equals)
    differs = rx.el.span(
        icon("circle-x", 15, class_name="bad-icon"), "the chain says ", _units(chain.supply, table.symbol)
    )
    why = rx.cond(chain.time != "", "the chain's node does not keep this block's state", "the chain does not answer")
    unknown = rx.el.span(icon("circle-dashed", 15), "not compared: ", why)
    kept = rx.el.div("The chain's node does not keep the state of this block.", class_name="below")
    return rx.el.li(
        rx.el.div(
            rx.el.span(chain.name, class_name="title"), rx.el.span(_units(chain.held, table.symbol), class_name="end"),
            class_name="row",
        ),
        rx.el.div(rx.match(chain.agrees, ("yes", agrees), ("no", differs), unknown), class_name="below agreement"),
        rx.cond(chain.source == "events", kept, rx.fragment()),
        rx.el.div(
            "Block ", rx.el.span(chain.block.to_string(), class_name="num"),
            rx.cond(chain.time != "", rx.fragment(", ", when(chain.time, "exact")), rx.fragment()),
            class_name="below",
        ),
        class_name="item chain-sum",
        key=chain.name,
    )  # fmt: skip


def _countries() -> rx.Component:
    """Draw the countries of investors, with a plain bar each."""
    table = CapTableState.table
    none = empty("globe", "No investors at this time", "Countries of investors appear here, from their parties.")
    return card(
        "Countries",
        rx.cond(table.countries.length() > 0, rx.el.ul(rx.foreach(table.countries, _country), class_name="bars"), none),
        right=rx.el.span("of what investors hold", class_name="muted small"),
    )


def _country(country: rx.Var[CountryRow]) -> rx.Component:
    return rx.el.li(
        rx.el.div(rx.el.span(country.name), rx.el.span(country.share, class_name="end num strong"), class_name="row"),
        rx.el.div(rx.el.i(style={"width": country.part.to_string() + "%"}), class_name="plain-bar", aria_hidden="true"),
        rx.el.div(country.holders, ", ", _units(country.balance, CapTableState.table.symbol), class_name="below"),
        key=country.name,
    )
