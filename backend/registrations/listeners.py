"""Listeners to changes, the finder of resolutions, and the check of their causes. Importing this module registers
them."""

from backend.audit import entries
from backend.chain.transactions import corrections
from backend.core import changes
from backend.failures import causes
from backend.failures import service as failures
from backend.mail import alerts
from backend.requests import corrections as requests
from backend.requests import resolutions
from backend.webhooks import events

changes.listen(entries.collect)
changes.listen(events.on_change)
changes.listen(alerts.on_change)
corrections.listen(requests.follow)
resolutions.find_with(failures.resolution)
resolutions.check_with(causes.is_gone)
