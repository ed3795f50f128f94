"""Delivery of one email to one server over SMTP."""

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from urllib.parse import unquote, urlsplit

from email_validator import validate_email

from backend.core.db import now
from backend.mail.models import OutboxRow

PORTS = {"smtp": 587, "smtps": 465}
TIMEOUT = 15.0
"""Seconds for each response of the server."""


class Refused(Exception):
    """The server rejected an email. `is_final`: permanently."""

    def __init__(self, words: str, *, is_final: bool) -> None:
        super().__init__(words)
        self.is_final = is_final


@dataclass(frozen=True)
class Server:
    """A mail server: `smtp://user:password@host:587` requires STARTTLS unless `?starttls=no`; `smtps://…:465` uses TLS
    from the start. Certificates are verified against the system's authorities.
    """

    host: str
    port: int
    is_tls: bool
    starts_tls: bool
    user: str
    password: str

    @classmethod
    def of(cls, url: str) -> "Server":
        """Parse a URL from the settings."""
        parts = urlsplit(url)
        is_tls = parts.scheme == "smtps"
        return cls(
            host=parts.hostname or "",
            port=parts.port or PORTS[parts.scheme],
            is_tls=is_tls,
            starts_tls=not is_tls and not parts.query,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
        )


def letter(row: OutboxRow, sender: str) -> EmailMessage:
    """Return the message of a row. Its id is the row's, so that duplicates are recognizable."""
    _, address = parseaddr(sender)
    message = EmailMessage()
    message["From"] = sender
    message["To"] = _envelope(row.recipient)
    message["Subject"] = row.subject
    message["Date"] = format_datetime(now())
    message["Message-ID"] = f"<{row.id}@{address.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(row.body)
    return message


def send(server: Server, message: EmailMessage) -> None:
    """Deliver a message; blocks. Raises Refused with the server's words."""
    try:
        with _session(server) as session:
            session.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        code, words = next(iter(error.recipients.values()))
        raise Refused(_words(code, words), is_final=code >= 500) from error
    except (smtplib.SMTPAuthenticationError, smtplib.SMTPHeloError, smtplib.SMTPConnectError) as error:
        raise Refused(_words(error.smtp_code, error.smtp_error), is_final=False) from error
    except smtplib.SMTPResponseException as error:
        raise Refused(_words(error.smtp_code, error.smtp_error), is_final=error.smtp_code >= 500) from error
    except smtplib.SMTPNotSupportedError as error:
        raise Refused(str(error), is_final=False) from error
    except (OSError, smtplib.SMTPException) as error:
        raise Refused(f"The mail server cannot be reached: {type(error).__name__}.", is_final=False) from error


@contextmanager
def _session(server: Server) -> Iterator[smtplib.SMTP]:
    secure = ssl.create_default_context()
    session = (
        smtplib.SMTP_SSL(server.host, server.port, timeout=TIMEOUT, context=secure)
        if server.is_tls
        else smtplib.SMTP(server.host, server.port, timeout=TIMEOUT)
    )
    with session:
        if server.starts_tls:
            session.starttls(context=secure)
        if server.user:
            session.login(server.user, server.password)
        yield session


def _envelope(address: str) -> str:
    """Return an address in SMTP form: its domain in ASCII."""
    found = validate_email(address, check_deliverability=False, test_environment=True)
    return found.ascii_email or f"{found.local_part}@{found.ascii_domain}"


def _words(code: int, words: bytes | str) -> str:
    text = words.decode(errors="replace") if isinstance(words, bytes) else words
    return f"{code} {text}"[:300]
