"""Rules of how many verifiers (DVNs) a bridge path needs."""

from backend.core.errors import Conflict

LEAST_DVNS = 2
"""Independent DVNs that must verify every packet between mainnets, as LayerZero recommends for production: with only
one, a third party alone could mint."""


class TooFewVerifiers(Conflict):
    """Conflict"""

    def extensions(self) -> dict[str, str]:
        """The setting that an operator changes."""
        return {"setting": SETTING}


def check_verifiers(required: int, names: tuple[str, str], eids: tuple[int, int]) -> None:
    """Raise 409 if a path between mainnets requires fewer than two DVNs."""
    if required < LEAST_DVNS:
        raise TooFewVerifiers(
            f"Packets from {names[0]} to {names[1]} must be verified by at least {LEAST_DVNS} required DVNs, but the "
            f"settings name {required or 'none'}. The operator of this installation sets them in {SETTING}, for "
            f"{eids[0]} to {eids[1]}."
        )


def verified_by(required: int, threshold: int, optional: int, confirmations: int) -> str:
    """Return who verifies packets of a path, as a sentence."""
    beside = f" and {threshold} of {optional} optional ones" if threshold else ""
    return f"{required} required DVNs{beside} verify each packet after {confirmations} confirmations."


def few_verifiers(source: str, destination: str) -> str:
    """Return the warning about such a path between test networks."""
    return (
        f"Fewer than {LEAST_DVNS} required DVNs verify packets from {source} to {destination}. Test networks allow "
        f"that; between mainnets, bridges are refused until {SETTING} names them."
    )


SETTING = "SIGNUM_BRIDGE_PATHS"
