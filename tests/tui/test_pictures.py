"""Every screen and dialog has a scene of which `make pictures` takes pictures."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

from textual.screen import Screen

import cuecard.tui
from picture_scenes import WALKS

ABSTRACT = {
    "CuecardScreen": "every screen",
    "CuecardDialog": "every dialog",
    "FiguresScreen": "screens of tables of figures",
    "DraftingScreen": "the editor, whatever it edits",
    "OpenReview": "a part of ReviewTaskScreen",
    "RunActions": "a part of RunScreen",
    "TurnDialog": "MarkDialog and ReadingDialog",
    **dict.fromkeys(
        ("Playing", "Finishing", "Wording", "Marking", "Speaking", "Turning"), "parts of PlayScreen"
    ),
    "Looking": "a part of PlayScreen, and one of WizardOfOzScreen",
    **dict.fromkeys(("Reading", "Jumping", "StepMode", "Noting"), "parts of TrialScreen"),
}
"""Classes that are never shown as they are, and what they are for."""


def test_every_screen_has_a_scene() -> None:
    def below(base: type[Screen[Any]]) -> Iterator[type[Screen[Any]]]:
        for sub in base.__subclasses__():
            yield sub
            yield from below(sub)

    for module in pkgutil.walk_packages(cuecard.tui.__path__, "cuecard.tui."):
        importlib.import_module(module.name)
    ours = {found for found in below(Screen) if found.__module__.startswith("cuecard.tui.")}
    abstract = {found for found in ours if found.__name__ in ABSTRACT}
    assert {found.__name__ for found in abstract} == set(ABSTRACT)
    shown = {scene.shows for walk in WALKS for scene in walk.scenes}
    assert {f"{found.__module__}.{found.__name__}" for found in ours - abstract - shown} == set()


def test_scenes_have_names_of_their_own() -> None:
    names = [scene.name for walk in WALKS for scene in walk.scenes]
    assert len(names) == len(set(names))
