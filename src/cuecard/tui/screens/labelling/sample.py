"""The dialog for drawing a labelling set from runs, with a preview of every stratum."""

import asyncio
from collections.abc import Sequence
from typing import cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Label, Select, Static
from textual.widgets.selection_list import Selection

from cuecard.annotate.labelling.labelling_sets import make_set, population_of
from cuecard.annotate.labelling.sampling import STRATUM_KEYS, SamplingPlan, Unit
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.label_records import RunLabels
from cuecard.core.text import one_line
from cuecard.core.verdicts import ItemKind
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.present.verdicts import KIND, STRATUM_LABEL, SampleForm, SampleSnapshot, worked_out
from cuecard.tui.widgets.lists import FittedColumn, ListTable, TickList

COLUMNS = (
    FittedColumn(N_("Stratum"), 10, grow=1),
    FittedColumn(N_("Has"), 8, right=True),
    FittedColumn(N_("Drawn"), 6, right=True),
)
# field -> (label, default, placeholder)
FIELDS: dict[str, tuple[str, str, str]] = {
    "n": (N_("How many"), "200", ""),
    "width": (N_("or 95% interval"), "", N_("such as 0.05")),
    "share": (N_("Expected to agree, %"), "90", ""),
    "alike": (N_("Alike in a task, 0-1"), "0.05", ""),
    "overlap": (N_("Labelled by several, %"), "20", ""),
    "raters": (N_("by how many people"), "2", ""),
    "people": (N_("Who"), "", N_("anybody")),
    "seed": (N_("Seed"), "0", ""),
    "name": (N_("Name"), "", N_("as its run")),
}
CHOICES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "by": (N_("Draw"), (("items", N_("items")), ("trials", N_("whole trials")))),
    "allocation": (
        N_("From each stratum"),
        (("proportional", N_("by its size")), ("equal", N_("equally many"))),
    ),
}
PAUSE = 0.15
"""Seconds without a key before the preview is worked out."""


