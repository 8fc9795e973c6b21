"""The form for drawing a labelling set from runs, with a preview of every stratum."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from cuecard.annotate.labelling.labelling_sets import make_set, population_of
from cuecard.annotate.labelling.sampling import SamplingPlan, StratumKey, Unit, plan_of
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.label_records import RunLabels
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.core.verdicts import ItemKind
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.verdicts import KIND, STRATUM_LABEL, SampleSnapshot, worked_out

_BY = Row(options={"items": N_("items"), "trials": N_("whole trials")})
_ALLOCATION = Row(options={"proportional": N_("by its size"), "equal": N_("equally many")})
_WIDTH = Field(title=N_("or 95% interval"), description=N_("such as 0.05"), gt=0, lt=1)


class SampleForm(Frozen):
    """`share` and `overlap` in percent. With `width`, the number of items follows from it."""

    runs: tuple[int, ...]
    by: Annotated[Literal["items", "trials"], Field(title=N_("Draw")), _BY] = "items"
    allocation: Annotated[
        Literal["proportional", "equal"], Field(title=N_("From each stratum")), _ALLOCATION
    ] = "proportional"
    judge: Annotated[str, Field(title=N_("Whose verdicts"))] = ""
    n: Annotated[int, Field(title=N_("How many"), ge=1, lt=10**9)] = 200
    width: Annotated[float | None, _WIDTH] = None
    share: Annotated[float, Field(title=N_("Expected to agree, %"), ge=0, le=100)] = 90
    alike: Annotated[float, Field(title=N_("Alike in a task, 0-1"), ge=0, le=1)] = 0.05
    overlap: Annotated[float, Field(title=N_("Labelled by several, %"), ge=0, le=100)] = 20
    raters: Annotated[int, Field(title=N_("by how many people"), ge=2, le=20)] = 2
    people: Annotated[str, Field(title=N_("Who"), description=N_("anybody"))] = ""
    seed: Annotated[int, Field(title=N_("Seed"), ge=0, lt=10**9)] = 0
    name: Annotated[str, Field(title=N_("Name"), description=N_("as its run"))] = ""
    kinds: Annotated[
        tuple[ItemKind, ...], Field(title=N_("What is labelled")), Row(options=KIND, column=1)
    ] = JUDGED
    strata: Annotated[
        tuple[StratumKey, ...], Field(title=N_("Spread over")), Row(options=STRATUM_LABEL, column=1)
    ] = ("decision",)

    def plan(self) -> SamplingPlan:
        """The plan, with `n` as typed. Raises `CuecardError`."""
        fields = self.model_dump(exclude={"width", "share", "alike", "name"})
        return plan_of({**fields, "overlap": self.overlap / 100, "people": self.people.split(",")})

    @property
    def needs(self) -> tuple[object, ...]:
        """What the population depends on."""
        return self.runs, self.kinds, self.judge


class SampleScreen(AnswerDialog[SampleForm, bool]):
    """Answers whether a set was drawn. `drawn`: how many sets there are, so that the next one has another seed."""

    DEFAULT_CSS = """
    SampleScreen {
        .dialog { height: 100%; max-height: 36; }
        FormPane, .column { height: 13; }
        .-column-0 { margin-right: 2; }
        .-column-1 { width: 36%; }
        FormRow.-choices, TickList { height: 1fr; max-height: 100%; margin: 0; }
        #summary, #found { margin: 0; }
    }
    """
    DEFAULT_CLASSES = "-large"
    BEGINS_AT = "n"

    def __init__(self, runs: Sequence[RunLabels], drawn: int = 0) -> None:
        judges = sorted({judge for run in runs for judge in run.judges})
        first = ("", _("each trial's first"))
        shown = [first, *((one_line(name, 30), name) for name in judges)]
        names = ", ".join(one_line(run.name, 40) for run in runs)
        super().__init__(
            _("A labelling set from: {runs}").format(runs=one_line(names, 200)),
            SampleForm(runs=tuple(run.run_id for run in runs), seed=drawn),
            button=_("Draw"),
            options={"judge": shown if len(judges) > 1 else ()},
        )
        self._by_default = ", ".join(run.name for run in runs[:3])
        self._known: tuple[tuple[object, ...], Sequence[Unit]] | None = None

    def problem(self, model: SampleForm) -> str:
        try:
            model.plan()
        except CuecardError as error:
            return error.message
        return ""

    async def summary(self, model: SampleForm) -> list[Entry]:
        """What would be drawn."""
        if self._known is None or self._known[0] != model.needs:
            self.say(_("Looking at what there is to draw from …"))
        found = await asyncio.to_thread(self._work_out, model)
        if model.width is not None:
            self.pane.show(n=found.plan.n)
        return found.entries

    async def answer(self, model: SampleForm) -> bool | None:
        found = await asyncio.to_thread(self._work_out, model)
        if not found.preview.items:
            self.notify(_("There is nothing to draw like that."), severity="warning", markup=False)
            return None
        person, name, units = self.person, model.name or self._by_default, self._units(model)
        made = await self.services.ask(
            lambda ws: make_set(ws, found.plan, name=name, by=person, units=units)
        )
        told = ngettext(
            "{n:,} item waits in “{name}”.", "{n:,} items wait in “{name}”.", made.items
        )
        self.cue_app.tell(told.format(n=made.items, name=one_line(made.name, 60)))
        return True

    def _work_out(self, model: SampleForm) -> SampleSnapshot:
        return worked_out(
            model.plan(), self._units(model), model.width, model.share / 100, model.alike
        )

    def _units(self, model: SampleForm) -> Sequence[Unit]:
        """What there is to draw from, read anew where that is something else."""
        known = self._known
        if known is None or known[0] != model.needs:
            units = population_of(self.services.workspace(), model.plan())
            known = self._known = (model.needs, units)
        return known[1]
