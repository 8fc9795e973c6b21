"""The real app on a real workspace in a temporary folder, with an empty home."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet

from apart import fresh
from cuecard.core.i18n import set_language
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.preferences import Preferences
from cuecard.tui.services import Services
from steady_app import BareApp

AppMaker = Callable[..., CuecardApp]
SUBMITTED = (
    "checkpoints-highest-mountain",
    "espresso",
    "facts-night-train",
    "table-us-states",
)


@pytest.fixture(scope="session", autouse=True)
def styles_parsed_once() -> Iterator[None]:
    """Every app parses the same style sheets; here it is done once for all apps of one theme."""
    parse = Stylesheet._parse_rules
    themes: dict[frozenset[tuple[str, str]], dict[tuple[Any, ...], Any]] = {}

    def remembered(sheet: Any, *args: Any, **named: Any) -> Any:
        variables, rules = getattr(sheet, "_remembered", (None, {}))
        if variables is not sheet._variables:
            variables = sheet._variables
            rules = themes.setdefault(frozenset(variables.items()), {})
            sheet._remembered = (variables, rules)
        key = (args, *named.items())
        if key not in rules:
            rules[key] = parse(sheet, *args, **named)
        return rules[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", remembered)
        yield


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


@pytest.fixture(scope="session")
def database_once(made_once: Callable[..., Path]) -> Path:
    """A workspace with the people Ana, Ben and Chen, and the sample tasks saved by Ana."""

    def make(path: Path) -> None:
        with _with_samples(path):
            pass

    return made_once("with-samples", make)


@contextmanager
def _with_samples(path: Path) -> Generator[Workspace]:
    from cuecard.annotate.samples import import_samples

    with fresh(path) as workspace:
        for name in ("Ana", "Ben", "Chen"):
            workspace.people.add(name)
        import_samples(workspace, by="Ana")
        yield workspace


@pytest.fixture
def database(home: Path, database_once: Path) -> Path:
    """A copy of that workspace."""
    return Path(shutil.copy(database_once, home / "cuecard.db"))


@pytest.fixture(scope="session")
def judged_once(made_once: Callable[..., Path]) -> Path:
    """A workspace as `database`, in which Ana submitted four tasks and two were played and judged."""
    from cuecard.annotate.review.workflow import submit
    from cuecard.core.evaluation.plans import RunPlan
    from cuecard.core.evaluation.runs import start_run

    def make(path: Path) -> None:
        with _with_samples(path) as workspace:
            for task_id in SUBMITTED:
                submit(workspace, task_id, "Ana")
            plan = RunPlan(tasks=("espresso", "facts-night-train"), name="first run")
            asyncio.run(start_run(workspace, plan, by="Ana"))

    return made_once("judged", make)


@pytest.fixture
def judged(home: Path, judged_once: Path) -> Path:
    """A copy of that workspace."""
    return Path(shutil.copy(judged_once, home / "cuecard.db"))


@pytest.fixture
def kind_of_app() -> type[CuecardApp]:
    """What `make_app` makes. Modules whose tests begin at Home have a fixture of the same name for `SteadyApp`."""
    return BareApp


@pytest.fixture
def make_app(home: Path, kind_of_app: type[CuecardApp]) -> AppMaker:
    """Make an app on a workspace file; several may be made one after the other."""

    def make(path: Path, person: str = "Ana", **preferences: str) -> CuecardApp:
        return kind_of_app(Services(f"sqlite:///{path}"), person, Preferences(**preferences))

    return make


@pytest.fixture
def app_with_samples(database: Path, make_app: AppMaker) -> CuecardApp:
    """The app as Ana sees it after a first start."""
    return make_app(database)


@pytest.fixture
def empty_app(home: Path, make_app: AppMaker) -> CuecardApp:
    """The app on a new workspace, before anybody gave a name."""
    return make_app(home / "new.db", person="")
