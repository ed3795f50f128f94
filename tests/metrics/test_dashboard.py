"""The dashboard and the alert rules: every metric and label that they name is exposed."""

import json
import re
from pathlib import Path
from typing import Any

from backend.metrics import exposition

FOLDER = Path(__file__).parents[2] / "deploy" / "observability"
METRIC = re.compile(r"\b((?:signum|process|python)_[a-z_]+)\b")
OWN = {"up"}
"""Metrics that Prometheus makes itself."""
FORMS = ("", "_bucket", "_sum", "_count")


def dashboard() -> list[str]:
    """Return the queries of the dashboard."""
    panels = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


def rules() -> list[str]:
    """Return the queries of the alert rules."""
    return re.findall(r"^ +expr: (.+)$", (FOLDER / "alerts.yml").read_text(), re.MULTILINE)


async def exposed() -> set[str]:
    """Return the names of all metrics, whether or not there is a sample of them now."""
    text = (await exposition.text()).decode()
    found = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        found |= {name + form for form in FORMS} if kind == "histogram" else {name}
    return found


async def test_every_metric_of_dashboard_and_rules_is_exposed(api: Any) -> None:
    named = {name for query in [*dashboard(), *rules()] for name in METRIC.findall(query)}
    assert len(named) > 20
    assert named - await exposed() == set()


async def test_every_metric_of_the_installation_is_on_the_dashboard(api: Any) -> None:
    shown = {name for query in dashboard() for name in METRIC.findall(query)}
    own = {name for name in await exposed() if name.startswith("signum_")}
    hidden = {name for name in own if name not in shown and not re.search(r"_(created|sum|count|bucket)$", name)}
    assert hidden == {"signum_http_request_duration_seconds", "signum_audit_logs"}


def test_every_alert_says_what_to_do() -> None:
    text = (FOLDER / "alerts.yml").read_text()
    counts = {
        word: len(re.findall(rf"^ +{word}:? ?", text, re.MULTILINE)) for word in ("expr", "summary", "description")
    }
    assert len(set(counts.values())) == 1, counts
    assert text.count("severity: page") + text.count("severity: ticket") == counts["expr"]


async def test_every_metric_is_documented(api: Any) -> None:
    text = (FOLDER.parents[1] / "docs" / "observability.md").read_text()
    documented = set(re.findall(r"`(signum_[a-z_]+)`", text))
    own = {name for name in await exposed() if name.startswith("signum_")}
    assert documented == {name for name in own if not re.search(r"_(created|sum|count|bucket)$", name)}
