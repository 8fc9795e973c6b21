"""The real app on a real workspace in a temporary folder, with an empty home."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuecard.core.i18n import set_language
from cuecard.tui.app import CuecardApp
from cuecard.tui.prefs import Preferences
from cuecard.tui.services import Services

AppMaker = Callable[..., CuecardApp]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home and working folder, and English; put back afterwards."""
    before, folder = dict(os.environ), Path.cwd()
    place = tmp_path / "home"
    place.mkdir()
    os.environ |= {"HOME": str(place), "XDG_CONFIG_HOME": str(place / ".config")}
    for name in ("CUECARD_DB", "CUECARD_USER", "CUECARD_LANG"):
        os.environ.pop(name, None)
    os.chdir(place)
    set_language("en")
    yield place
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(before)
    set_language("en")


@pytest.fixture
def database(home: Path) -> Path:
    """A workspace with the people Ana, Ben and Chen, and the sample tasks saved by Ana."""
    from cuecard.lab.samples import import_samples
    from cuecard.store.workspace import Workspace

    path = home / "cuecard.db"
    with Workspace.open(path) as workspace:
        for name in ("Ana", "Ben", "Chen"):
            workspace.people.add(name)
        import_samples(workspace, by="Ana")
    return path


@pytest.fixture
def make_app(home: Path) -> AppMaker:
    """Make an app on a workspace file; several may be made one after the other."""

    def make(path: Path, person: str = "Ana", **preferences: str) -> CuecardApp:
        return CuecardApp(Services(f"sqlite:///{path}"), person, Preferences(**preferences))

    return make


@pytest.fixture
def app_with_samples(database: Path, make_app: AppMaker) -> CuecardApp:
    """The app as Ana sees it after a first start."""
    return make_app(database)


@pytest.fixture
def empty_app(home: Path, make_app: AppMaker) -> CuecardApp:
    """The app on a new workspace, before anybody gave a name."""
    return make_app(home / "new.db", person="")
