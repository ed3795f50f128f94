"""Listeners to changes. Importing this module registers them."""

from backend.audit import entries
from backend.chain.transactions import corrections
from backend.core import changes
from backend.mail import alerts
from backend.requests import corrections as requests
from backend.webhooks import events

changes.listen(entries.collect)
changes.listen(events.on_change)
changes.listen(alerts.on_change)
corrections.listen(requests.follow)
