"""Small charts. Colors are tokens; a chart that carries information has a text equivalent."""

from typing import Any

import reflex as rx

QUIET = {"accessibilityLayer": False}
GROUPED = "(value) => value.toLocaleString('en-US', { maximumFractionDigits: 4 })"
"""How an axis writes a number."""


def legend(*parts: tuple[Any, str, str]) -> rx.Component:
    """Say what the colors mean, from (number, word, color)."""
    return rx.el.div(
        *[
            rx.el.span(rx.el.span(class_name="dot", style={"background": color}), number, " ", word)
            for number, word, color in parts
        ],
        class_name="legend",
    )


def depth(
    data: rx.Var[list[dict[str, float]]],
    label: rx.Var[str] | str,
    ticks: rx.Var[list[float]],
    height: int | str = 236,
) -> rx.Component:
    """Draw a market's depth: rows with `price` and either `bid` or `ask`, cumulated, out to
    the first and last of `ticks`. `label` describes it in a sentence."""
    cartesian = rx.recharts
    side = {"stroke_width": 1.75, "dot": False, "is_animation_active": False}
    chart = cartesian.area_chart(
        cartesian.cartesian_grid(vertical=False, stroke="var(--line)", stroke_dasharray=""),
        cartesian.area(
            data_key="bid", name="Bids", type_="stepBefore", stroke="var(--c-buy)", fill="var(--c-buy)", **side
        ),
        cartesian.area(
            data_key="ask", name="Asks", type_="stepAfter", stroke="var(--c-sell)", fill="var(--c-sell)", **side
        ),
        cartesian.x_axis(
            data_key="price", type_="number", domain=["dataMin", "dataMax"], tick_line=False, axis_line=False,
            height=24, tick_formatter=GROUPED, ticks=ticks.to(list[int]),
        ),
        cartesian.y_axis(
            orientation="right", tick_line=False, axis_line=False, width=60, tick_count=4, tick_formatter=GROUPED
        ),
        cartesian.graphing_tooltip(),
        data=data,
        width="100%",
        height=height,
        margin={"top": 8, "right": 0, "bottom": 0, "left": 20},
        custom_attrs=QUIET,
    )  # fmt: skip
    return rx.el.div(chart, class_name="depth", role="img", aria_label=label)
