"""Displayed values: addresses, hashes, amounts, times. All take the API's raw values, literal or Var."""

from typing import Any, Literal

import reflex as rx


class Local(rx.Component):
    """A React component of ours, in assets/react. Its icons are from the package of Reflex's icons, each from its own
    file: otherwise the bundler reads the whole package."""


class Hash(Local):
    """A shortened address or hash with a copy button and, where `href` is set, a link to the explorer."""

    library = "$/public/react/format.jsx"
    tag = "Hash"

    value: rx.Var[str]
    label: rx.Var[str]
    href: rx.Var[str]
    full: rx.Var[bool]


class CopyButton(Local):
    """A button that copies; the word changes to "Copied" for a moment."""

    library = "$/public/react/format.jsx"
    tag = "CopyButton"

    text: rx.Var[str]
    label: rx.Var[str]
    word: rx.Var[str]


class Amount(Local):
    """A token amount in base units, shown in whole units."""

    library = "$/public/react/format.jsx"
    tag = "Amount"

    value: rx.Var[str]
    decimals: rx.Var[int]
    unit: rx.Var[str]
    digits: rx.Var[int]
    least: rx.Var[int]


class DateWords(Local):
    """The date in a date field in words, because browsers write it in forms such as 11/28/2027."""

    library = "$/public/react/format.jsx"
    tag = "DateWords"

    input: rx.Var[str]
    value: rx.Var[str]


class When(Local):
    """A time that keeps itself up to date."""

    library = "$/public/react/format.jsx"
    tag = "When"

    value: rx.Var[Any]
    form: rx.Var[str]
    none: rx.Var[str]


class Zone(Local):
    """Sets the time zone in which every `When` of the page is shown."""

    library = "$/public/react/format.jsx"
    tag = "Zone"

    name: rx.Var[str]


class Now(Local):
    """The time now, exact."""

    library = "$/public/react/format.jsx"
    tag = "Now"


class ZoneNames(Local):
    """The time zones that the browser knows, as suggestions of a field."""

    library = "$/public/react/format.jsx"
    tag = "ZoneNames"

    id: rx.Var[str]


class BrowserZone(Local):
    """A button that takes the browser's time zone; nothing if that is the current one."""

    library = "$/public/react/format.jsx"
    tag = "BrowserZone"

    current: rx.Var[str]

    on_use: rx.EventHandler[rx.event.passthrough_event_spec(str)]


class Elapsed(Local):
    """A duration, running while `end` is empty."""

    library = "$/public/react/format.jsx"
    tag = "Elapsed"

    start: rx.Var[str]
    end: rx.Var[str]


def short_hash(
    value: rx.Var[str] | str, label: str = "address", href: rx.Var[str] | str | None = None, *, full: bool = False
) -> rx.Component:
    """Show an address, hash or id: shortened, with a copy button; `label` names it; "none" if it is empty."""
    return Hash.create(value=value, label=label, full=full, **({"href": href} if href is not None else {}))


def amount(
    value: rx.Var[str] | str,
    unit: Any = None,
    decimals: rx.Var[int] | int = 18,
    digits: rx.Var[int] | int = 6,
    least: rx.Var[int] | int = 0,
) -> rx.Component:
    """Show base units as whole units, grouped, at most `digits` decimals; `decimals=0` for whole numbers. `least`
    decimals are always shown, so that the digits of a column align. The exact amount is shown on hover; an amount that
    is cut copies it on a click."""
    named = {"unit": unit} if unit is not None else {}
    return Amount.create(value=value, decimals=decimals, digits=digits, least=least, **named)


def money(value: rx.Var[str] | str, unit: Any = None, decimals: rx.Var[int] | int = 6, digits: int = 2) -> rx.Component:
    """Show an amount of a quote currency, such as 103.10 tUSD. A price may have more `digits` than two."""
    return amount(value, unit, decimals, digits, 2)


def when(
    value: Any, form: Literal["relative", "clock", "zoned", "day", "exact"] = "relative", none: str = "never"
) -> rx.Component:
    """Show a time (ISO string, or seconds since 1970): relative, exact on hover; `none` if it is empty. `clock` is the
    time of day, `zoned` with the zone."""
    return When.create(value=value, form=form, none=none)


def elapsed(start: rx.Var[str] | str, finish: rx.Var[str] | str = "") -> rx.Component:
    """Show how long something took, or how long it has been running."""
    return Elapsed.create(start=start, end=finish)


def no_value(words: str = "–") -> rx.Component:
    """Draw an empty value; on phones some rows leave it out."""
    return rx.el.span(words, class_name="muted no-value")


def country(name: Any, code: Any) -> rx.Component:
    """Draw a country's name with its ISO 3166-1 code."""
    return rx.el.span(name, " ", rx.el.span(code, class_name="muted small country-code"))


def copy_button(text: rx.Var[str] | str, word: str = "Copy", *, small: bool = False) -> rx.Component:
    """Draw a button that copies `text`."""
    return CopyButton.create(text=text, word=word, class_name=f"btn{' small' if small else ''}")
