"""Fields of a call's body whose value the caller chooses, each with an example."""

from backend.core.problems.resolutions import Field, example

REASON = example("Resolved after review.")
LABEL = example("Treasury")
"""Of a server wallet."""
PASSWORD, CODE, EMAIL = example("correct horse battery"), example("123456"), example("marta@example.com")
ORGANIZATION = "019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21"


def ranges(address: str | None) -> Field:
    """Return the IP ranges that contain an address."""
    return example([address or "203.0.113.7"])
