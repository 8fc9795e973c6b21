"""The editor's mode in which a gold is built a second time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuecard.annotate.authoring.session import Opened
from cuecard.annotate.second_gold.building import gold_key, keep_blank, open_blank
from cuecard.core.i18n import N_
from cuecard.tui.screens.second_gold.panes import second_pane
from cuecard.tui.screens.task.mode import TaskMode
from cuecard.tui.state.task_places import TabId, tab_of, tabs_of

if TYPE_CHECKING:
    from cuecard.annotate.authoring.trees import Path
    from cuecard.annotate.authoring.validity import Problem
    from cuecard.core.tasks import Origin
    from cuecard.store.workspace import Workspace
    from cuecard.tui.screens.task.pane import TaskPane

_NOT_HERE = ("persona", "stages", "columns", "sources", "history")


class SecondGoldMode(TaskMode):
    """What is edited is the blank of the task: nothing of the author's gold is ever read into the editor.
    `brief_changed`: whether it asks something else than when this person saw it last.
    """

    label = N_("second gold")
    asks_first = False  # the author's task is not touched

    def __init__(self) -> None:
        self.brief_changed = False

    def open(self, ws: Workspace, task_id: str, person: str) -> Opened:
        opened, self.brief_changed = open_blank(ws, task_id, person)
        return opened

    def keep(
        self,
        ws: Workspace,
        person: str,
        base: int,
        data: dict[str, Any],
        changed: bool,
        origins: Sequence[Origin],
    ) -> None:
        keep_blank(ws, str(data["id"]), person, base, data, changed)

    def leave(self, ws: Workspace, task_id: str, person: str) -> None:
        ws.drafts.leave(gold_key(task_id), person)

    def worked(self, ws: Workspace, task_id: str, person: str, seconds: float) -> None:
        ws.effort.add(gold_key(task_id), person, "time", seconds)

    def problems(self, found: Sequence[Problem]) -> Sequence[Problem]:
        return [problem for problem in found if problem.place.startswith("gold")]

    def tabs(self, data: Mapping[str, Any]) -> tuple[TabId, ...]:
        return tuple(tab for tab in tabs_of(data) if tab not in _NOT_HERE)

    def tab_of(self, path: Path, data: Mapping[str, Any]) -> TabId:
        tab = tab_of(path, data)
        return "table" if tab == "columns" else "brief" if tab in _NOT_HERE else tab

    def pane(self, tab: TabId) -> TaskPane:
        return second_pane(tab)
