"""The redirect page between the consent page and the application.

The console's forms may lead to this server's origin only, including redirects; a separate page may lead anywhere.
"""

from html import escape

from fastapi.responses import HTMLResponse

from backend.oauth.errors import NO_STORE

HEADERS = NO_STORE | {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def leaving(address: str) -> HTMLResponse:
    """Return a page that redirects to an application's own, verified address, with a link for browsers that do not
    follow.
    """
    target = escape(address, quote=True)
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Signum</title>'
        f'<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="refresh" content="0;url={target}"></head>'
        f'<body><p>Returning to the application. <a href="{target}">Continue</a></p></body></html>',
        headers=HEADERS,
    )
