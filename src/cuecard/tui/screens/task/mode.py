"""How the editor opens, keeps, checks and lays out what it edits; another mode edits something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuecard.annotate.authoring.session import Opened, keep_draft, open_task
from cuecard.annotate.second_gold.building import refuse_while_building
from cuecard.tui.screens.task.panes import make_pane
from cuecard.tui.state.task_places import TabId, tab_of, tabs_of

if TYPE_CHECKING:
    from cuecard.annotate.authoring.trees import Path
    from cuecard.annotate.authoring.validity import Problem
    from cuecard.core.tasks import Origin
    from cuecard.store.workspace import Workspace
    from cuecard.tui.screens.task.pane import TaskPane


class TaskMode:
    """A task as its author edits it. What takes a workspace runs off the screen's thread. `label`: what
    stands before the title.
    """

    label = ""
    asks_first = True  # before the first change of a task that was approved or is in review

    def open(self, ws: Workspace, task_id: str, person: str) -> Opened:
        """What is edited, as it stands. Raises `CuecardError`."""
        refuse_while_building(ws, task_id, person)
        return open_task(ws, task_id, person)

    def keep(
        self,
        ws: Workspace,
        person: str,
        base: int,
        data: dict[str, Any],
        changed: bool,
        origins: Sequence[Origin],
    ) -> None:
        """Write the draft."""
        keep_draft(ws, person, base, data, changed, origins)

    def leave(self, ws: Workspace, task_id: str, person: str) -> None:
        """The editor is left in good order."""
        ws.drafts.leave(task_id, person)

    def worked(self, ws: Workspace, task_id: str, person: str, seconds: float) -> None:
        """Enter time that was worked."""
        ws.effort.add(task_id, person, "time", seconds)

    def problems(self, found: Sequence[Problem]) -> Sequence[Problem]:
        """Those of the problems that concern who edits."""
        return found

    def tabs(self, data: Mapping[str, Any]) -> tuple[TabId, ...]:
        return tabs_of(data)

    def tab_of(self, path: Path, data: Mapping[str, Any]) -> TabId:
        return tab_of(path, data)

    def pane(self, tab: TabId) -> TaskPane:
        """A new pane for the tab, with the tab's id."""
        return make_pane(tab)
