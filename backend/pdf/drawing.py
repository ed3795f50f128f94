"""Drawing of reports with ReportLab. The same report gives the same bytes."""

import io

from reportlab.pdfgen.canvas import Canvas

from backend.pdf.layout import HEIGHT, MARGIN, SMALL, WIDTH, Line, Rule, Sheet, sheets
from backend.pdf.reports import Report

INK, MUTED, SOFT = "#16181d", "#5b616e", "#d9dce3"


def draw(report: Report) -> bytes:
    """Return a report as PDF."""
    pages, written = sheets(report), io.BytesIO()
    # Without the time of its creation and a random ID, the file is the same each time.
    canvas = Canvas(written, pagesize=(WIDTH, HEIGHT), invariant=1, lang="en")
    canvas.setTitle(report.title)
    canvas.setAuthor(report.author)
    canvas.setCreator("Signum")
    for number, page in enumerate(pages, 1):
        _draw_sheet(canvas, page)
        _draw_edges(canvas, report, number, len(pages))
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def _draw_sheet(canvas: Canvas, page: Sheet) -> None:
    for piece in page.pieces:
        if isinstance(piece, Rule):
            canvas.setStrokeColor(MUTED if piece.is_strong else SOFT)
            canvas.setLineWidth(0.6 if piece.is_strong else 0.4)
            canvas.line(MARGIN, HEIGHT - piece.y, WIDTH - MARGIN, HEIGHT - piece.y)
        else:
            _draw_line(canvas, piece)


def _draw_edges(canvas: Canvas, report: Report, number: int, count: int) -> None:
    """Draw the head of a later page, and the foot of every page."""
    if number > 1:
        _draw_line(canvas, Line(report.title, MARGIN, 40, SMALL, is_muted=True))
        _draw_line(canvas, Line(report.author, WIDTH - MARGIN, 40, SMALL, is_muted=True, is_right=True))
    foot = HEIGHT - 34
    _draw_line(canvas, Line(report.author, MARGIN, foot, SMALL, is_muted=True))
    page = f"Page {number} of {count}"
    _draw_line(canvas, Line(page, WIDTH - MARGIN, foot, SMALL, is_muted=True, is_right=True))


def _draw_line(canvas: Canvas, line: Line) -> None:
    canvas.setFont(line.font, line.size)
    canvas.setFillColor(MUTED if line.is_muted else INK)
    draw_text = canvas.drawRightString if line.is_right else canvas.drawString
    draw_text(line.x, HEIGHT - line.y, line.text)
