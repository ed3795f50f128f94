"""The data folder: this user's alone, with everything in it, also where Signum runs as root.

PostgreSQL refuses to run as root, so the embedded server then runs as a user of its own, which has to pass through the
folder to its files. It becomes the folder's owner: 0700 stays 0700, and what Signum writes there stays root's, which
that user cannot read.
"""

import os
import stat
from pathlib import Path

PRIVATE = 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PASS = stat.S_IXGRP | stat.S_IXOTH


def prepare(home: Path) -> None:
    """Make the folder, let nothing that this process or its children write be anybody else's, and close what an earlier
    version left open. PostgreSQL looks after its own files."""
    os.umask(_OTHERS)
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(PRIVATE)
    for folder, folders, files in os.walk(home):
        if Path(folder) == home and "pg" in folders:
            folders.remove("pg")
        for name in (*folders, *files):
            _close(Path(folder, name))


def let_through(path: Path, home: Path, user_id: int) -> None:
    """Let the database server's user reach a path: as the owner of the folders of the data folder, and through those
    above it without seeing what is in them."""
    for folder in path.parents:
        if folder == home or home in folder.parents:
            os.chown(folder, user_id, -1)
            folder.chmod(PRIVATE)
        elif folder.stat().st_mode & _PASS != _PASS:
            folder.chmod(folder.stat().st_mode | _PASS)


def _close(path: Path) -> None:
    """Take what others may do; what its owner may, such as to run the chains' node, stays."""
    found = path.lstat().st_mode
    if found & _OTHERS and (stat.S_ISDIR(found) or stat.S_ISREG(found)):
        path.chmod(stat.S_IMODE(found) & ~_OTHERS)
