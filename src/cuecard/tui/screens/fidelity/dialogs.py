"""Dialogs of the fidelity screens: simulators and runs, sample size for a correlation, and a file's path."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from cuecard.annotate.fidelity.inputs import Scope
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.kit.forms import AnswerDialog, FormDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.fidelity import Sizes, sizes_lines


def scope_dialog(
    scope: Scope, simulators: Sequence[str], people: Sequence[str], runs: Sequence[tuple[int, str]]
) -> FormDialog[Scope]:
    """Simulators and people by name, runs by number and name; nothing ticked means all."""
    return FormDialog(
        _("What the report is about"),
        scope,
        ask=_("Space ticks; nothing ticked in a list means all of it."),
        button=_("Show"),
        options={
            "simulators": [(one_line(name, 56), name) for name in simulators],
            "people": [(one_line(name, 56), name) for name in people],
            "runs": [(one_line(name, 56), id) for id, name in runs],
        },
    )


class SizesDialog(FormDialog[Sizes]):
    """How many sessions it takes; typed numbers count at once. `sessions` and `effect` as in `sizes_lines`."""

    def __init__(self, sessions: int, effect: float | None) -> None:
        super().__init__(_("How many sessions does it take?"), Sizes(), button=_("Close"))
        self._sessions, self._effect = sessions, effect

    async def summary(self, model: Sizes) -> str:
        return "\n".join(sizes_lines(model, self._sessions, self._effect))


class _File(Frozen):
    path: Annotated[str, Field(title="", min_length=1), Row("path")]


class PathDialog(AnswerDialog[_File, str]):
    """Where to write a file; dismissed with the path."""

    def __init__(self, title: str, text: str, path: str) -> None:
        file = _File(path=path)
        super().__init__(title, file, ask=text, button=_("Write"), tips={"path": _("a file")})

    async def answer(self, model: _File) -> str:
        return model.path
