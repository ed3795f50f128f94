"""Which visit of a page its state tells of: states outlive the page they were filled for."""

from state.api import Api


class Arrives(Api, mixin=True):
    """Mixin of a page's state: call `_arrive()` once what the URL chooses is chosen, and `_moved()` as that changes."""

    place: str = ""
    visits: int = 0

    def _arrive(self) -> None:
        """The state is of the page that is in view now."""
        self.place, self.visits = self._here(), self.visits + 1

    def _moved(self, place: str) -> None:
        """The URL of the same page is another one."""
        self.place = place
