"""Whoever listens to changes. Importing this module is what makes them heard."""

from backend import changes
from backend.audit import writing

changes.listen(writing.collect)