class SampleScreen(CuecardScreen[bool]):
    """Answers whether a set was drawn."""

    CSS_PATH = "sample.tcss"
    BINDINGS = keys(
        Key("sample.draw", "ctrl+s", "draw", N_("Draw"), N_("Draw this set and keep it"), shown_as="^s", priority=True),
        Key("sample.leave", "escape", "dismiss(False)", N_("Cancel"), N_("Back without drawing")),
    )  # fmt: skip

    def __init__(self, runs: Sequence[RunLabels], drawn: int = 0) -> None:
        """`drawn`: how many sets there are, so that the next one has another seed."""
        super().__init__()
        self._runs = tuple(runs)
        self._seed = drawn
        self._known: tuple[tuple[object, ...], Sequence[Unit]] | None = None
        self._snapshot: SampleSnapshot | None = None

    def compose(self) -> ComposeResult:
        yield Static(self._title(), id="heading", markup=False)
        with Horizontal(id="body"):
            with VerticalScroll(id="form", can_focus=False):
                for field, (label, options) in CHOICES.items():
                    with Horizontal(classes="field"):
                        yield Label(_(label))
                        yield self._choice(field, [(value, _(text)) for value, text in options])
                if len(judges := self._judges()) > 1:
                    with Horizontal(classes="field"):
                        yield Label(_("Whose verdicts"))
                        first = ("", _("each trial's first"))
                        yield self._choice("judge", [first, *((name, name) for name in judges)])
                for field, (label, default, placeholder) in FIELDS.items():
                    with Horizontal(classes="field"):
                        yield Label(_(label))
                        value = str(self._seed) if field == "seed" else default
                        hint = _(placeholder) if placeholder else ""
                        yield Input(value, placeholder=hint, id=field, compact=True)
                kinds = TickList[str](
                    *(Selection(Text(_(KIND[k])), k.value, k in JUDGED) for k in ItemKind),
                    id="kinds",
                )
                kinds.border_title = _("What is labelled")
                yield kinds
            with Vertical(id="right"):
                strata = TickList[str](
                    *(
                        Selection(Text(_(STRATUM_LABEL[key])), key, key == "decision")
                        for key in STRATUM_KEYS
                    ),
                    id="strata",
                )
                strata.border_title = _("Spread over")
                yield strata
                yield ListTable(COLUMNS, id="preview")
                yield Static("", id="said", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#n", Input).focus()
        self.work_out()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.id != "name":
            self.work_out()

    def on_select_changed(self, event: Select.Changed) -> None:
        event.stop()
        self.work_out()

    def on_selection_list_selected_changed(self) -> None:
        self.work_out()

    @guarded("preview", background=True)
    async def work_out(self) -> None:
        """Show what the form would draw, or what is wrong with it."""
        await asyncio.sleep(PAUSE)
        self._snapshot = None
        form, known, found = self._form(), self._known, dict[str, Sequence[Unit]]()
        if known is None or known[0] != form.needs:
            self._say((_("Looking at what there is to draw from …"),), wrong=False)

        def read() -> SampleSnapshot:
            return worked_out(form, population)

        def population(plan: SamplingPlan) -> Sequence[Unit]:
            if known is not None and known[0] == form.needs:
                found["units"] = known[1]
            else:
                found["units"] = population_of(self.services.workspace(), plan)
            return found["units"]

        try:
            shown = await asyncio.to_thread(read)
        except CuecardError as error:
            self._say((error.message,), wrong=True)
            return
        self._known = (form.needs, found["units"])
        self._snapshot = shown
        self.query_one("#preview", ListTable).fill(shown.rows)
        if form.width.strip():
            with self.prevent(Input.Changed):
                self.query_one("#n", Input).value = str(shown.plan.n)
        self._say(shown.said, wrong=not shown.preview.items)

    def _say(self, lines: Sequence[str], *, wrong: bool) -> None:
        said = self.query_one("#said", Static)
        said.set_class(wrong, "-wrong")
        said.update("\n".join(lines))

    @guarded("draw")
    async def action_draw(self) -> None:
        await self.work_out().wait()
        snapshot = self._snapshot
        if snapshot is None or not snapshot.preview.items or self._known is None:
            self.notify(_("There is nothing to draw like that."), severity="warning", markup=False)
            return
        person, name, units = self.person, self.query_one("#name", Input).value, self._known[1]
        made = await self.services.ask(
            lambda ws: make_set(
                ws, snapshot.plan, name=name or self._default_name(), by=person, units=units
            )
        )
        self.cue_app.tell(
            ngettext(
                "{n:,} item waits in “{name}”.", "{n:,} items wait in “{name}”.", made.items
            ).format(n=made.items, name=one_line(made.name, 60))
        )
        self.dismiss(True)

    def _default_name(self) -> str:
        return ", ".join(run.name for run in self._runs[:3])

    def _title(self) -> str:
        names = ", ".join(one_line(run.name, 40) for run in self._runs)
        return _("A labelling set from: {runs}").format(runs=one_line(names, 200))

    def _judges(self) -> list[str]:
        return sorted({judge for run in self._runs for judge in run.judges})

    def _choice(self, field: str, options: Sequence[tuple[str, str]]) -> Select[str]:
        shown = [(Text(one_line(text, 30)), value) for value, text in options]
        return Select[str](shown, allow_blank=False, id=field, compact=True)

    def _form(self) -> SampleForm:
        texts = {field: self.query_one(f"#{field}", Input).value for field in FIELDS}
        texts.pop("name")
        chosen = {field: self._chosen(field) for field in (*CHOICES, "judge")}
        kinds = set(self._selected("kinds"))
        strata = set(self._selected("strata"))
        return SampleForm(
            runs=tuple(run.run_id for run in self._runs),
            kinds=tuple(kind for kind in ItemKind if kind.value in kinds),
            strata=tuple(key for key in STRATUM_KEYS if key in strata),
            **texts,
            **chosen,
        )

    def _chosen(self, field: str) -> str:
        if field == "judge" and len(self._judges()) < 2:
            return ""
        return str(cast("Select[str]", self.query_one(f"#{field}", Select)).value)

    def _selected(self, name: str) -> list[str]:
        return cast("TickList[str]", self.query_one(f"#{name}", TickList)).selected
