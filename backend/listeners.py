"""Whoever listens to changes. Importing this module is what makes them heard."""

from backend import changes
from backend.audit import writing
from backend.chain import corrections
from backend.mail import alerts
from backend.requests import corrections as requests
from backend.webhooks import events

changes.listen(writing.collect)
changes.listen(events.on_change)
changes.listen(alerts.on_change)
corrections.listen(requests.follow)
