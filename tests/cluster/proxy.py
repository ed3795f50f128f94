"""nginx with the project's configuration, in which only addresses, paths and the service names are replaced."""

import shutil
from pathlib import Path

from tests.cluster.layout import Layout
from tests.support.certificate import self_signed

SOURCE = Path(__file__).parents[2] / "deploy" / "docker" / "nginx.conf"
FORMAT = "log_format served '$upstream_addr $status $request';"


def command(layout: Layout) -> list[str]:
    """Write the configuration and a certificate, and return the command that serves them."""
    folder = layout.folder / "nginx"
    folder.mkdir()
    certificate = self_signed(folder)
    text = SOURCE.read_text()
    replaced = {
        "/tmp/": f"{folder}/",
        "worker_processes auto;": "worker_processes 2;\ndaemon off;",
        "web-1:8000": f"127.0.0.1:{layout.ports['web-1']}",
        "web-2:8000": f"127.0.0.1:{layout.ports['web-2']}",
        "listen 8443": f"listen 127.0.0.1:{layout.proxy}",
        "/etc/nginx/tls.crt": str(certificate),
        "/etc/nginx/tls.key": str(certificate),
        "access_log /dev/stdout;": f"{FORMAT}\n    access_log {log(layout)} served;",
    }
    for before, after in replaced.items():
        if before not in text:
            raise ValueError(f"{SOURCE} lacks {before}")
        text = text.replace(before, after)
    (folder / "nginx.conf").write_text(text)
    return [str(shutil.which("nginx")), "-c", str(folder / "nginx.conf"), "-p", str(folder), "-e", "stderr"]


def log(layout: Layout) -> Path:
    """Return the file with a line for each request: the web processes that got it, its status, and its first line."""
    return layout.folder / "nginx" / "access.log"


def certificate_of(layout: Layout) -> Path:
    """Return the certificate that clients trust."""
    return layout.folder / "nginx" / "both.pem"
