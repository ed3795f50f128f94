"""What keeps in view what has just changed."""

import reflex as rx

from components.ui.value import Local


class InView(Local):
    """Scrolls to its parent when that appears out of view, and again for another `of`."""

    library = "$/public/react/in_view.jsx"
    tag = "InView"

    of: rx.Var[str]


class Uncovers(Local):
    """Scrolls the last element of a `selector` out from under its parent, a bar that appears at the bottom."""

    library = "$/public/react/in_view.jsx"
    tag = "Uncovers"

    selector: rx.Var[str]
