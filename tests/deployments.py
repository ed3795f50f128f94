"""Check the deployment files: `python -m tests.deployments` lints the image and renders the chart with Helm's engine.

Runs in its own environment (`make deployments`), because these tools are large.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helm_python
import kubernetes_validate
import yaml

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
CHART = DEPLOY / "helm" / "signum"
VERSIONS = ("1.27", "1.37")
VALUES: list[dict[str, Any]] = [
    {},
    {"ingress": {"enabled": True, "className": "nginx"}},
    {"web": {"autoscaling": {"enabled": False}}, "networkPolicy": {"enabled": False}},
    {"image": {"digest": "sha256:" + "0" * 64}},
]
REFUSED: list[dict[str, Any]] = [
    {"settings": {"SIGNUM_PUBLIC_URL": "http://signum.example"}},
    {"settings": {"SIGNUM_SECRET_KEY": "secret"}},
    {"web": {"replica": 3}},
]


def faults() -> Iterator[str]:
    """Yield a line for each fault."""
    for message in helm_python.lint(str(CHART))["messages"]:
        if message["severity"] > 1:  # 1 recommends, 2 warns, 3 is an error
            yield f"helm lint: {message['path']}: {message['error']}"
    with helm_python.Chart.load(str(CHART)) as chart:
        for values in VALUES:
            yield from _render(chart, values)
        for values in REFUSED:
            if not _is_refused(chart, values):
                yield f"The values schema accepts {json.dumps(values)}."
    dockerfile = DEPLOY / "docker" / "Dockerfile"
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, dockerfile], capture_output=True, text=True, check=False)
    yield from done.stdout.splitlines()


def _render(chart: Any, values: dict[str, Any]) -> Iterator[str]:
    rendered = chart.render(values, name="signum", namespace="signum")
    for path, text in rendered.items():
        if path.endswith(".txt"):
            continue
        for record in filter(None, yaml.safe_load_all(text)):
            for version in VERSIONS:
                try:
                    kubernetes_validate.validate(record, version, strict=True)
                except kubernetes_validate.ValidationError as error:
                    yield f"{path} {record['kind']} with {json.dumps(values)}, Kubernetes {version}: {error}"


def _is_refused(chart: Any, values: dict[str, Any]) -> bool:
    try:
        chart.validate_schema(values)
    except helm_python.HelmError:
        return True
    return False


if __name__ == "__main__":
    found = list(faults())
    sys.stdout.write("".join(f"{line}\n" for line in found) or "The deployment files have no faults.\n")
    sys.exit(bool(found))
