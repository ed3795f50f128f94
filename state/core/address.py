"""What a page shows is in its URL: filters, the open drawer, the tab. A reload, Back and a link lead to the same view.

A state declares its parameters in `_in_url`, a page names its states in `in_url`, and `load` reads them (`_read_url`).
The browser writes them (`assets/react/address.jsx`) without a navigation.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from state.core.api import Api
from state.core.arguments import id_of, one_of, words

Adds = Literal["", "opening", "change"]


@dataclass(frozen=True)
class Param:
    """A parameter of the URL.

    var: the state's var with its value, or an attribute of one (`request.id`), which `load` itself sets.
    read: returns the var's value from the URL's text, the usual one if the text is malformed.
    adds: the changes that add an entry to the browser's history, so that Back undoes them: none, those from or to the
        usual value (a drawer), or each (a tab).
    """

    var: str
    read: Callable[[Any, str], str]
    adds: Adds = ""


def choice(var: str, known: Iterable[Any], usual: str = "", adds: Adds = "") -> Param:
    """Return a parameter with known values."""
    values = {str(one) for one in known}
    return Param(var, lambda _, text: one_of(text, values, usual), adds)


def identifier(var: str, adds: Adds = "") -> Param:
    """Return a parameter with an id."""
    return Param(var, lambda _, text: id_of(text), adds)


def opened(var: str) -> Param:
    """Return the parameter of a drawer: the id of what it shows."""
    return identifier(var, "opening")


def written(var: str) -> Param:
    """Return a parameter with a search text."""
    return Param(var, lambda _, text: words(text))


class Addressed(Api, mixin=True):
    """Mixin of a state whose view is in the URL. Declare `_in_url`, and `_table` if the page has several lists."""

    _in_url: ClassVar[dict[str, Param]] = {}
    """By parameter; those of the mixins are added."""
    _table: ClassVar[str] = ""
    """Begins the names of the list's parameters in the URL."""

    @classmethod
    def _params(cls) -> dict[str, Param]:
        """Return the parameters of this state, by their names in the URL."""
        declared = [vars(base).get("_in_url", {}) for base in reversed(cls.__mro__)]
        return {f"{cls._table}{name}": param for one in declared for name, param in one.items()}

    @classmethod
    def _usual(cls, var: str) -> str:
        """Return a var's usual value, which the URL omits."""
        name, _, attribute = var.partition(".")
        default = cls.get_fields()[name].default_value()
        return str(getattr(default, attribute) if attribute else default)

    def _read_url(self) -> None:
        """Take over the view in the page's URL."""
        for name, param in self._params().items():
            if "." not in param.var:
                setattr(self, param.var, param.read(self, self._query(name)))
