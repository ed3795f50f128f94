"""`python -m backend.cli`."""

from backend.cli.main import app

app()
