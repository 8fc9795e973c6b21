"""The tab of stages: the list, the form of one stage, and the card that players will see."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.core.i18n import N_
from cuecard.core.tasks import Cue, CueKind, Stage
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.collection import Collection
from cuecard.tui.screens.task.forms import STAGES
from cuecard.tui.widgets.cue_card import CUE_KIND, CueCard


class StagesPane(Collection):
    """A wide terminal shows the card below the form, a narrow one instead of it, on demand."""

    BINDINGS = keys(
        Key("stages.card", "v", "card", N_("Card"), N_("Show the stage as its card or as a form")),
    )

    def __init__(self, *, id: str) -> None:
        super().__init__(STAGES, id=id)

    def compose_more(self) -> ComposeResult:
        yield CueCard()

    def show_item(self, edit: TaskEdit, index: int) -> None:
        stages = edit.items(self.spec.path)
        self.query_one(CueCard).load(_as_stage(stages[index]), index + 1, len(stages))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "card":
            return self.table.has_focus and self.index >= 0
        return super().check_action(action, parameters)

    def action_card(self) -> None:
        self.toggle_class("-card")


def _as_stage(data: dict[str, Any]) -> Stage:
    """A stage to look at, even while it is not complete."""
    cue = data["cue"]
    kind = CueKind(cue["kind"]) if cue["kind"] in CUE_KIND else CueKind.MENTIONS
    return Stage.model_construct(
        title=str(data["title"]),
        cue=Cue.model_construct(kind=kind, text=str(cue["text"]), terms=tuple(cue["terms"])),
        line=str(data["line"]),
        not_met=str(data["not_met"]),
    )
