"""`python -m backend.openapi.methods`: write the client's operations."""

from backend.openapi.methods import FOLDER, write

write(FOLDER)
