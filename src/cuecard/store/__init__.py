"""The database of a workspace: tables, migrations, and the `Workspace` through which everything is saved; and which
workspace to open: `--db`, `CUECARD_DB` or `./cuecard.db`. Light, because it runs before the first frame.
"""

import os
from pathlib import Path
from urllib.parse import quote

DEFAULT_FILE = "cuecard.db"
_SQLITE = "sqlite:///"


def workspace_url(option: str | None) -> str:
    """The URL of the workspace: the option (`--db`), else `CUECARD_DB`, else `./cuecard.db`.

    Both may be a URL or a path. Paths come back absolute, so that one file has one URL.
    """
    return as_url(option or os.environ.get("CUECARD_DB") or DEFAULT_FILE)


def is_file(url: str) -> bool:
    """Whether a workspace's URL is of an SQLite file, where nobody proves who they are."""
    return url.startswith("sqlite")


def as_url(url_or_path: str | Path) -> str:
    """A path as an SQLite URL; a URL as it is."""
    if isinstance(url_or_path, str) and "://" in url_or_path:
        return url_or_path
    path = Path(url_or_path).expanduser().absolute()
    return _SQLITE + quote(str(path), safe="/ ")
