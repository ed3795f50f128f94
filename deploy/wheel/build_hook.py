"""Adds the built console to the wheel, and builds it first if its sources have changed."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PARTS = ("build/client", "backend", "routes.json")
"""What Reflex reads while it serves: pages and assets, the list of pages that define state, and the routes."""


class ConsoleHook(BuildHookInterface[Any]):
    """Hatchling loads this class from the path in pyproject.toml."""

    def dependencies(self) -> list[str]:
        """Return what the build needs: the pages are Python, so the console is built from everything they import."""
        return list(self.metadata.core.dependencies)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the console and add its files to the wheel."""
        if version == "editable":
            return  # such an installation runs in the checkout
        sys.path.insert(0, self.root)
        from backend.server import console_build

        console_build.build_if_changed(self.app.display_info)
        build = Path(self.root, ".web")
        build_data["force_include"] |= {str(build / part): f"app/console/{part}" for part in PARTS}
