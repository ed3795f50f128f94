"""`python -m backend.openapi.methods`: generate the client's operations."""

from backend.openapi.methods import FOLDER, write

write(FOLDER)
