"""Identity documents of the demo's parties as PDF: a register extract, a bill, a passport, an identity card.

They look like what they claim to be, name fictional people only, and say "Specimen" across the page.
"""

import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from backend.compliance.countries import country_name

WIDTH, HEIGHT = A4
INK, MUTED, LINE, PAPER = "#1d2430", "#667085", "#c9ced8", "#f3f5f9"
MARGIN = 64


@dataclass(frozen=True)
class Holder:
    """Whom a document is about."""

    name: str
    country: str
    """ISO 3166-1 alpha-3."""
    issued: date

    @property
    def land(self) -> str:
        """Return the country's name."""
        return country_name(self.country)

    def number(self, what: str, digits: int = 8) -> str:
        """Return a number that is always the same for a holder and a purpose."""
        return str(zlib.crc32(f"{what}:{self.name}".encode()) % 10**digits).zfill(digits)

    def one_of(self, what: str, *choices: str) -> str:
        """Return a choice that is always the same for a holder and a purpose."""
        return choices[int(self.number(what)) % len(choices)]

    @property
    def address(self) -> list[str]:
        """Return a fictional address, line by line."""
        street = self.one_of("street", "Harbour Street", "Mill Lane", "Station Road", "Canal Row", "Market Square")
        return [f"{int(self.number('house', 2)) + 1} {street}", f"{self.number('post', 5)} Portside", self.land]


def draw(proves: str, holder: Holder) -> bytes:
    """Return a document of a kind."""
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=A4, invariant=1, lang="en")
    _KINDS[proves](canvas, holder)
    _specimen(canvas)
    canvas.setAuthor("Signum demo")
    canvas.showPage()
    canvas.save()
    return written.getvalue()


def _register_extract(canvas: Canvas, holder: Holder) -> None:
    canvas.setTitle(f"Register extract, {holder.name}")
    _letterhead(canvas, f"Commercial Register, {holder.land}", "Current extract", holder)
    rows = [
        ("Company", holder.name),
        ("Register number", f"B {holder.number('register', 6)}"),
        (
            "Legal form",
            holder.one_of("form", "Private limited company", "Limited partnership", "Public limited company"),
        ),
        ("Registered office", ", ".join(holder.address)),
        ("Share capital", f"EUR {int(holder.number('capital', 3)) + 50},000.00, fully paid"),
        (
            "Managing directors",
            holder.one_of("directors", "A. Lindgren, M. Castell", "H. Vaillant", "R. Osei, T. Brandt"),
        ),
        ("Representation", "Two directors jointly"),
        ("Purpose", "Holding and administration of financial assets"),
        ("Entries since formation", holder.number("entries", 1)),
        ("Insolvency proceedings", "None entered"),
    ]
    _table(canvas, rows, HEIGHT - 250)
    _note(canvas, "This extract reproduces the current content of the register on the date of issue.")


def _bill(canvas: Canvas, holder: Holder) -> None:
    canvas.setTitle(f"Electricity bill, {holder.name}")
    _letterhead(canvas, f"Power and Light, {holder.land}", "Electricity bill", holder)
    canvas.setFont("Helvetica", 11)
    for place, line in enumerate([holder.name, *holder.address]):
        canvas.drawString(MARGIN, HEIGHT - 230 - place * 16, line)
    used = int(holder.number("used", 3)) + 240
    rows = [
        ("Customer number", holder.number("customer")),
        ("Supply address", ", ".join(holder.address)),
        ("Period", f"{holder.issued - timedelta(days=61)} to {holder.issued - timedelta(days=1)}"),
        ("Consumption", f"{used} kWh"),
        ("Energy", f"EUR {used * 0.24:,.2f}"),
        ("Network charges", f"EUR {used * 0.09:,.2f}"),
        ("Amount due", f"EUR {used * 0.33:,.2f}"),
    ]
    _table(canvas, rows, HEIGHT - 330)
    _note(canvas, "The amount is collected by direct debit. Nothing needs to be paid.")


def _passport(canvas: Canvas, holder: Holder) -> None:
    _card(canvas, holder, "Passport", "P")


def _id_card(canvas: Canvas, holder: Holder) -> None:
    _card(canvas, holder, "Identity card", "I")


