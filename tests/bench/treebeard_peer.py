"""Moves a node of django-treebeard with many below it, in a process of its own; prints the median in milliseconds."""

import os
import statistics
import time
from typing import Any

import django  # type: ignore[import-not-found]
from django.conf import settings  # type: ignore[import-not-found]

TOLD = os.environ


def main() -> None:
    """Fill a table, and move the node between two others."""
    place = {"ENGINE": "django.db.backends.postgresql", "NAME": TOLD["PEER_DATABASE"], "HOST": TOLD["PEER_HOST"]}
    settings.configure(DATABASES={"default": place | {"USER": TOLD["PEER_USER"]}}, INSTALLED_APPS=["treebeard"])
    django.setup()
    from django.db import connection, models, transaction  # type: ignore[import-not-found]
    from treebeard.mp_tree import MP_Node  # type: ignore[import-not-found]

    class Node(MP_Node):  # type: ignore[misc]
        """A node."""

        name = models.CharField(max_length=60)

        class Meta:
            """Its application."""

            app_label = "treebeard"

    with connection.schema_editor() as editor:
        editor.create_model(Node)
    root = Node.add_root(name="Group")
    homes = [root.add_child(name=name) for name in ("First", "Second")]
    large = Node.objects.get(pk=homes[0].pk).add_child(name="Large")
    below, wide = int(TOLD["PEER_BELOW"]), int(TOLD["PEER_WIDE"])
    each: list[dict[str, Any]] = [{"data": {"name": "Below"}} for _ in range(below // wide)]
    Node.load_bulk([{"data": {"name": "Below"}, "children": each} for _ in range(wide)], parent=large)
    with connection.cursor() as cursor:
        cursor.execute("analyze")
    took = []
    for number in range(int(TOLD["PEER_ROUNDS"]) + 1):
        moved, there = Node.objects.get(pk=large.pk), Node.objects.get(pk=homes[(number + 1) % 2].pk)
        began = time.perf_counter()
        with transaction.atomic():
            moved.move(there, pos="last-child")
        if number:
            took.append((time.perf_counter() - began) * 1000)
    print(statistics.median(took))  # noqa: T201


if __name__ == "__main__":
    main()
