"""Every field for an address finds accounts by name, or has a reason why it cannot."""

import re
from pathlib import Path

CONSOLE = Path(__file__).parents[2]
REASONS = {
    "components/distributions/detail.py": "a Merkle root, which is no address",
    "components/markets/wizard.py": "a token that Signum does not know yet",
    "components/parties/edit.py": "begins with the party's own wallet, and the picker begins empty",
    "components/wallets/wallet.py": "a new wallet, which no record knows yet",
    "components/core/holder_picker.py": "the picker itself",
}
HINT = re.compile(r'placeholder="[^"]*0x')


def test_fields_for_addresses_use_the_picker_or_have_a_reason() -> None:
    """A text field that asks for `0x…` is one with a reason here."""
    modules = [path for folder in ("app", "components") for path in (CONSOLE / folder).rglob("*.py")]
    found = {str(path.relative_to(CONSOLE)) for path in modules if HINT.search(path.read_text())}
    assert found == REASONS.keys()
