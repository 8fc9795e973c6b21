"""What opens over an item being labelled (a searchable list, the dialogue), and the effect of each key on the session;
the form for drawing a labelling set from runs, with a preview of every stratum; and the one for labels in files.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field
from textual.app import ComposeResult
from textual.widgets import Input, Static

from cuecard.annotate.labelling.files.importing import LabelImport, import_labels
from cuecard.annotate.labelling.labelling_sets import make_set, population_of
from cuecard.annotate.labelling.sampling import (
    FROM_LABELS,
    OWN_CHANCES,
    Allocation,
    Population,
    SamplingPlan,
    StratumKey,
    plan_of,
)
from cuecard.annotate.labelling.session import LabelSession
from cuecard.annotate.labelling.views import BlindTranscript, LabelView, Pace, Revealed
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.errors import CuecardError, FileProblems
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.i18n import N_, _, headed, listed, ngettext, numbered
from cuecard.core.label_records import LabelValue, RunLabels
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.core.verdicts import ItemKind
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present import files as present
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.labelling import SearchableLines
from cuecard.tui.present.paths import path_of
from cuecard.tui.present.transcript import entries_of
from cuecard.tui.present.verdicts import KIND, STRATUM_LABEL, SampleSnapshot, worked_out
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.text import HeadLine
from cuecard.tui.widgets.transcript import Transcript


class DetailScreen(CuecardScreen[None]):
    """A searchable list of entries. Typing filters, arrows and pages scroll."""

    DEFAULT_CSS = """
    DetailScreen #title { height: 1; background: $panel; color: $muted; padding: 0 1; }
    DetailScreen Vertical { height: 1fr; padding: 0 1; }
    DetailScreen Input { margin: 0 0 1 0; }
    """
    AUTO_FOCUS = "Input"
    BINDINGS = keys(
        Key("look.leave", Means.UP_ONE, "dismiss", N_("Back"), N_("Back to the item")),
        Key("look.down", Means.DOWN, "walk('down')", N_("Down"), N_("One line down"), show=False, priority=True),
        Key("look.up", Means.UP, "walk('up')", N_("Up"), N_("One line up"), show=False, priority=True),
        Key("look.page_down", Means.PAGE_DOWN, "walk('page_down')", N_("Page"), N_("A page down"), priority=True),
        Key("look.page_up", Means.PAGE_UP, "walk('page_up')", N_("Page up"), N_("A page up"), show=False, priority=True),
    )  # fmt: skip

    def __init__(self, title: str, entries: Sequence[Entry]) -> None:
        super().__init__()
        self._title = title
        self._searched = SearchableLines(entries)

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="title", markup=False)
        with Vertical():
            yield Input(placeholder=_("type to search"), compact=True)
            found = EntryList(id="found")
            found.can_focus = False
            yield found
        yield KeyBar()

    def on_mount(self) -> None:
        self._search("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._search(event.value)

    def action_walk(self, way: str) -> None:
        found = self.query_one(EntryList)
        match way:
            case "down":
                found.scroll_relative(y=1, animate=False, immediate=True)
            case "up":
                found.scroll_relative(y=-1, animate=False, immediate=True)
            case "page_down":
                found.scroll_relative(y=found.size.height - 1, animate=False, immediate=True)
            case _:
                found.scroll_relative(y=1 - found.size.height, animate=False, immediate=True)

    def _search(self, typed: str) -> None:
        found = self._searched.found(typed)
        self.query_one(EntryList).load(found)
        self.query_one(EntryList).scroll_home(animate=False, immediate=True)
        count = _("{n} of {all}").format(n=len(found), all=len(self._searched))
        self.query_one("#title", Static).update(f"{self._title} · {count}")


AT_ONCE = 8
"""With more events than this, what was read is shown before the rest is."""


class BlindTranscriptScreen(CuecardScreen[None]):
    """Opens where the item came from. `whole` reads events with their large texts, in a thread."""

    DEFAULT_CSS = """
    BlindTranscriptScreen #title { height: 1; background: $panel; color: $muted; padding: 0 1; }
    """
    AUTO_FOCUS = "Transcript"
    BINDINGS = keys(
        Key("blind.leave", Means.UP_ONE, "dismiss", N_("Back"), N_("Back to the item")),
        Key("blind.place", Means.COMMAND, "place", N_("Its place"), N_("To where the item came from"), letter="p"),
    )  # fmt: skip

    def __init__(
        self,
        title: str,
        transcript: BlindTranscript,
        whole: Callable[..., Sequence[Event]],
    ) -> None:
        super().__init__()
        self._title, self._transcript, self._whole_of = title, transcript, whole
        self._whole: dict[int, Event] = {}

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="title", markup=False)
        yield Transcript(id="transcript")
        yield KeyBar()

    def on_mount(self) -> None:
        turn = self._transcript.turn
        place = (
            _("turn {n}").format(n=turn + 1) if turn >= 0 else _("named nowhere in the dialogue")
        )
        said = " · ".join((one_line(self._title, 90), place, _("without what was decided")))
        self.query_one("#title", Static).update(said)
        self._show()
        self.call_after_refresh(self.action_place)

    @guarded("whole", background=True)
    async def complete(self) -> None:
        """Read the large texts of what is opened, and only of that."""
        while missing := self.query_one(Transcript).left_out(AT_ONCE):
            found = await self.services.ask(lambda _ws, seqs=missing: self._whole_of(*seqs))
            self._whole |= {event.seq: event for event in found}
            # What cannot be read is not asked for again.
            self._whole |= {seq: self._event(seq) for seq in missing if seq not in self._whole}
            self._show()

    def on_entry_list_unfolded(self) -> None:
        self.complete()

    def action_place(self) -> None:
        transcript = self.query_one(Transcript)
        if self._transcript.turn >= 0:
            transcript.show_turn(self._transcript.turn)
        else:
            transcript.action_jump(-1)

    def _show(self) -> None:
        events = [self._whole.get(event.seq, event) for event in self._transcript.events]
        left_out = self._transcript.left_out - self._whole.keys()
        self.query_one(Transcript).load(entries_of(events, None, left_out))

    def _event(self, seq: int) -> Event:
        return next(event for event in self._transcript.events if event.seq == seq)


Work = Callable[[LabelSession], Revealed | None]
Detail = Literal["comment", "all", "gold", "transcript"]
"""What opens something above the item; it waits its turn like any other key."""


@dataclass(frozen=True)
class Step:
    """What the session looks like after a key was worked off."""

    view: LabelView | None
    revealed: Revealed | None
    position: int
    total: int
    labelled: int
    skipped: int
    pace: Pace


def step_of(session: LabelSession, work: Work) -> Step:
    """Handle a key."""
    session.touch()
    revealed = work(session)
    view = session.current
    if view is None:
        revealed = None
    elif revealed is None and view.revealed:
        # Who comes back to it sees again what they have seen.
        revealed = session.reveal()
    return Step(
        view=view,
        revealed=revealed,
        position=session.position,
        total=session.total,
        labelled=session.labelled,
        skipped=session.skipped if view is None else 0,
        pace=session.pace,
    )


def labelling(value: LabelValue | CheckpointStatus, *, reveal_after: bool) -> Work:
    """Label the item and go on, or stay and show the decision. On an item whose decision is shown, the same value again
    goes on, and another one changes the label.
    """

    def work(session: LabelSession) -> Revealed | None:
        view = session.current
        if view is None:
            return None
        again = view.revealed and view.mine is not None
        if not (again and view.mine is not None and view.mine.value is value):
            session.label(value)
        if reveal_after and not again:
            return session.reveal()
        session.next()
        return None

    return work


def commenting(text: str) -> Work:
    return lambda session: session.note(text.strip())


def flag(session: LabelSession) -> None:
    """Say that the gold is wrong, or take it back."""
    view = session.current
    if view is not None:
        flagged = view.mine.gold_wrong if view.mine else view.draft.gold_wrong
        session.note(gold_wrong=not flagged)


def reveal(session: LabelSession) -> Revealed | None:
    view = session.current
    return session.reveal() if view is not None and view.mine is not None else None


def go_on(session: LabelSession) -> None:
    session.next()


def back(session: LabelSession) -> None:
    session.back()


def nothing(session: LabelSession) -> None:
    """Look at the item as it stands."""


_BY = Row(options={"items": N_("items"), "trials": N_("whole trials")})
_ALLOCATION = Row(
    options={
        "proportional": N_("by its size"),
        "equal": N_("equally many"),
        "variance": N_("by overturns"),
        "disagreement": N_("judges differ"),
        "active": N_("likely wrong"),
    }
)
_SIGHT = Row(options={"": N_("told from the file"), "blind": N_("no"), "revealed": N_("yes")})
_WIDTH = Field(title=N_("or 95% interval"), description=N_("say 0.05"), gt=0, lt=1)
_HALF_WIDTH = Field(title=N_("May stop at ±"), description=N_("never"), gt=0, lt=1)


class SampleForm(Frozen):
    """`share` and `overlap` in percent. With `width`, the number of items follows from it."""

    runs: tuple[int, ...]
    by: Annotated[Literal["items", "trials"], Field(title=N_("Draw")), _BY] = "items"
    allocation: Annotated[Allocation, Field(title=N_("From each stratum")), _ALLOCATION] = (
        "proportional"
    )
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
    half_width: Annotated[float | None, _HALF_WIDTH] = None
    order: Annotated[bool, Field(title=N_("once order is told"))] = False
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
        read = {"judges", "language", "relation"}.intersection(self.strata)
        if self.allocation in OWN_CHANCES:
            read.add("judges")
        return self.runs, self.kinds, self.judge, read, self.allocation in FROM_LABELS


class SampleScreen(AnswerDialog[SampleForm, bool]):
    """Answers whether a set was drawn. `drawn`: how many sets there are, so that the next one has another seed."""

    DEFAULT_CSS = """
    SampleScreen {
        .dialog { height: 100%; max-height: 37; }
        FormPane, .column { height: 14; }
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
        first = (_("first of each"), "")
        shown = [first, *((one_line(name, 30), name) for name in judges)]
        names = listed(one_line(run.name, 40) for run in runs)
        super().__init__(
            _("A labelling set from: {runs}").format(runs=one_line(names, 200)),
            SampleForm(runs=tuple(run.run_id for run in runs), seed=drawn),
            button=_("Draw"),
            options={"judge": shown if len(judges) > 1 else ()},
        )
        self._by_default = ", ".join(run.name for run in runs[:3])
        self._known: tuple[tuple[object, ...], Population] | None = None

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
        person, units = self.person, self._units(model)
        taken = [each.name for each in await self.services.ask(lambda ws: ws.label_sets.all())]
        name = model.name or numbered(self._by_default, taken)
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

    def _units(self, model: SampleForm) -> Population:
        """What there is to draw from, read anew where that is something else."""
        known = self._known
        if known is None or known[0] != model.needs:
            units = population_of(self.services.workspace(), model.plan())
            known = self._known = (model.needs, units)
        return known[1]


class _LabelFiles(Frozen):
    path: Annotated[
        str,
        Field(title=N_("From"), description=N_("a file or a folder"), min_length=1),
        Row("path"),
    ] = ""
    run: Annotated[int, Field(title=N_("Trials of"))] = 0
    trial: Annotated[
        str, Field(title=N_("Trial of sheets"), description=N_("told from the file"))
    ] = ""
    person: Annotated[
        str, Field(title=N_("Whose labels"), description=N_("mine, where no file says it"))
    ] = ""
    phase: Annotated[
        Literal["", "blind", "revealed"], Field(title=N_("Judge in sight")), _SIGHT
    ] = ""


class LabelImportDialog(AnswerDialog[_LabelFiles, LabelImport]):
    """Shows what importing would do, or what is wrong in the files; then imports. `runs`: their names and ids."""

    DEFAULT_CLASSES = "-large"

    def __init__(self, runs: Sequence[tuple[str, int]]) -> None:
        super().__init__(
            _("Import labels"),
            _LabelFiles(),
            ask=_(
                "Sheets, CSV, JSON lines or Label Studio's export. What they would add is shown before it is saved."
            ),
            button=_("Import"),
            options={"run": [(_("all runs"), 0), *((one_line(name, 56), id) for name, id in runs)]},
        )

    async def summary(self, model: _LabelFiles) -> list[Entry] | str:
        """What would be imported."""
        try:
            found = await self._import(model, dry=True)
        except FileProblems as error:
            return present.entries_of_problems(error.problems, _("None of it is imported."))
        counts = _("labelled: {n}, blank: {blank}")
        files = [
            headed(one_line(file.path, 80), counts.format(n=file.labels, blank=file.blank))
            for file in found.files
        ]
        seen = not model.phase and any(file.shows_judge for file in found.files)
        told = _(
            "The judge's decision stands beside the labels: they count as given with it in sight."
        )
        return "\n".join([*files, found.summary, *([told] if seen else [])])

    async def answer(self, model: _LabelFiles) -> LabelImport | None:
        with suppress(FileProblems):  # The summary tells them.
            return await self._import(model, dry=False)

    async def _import(self, model: _LabelFiles, *, dry: bool) -> LabelImport:
        person = model.person or self.person
        return await self.services.ask(
            lambda ws: import_labels(
                ws,
                [path_of(model.path)],
                person=person,
                run_id=model.run or None,
                trial=model.trial,
                phase=model.phase or None,
                dry=dry,
            )
        )
