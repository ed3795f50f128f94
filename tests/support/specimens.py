"""Small, valid files that stand for documents of people and companies."""

import struct
import zlib

WIDTH, HEIGHT = 320, 200
"""Pixels of a picture."""


def pdf(lines: list[str]) -> bytes:
    """Return a page of text as PDF 1.4; lines in Latin letters without brackets or backslashes."""
    shown = " 0 -28 Td ".join(f"({line}) Tj" for line in lines)
    text = f"BT /F1 18 Tf 56 760 Td {shown} ET".encode("latin-1", "replace")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    tail = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return bytes(made) + tail % (size, table, size, len(made))


def picture(words: str) -> bytes:
    """Return a striped card as PNG; the words determine its color and are in its text chunk."""
    shade = zlib.crc32(words.encode())
    colors = [bytes((96 + (shade >> at) % 128, 128, 160)) for at in (0, 8)]
    rows = b"".join(b"\0" + colors[y // 20 % 2] * WIDTH for y in range(HEIGHT))
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    text = b"Title\0" + words.encode("latin-1", "replace")
    chunks = [(b"IHDR", head), (b"tEXt", text), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