def _card(canvas: Canvas, holder: Holder, title: str, code: str) -> None:
    """Draw a data page with a picture and the machine-readable lines."""
    canvas.setTitle(f"{title}, {holder.name}")
    left, top, width, height = MARGIN, HEIGHT - 120, WIDTH - 2 * MARGIN, 310
    canvas.setFillColor(PAPER)
    canvas.setStrokeColor(LINE)
    canvas.roundRect(left, top - height, width, height, 12, fill=1)
    canvas.setFillColor(INK)
    canvas.setFont("Helvetica-Bold", 14)
    canvas.drawString(left + 20, top - 30, holder.land.upper())
    canvas.drawRightString(left + width - 20, top - 30, title.upper())
    _portrait(canvas, left + 20, top - 200)
    *given, family = holder.name.split()
    born = date(1950 + int(holder.number("born", 2)) % 45, int(holder.number("month", 2)) % 12 + 1, 14)
    number = f"{holder.country[:1]}{holder.number(title, 8)}"
    facts = [
        ("Surname", family),
        ("Given names", " ".join(given) or family),
        ("Nationality", holder.land),
        ("Date of birth", f"{born:%d %b %Y}"),
        ("Document number", number),
        ("Date of issue", f"{holder.issued - timedelta(days=900):%d %b %Y}"),
        ("Date of expiry", f"{holder.issued + timedelta(days=2_750):%d %b %Y}"),
    ]
    for place, (label, value) in enumerate(facts):
        _fact(canvas, left + 150 + place % 2 * 170, top - 66 - place // 2 * 42, label, value)
    _machine_lines(canvas, left + 20, top - height + 44, code, holder, family, given, number, born)


def _machine_lines(
    canvas: Canvas,
    x: float,
    y: float,
    code: str,
    holder: Holder,
    family: str,
    given: list[str],
    number: str,
    born: date,
) -> None:
    """Draw two lines in the form of ICAO 9303, with fillers instead of check digits."""
    names = f"{family}<<{'<'.join(given)}".upper()
    ends = holder.issued + timedelta(days=2_750)
    lines = [f"{code}<{holder.country}{names}", f"{number}<<{holder.country}{born:%y%m%d}<<{ends:%y%m%d}"]
    canvas.setFillColor(INK)
    canvas.setFont("Courier", 15)
    for place, line in enumerate(lines):
        safe = line.encode("ascii", "replace").decode().replace("?", "X")
        canvas.drawString(x, y - place * 20, safe.ljust(44, "<")[:44])


def _portrait(canvas: Canvas, x: float, y: float) -> None:
    canvas.setFillColor("#dfe4ee")
    canvas.rect(x, y, 110, 140, fill=1, stroke=0)
    canvas.setFillColor("#aab3c5")
    canvas.circle(x + 55, y + 88, 26, fill=1, stroke=0)
    canvas.ellipse(x + 12, y - 40, x + 98, y + 56, fill=1, stroke=0)
    canvas.setFillColor(PAPER)
    canvas.rect(x, y - 42, 110, 42, fill=1, stroke=0)


def _letterhead(canvas: Canvas, sender: str, title: str, holder: Holder) -> None:
    canvas.setFillColor(INK)
    canvas.rect(MARGIN, HEIGHT - 84, 34, 34, fill=1, stroke=0)
    canvas.setFont("Helvetica-Bold", 15)
    canvas.drawString(MARGIN + 46, HEIGHT - 66, sender)
    canvas.setFillColor(MUTED)
    canvas.setFont("Helvetica", 9.5)
    canvas.drawString(MARGIN + 46, HEIGHT - 82, f"Issued on {holder.issued:%d %B %Y}   No. {holder.number(title)}")
    canvas.setStrokeColor(LINE)
    canvas.line(MARGIN, HEIGHT - 104, WIDTH - MARGIN, HEIGHT - 104)
    canvas.setFillColor(INK)
    canvas.setFont("Helvetica-Bold", 22)
    canvas.drawString(MARGIN, HEIGHT - 160, title)


def _table(canvas: Canvas, rows: list[tuple[str, str]], top: float) -> None:
    for place, (label, value) in enumerate(rows):
        y = top - place * 30
        canvas.setFillColor(MUTED)
        canvas.setFont("Helvetica", 10)
        canvas.drawString(MARGIN, y, label)
        canvas.setFillColor(INK)
        canvas.setFont("Helvetica", 11)
        canvas.drawString(MARGIN + 140, y, value[:64])
        canvas.line(MARGIN, y - 11, WIDTH - MARGIN, y - 11)


def _fact(canvas: Canvas, x: float, y: float, label: str, value: str) -> None:
    canvas.setFillColor(MUTED)
    canvas.setFont("Helvetica", 8)
    canvas.drawString(x, y, label)
    canvas.setFillColor(INK)
    canvas.setFont("Helvetica-Bold", 11)
    canvas.drawString(x, y - 14, value)


def _note(canvas: Canvas, words: str) -> None:
    canvas.setFillColor(MUTED)
    canvas.setFont("Helvetica", 9)
    canvas.drawString(MARGIN, 96, words)


def _specimen(canvas: Canvas) -> None:
    """Say across the page that the document is not real."""
    canvas.saveState()
    canvas.setFillColor("#b42318", alpha=0.13)
    canvas.translate(WIDTH / 2, HEIGHT / 2 - 40)
    canvas.rotate(38)
    canvas.setFont("Helvetica-Bold", 92)
    canvas.drawCentredString(0, 0, "SPECIMEN")
    canvas.restoreState()
    canvas.setFillColor(MUTED)
    canvas.setFont("Helvetica", 8)
    canvas.drawString(MARGIN, 64, "Specimen of the Signum demo. The people, companies and authorities are fictional.")


_KINDS: dict[str, Callable[[Canvas, Holder], None]] = {
    "company_register": _register_extract,
    "proof_of_address": _bill,
    "passport": _passport,
    "id_card": _id_card,
}
