"""Accepted file types: documents of parties."""

MAGIC = {"application/pdf": b"%PDF-", "image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
"""First bytes of each type."""


UNTYPED = "application/octet-stream"
