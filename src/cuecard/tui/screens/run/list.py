"""The Runs screen: every run and play session of the workspace, newest first."""

import asyncio
import gc
import sys
from collections.abc import Hashable, Mapping, Sequence
from importlib import import_module
from typing import Any

from cuecard.annotate.task_feedback import disputed_runs
from cuecard.core.i18n import N_, _, listed, plural
from cuecard.core.records import RunRecord
from cuecard.core.text import one_line
from cuecard.store.tags import ARCHIVED, of_run
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.bulk import ask_tags, to_each
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import run_kind
from cuecard.tui.present.runs import DISPUTED, when
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.run.start import AboutRuns, begin_run, open_run
from cuecard.tui.widgets.nav import EmptyState


class RunsScreen(ListScreen[RunRecord], AboutRuns):
    """Lists runs; `n` starts one, Enter opens one."""

    PLACE = "runs"
    MARKING = True
    NEED_ROW = (
        *("open", "compare", "errors", "suspects", "plots", "report", "fidelity"),
        *("tags", "rename", "archive", "restore"),
    )
    BINDINGS = keys(
        Key("runs.open", Means.OPEN, "open", N_("Open"), N_("Open the run"), show=False),
        Key("runs.new", Means.ADD, "new", N_("New run"), N_("Play many tasks with one or more agents")),
        Key("runs.wizard", Means.COMMAND, "play_an_agent", N_("Play agent"), N_("Play the agent in a session that waits for a person"), show=False, letter="w"),
        Key("runs.compare", Means.COMPARE, "compare", N_("Compare"), N_("The agents of this run, or of the marked runs")),
        Key("runs.errors", Means.COMMAND, "errors", N_("Errors"), N_("What went wrong in this run, or in the marked ones"), letter="e"),
        Key("runs.plan", Means.COMMAND, "plan", N_("Plan"), N_("Which difference a study would see that has this run, or the marked ones, as its pilot"), show=False, letter="n"),
        Key("runs.suspects", Means.COMMAND, "suspects", N_("Suspect gold"), N_("Gold that these trials speak against, ranked; figures of every item"), show=False, letter="s"),
        Key("runs.plots", Means.COMMAND, "plots", N_("Plots"), N_("This run, or the marked ones, drawn"), show=False, letter="g"),
        Key("runs.report", Means.EXPORT, "report", N_("Report"), N_("A file on this run, or on the marked ones")),
        Key("runs.tags", Means.TAGS, "tags", N_("Tags"), N_("Tags of this run, or of the marked ones")),
        Key("runs.rename", Means.EDIT, "rename", N_("Name"), N_("Give this run another name"), show=False),
        Key("runs.archive", Means.DELETE, "archive", N_("Archive"), N_("Leave this run, or the marked ones, out of the list"), show=False),
        Key("runs.restore", Means.DELETE, "restore", N_("Restore"), N_("List this run, or the marked ones, again")),
        Key("runs.archived", Means.REVEAL, "archived", N_("Archived"), N_("Show what is archived, or what is not"), show=False),
        Key("runs.fidelity", Means.COMMAND, "fidelity", N_("Fidelity"), N_("The user part of this run held against people; re-play it"), letter="f"),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._disputed: dict[int, int] = {}
        self._tags: dict[str, tuple[str, ...]] = {}
        self._archived = self._retagged = False
        self._hidden = 0
        self._warm = False

    def columns(self) -> Sequence[Column[RunRecord]]:
        return (
            Column(DISPUTED, lambda run: GridCell(str(self._disputed.get(run.id, "")), "bad"), right=True, raw=True, quiet=True),
            Column(N_("Run"), lambda run: run.name, grow=3, least=12),
            Column(N_("Tags"), lambda run: listed(of_run(self._tags.get(run.uid, ()))), grow=1, quiet=True),
            Column(N_("Kind"), run_kind),
            Column(N_("State"), lambda run: run.shown.badge),
            Column(N_("Trials"), lambda run: f"{run.finished:,}/{run.trials:,}", right=True),
            Column(N_("By"), lambda run: run.created_by, grow=1, least=6),
            Column(N_("When"), lambda run: when(run.created_at), sort=lambda run: run.created_at),
        )  # fmt: skip

    def key(self, row: RunRecord) -> int:
        return row.id

    def empty(self) -> EmptyState:
        if self._archived:
            return EmptyState(_("No run is archived"), "", ("{REVEAL}", _("Back to the others")))
        if self._hidden:
            return EmptyState(_("All runs are archived"), "", ("{REVEAL}", _("Show them")))
        return EmptyState(
            _("No runs yet"),
            _(
                "A run plays tasks with agents, judges the outcome and scores it. A dialogue that"
                " you play yourself is listed here too."
            ),
            ("{ADD}", _("Start a run; the offline agent needs no model and no network")),
            ("2", hint(_("Tasks: {PLAY} plays one, with you as the user"))),
        )

    async def read(self) -> Sequence[RunRecord]:
        seen, before = self.services.live_runs.seen, self._tags
        runs, self._disputed, self._tags = await self.services.ask(
            lambda ws: (tuple(map(seen, ws.runs.all())), disputed_runs(ws), ws.tags.of("run"))
        )
        self._retagged = before != self._tags
        listed = [r for r in runs if (ARCHIVED in self._tags.get(r.uid, ())) is self._archived]
        self._hidden = len(runs) - len(listed)
        return listed

    def show(self, rows: Sequence[RunRecord], to: Hashable = None) -> None:
        if self._retagged and to is None:
            self.view.load(rows)
        super().show(rows, to)
        if rows and not self._warm:
            self._warm = True
            self.warm(rows[0].id)

    def note(self) -> str:
        legend = _("{mark} how many of its gold items were found wrong by adjudication")
        if not self.view.every:
            return ""
        told = [legend.format(mark=DISPUTED)] if self._disputed else []
        if self._archived:
            told.append(hint(_("These are archived; {REVEAL} goes back to the others.")))
        elif self._hidden:
            text = plural("{n} run is archived", "{n} runs are archived", self._hidden)
            told.append(hint(_("{what}; {REVEAL} shows what is."), what=text))
        return " · ".join(told)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("archive", "restore"):
            return self.row is not None and self._archived is (action == "restore")
        if action == "archived":
            return self._archived or self._hidden > 0
        return super().check_action(action, parameters)

    @guarded("tags")
    async def action_tags(self) -> None:
        if await ask_tags(self, "run", self._chosen(), lambda run: run.uid, lambda run: run.name):
            self.load()

    @guarded("tags")
    async def action_rename(self) -> None:
        run = self.row
        if run is None:
            return
        dialog = AskLine(_("Name of the run"), "", button=_("Save"), value=run.name)
        if name := await self.app.push_screen_wait(dialog):
            await to_each(
                self,
                [run],
                lambda run: run.name,
                lambda ws, run: ws.runs.rename(run.id, name),
                lambda _n: _("The run is called {name}.").format(name=one_line(name, 60)),
                lambda ws, run: ws.runs.rename(run.id, run.name),
            )
            self.load()

    def action_archive(self) -> None:
        self._set_archived(archived=True)

    def action_restore(self) -> None:
        self._set_archived(archived=False)

    @guarded("tags")
    async def _set_archived(self, *, archived: bool) -> None:
        person, there, gone = self.person, (ARCHIVED,), ()
        add, remove = (there, gone) if archived else (gone, there)
        await to_each(
            self,
            self._chosen(),
            lambda run: run.name,
            lambda ws, run: ws.tags.change("run", run.uid, person, add, remove),
            lambda n: (
                plural("{n} run was archived.", "{n} runs were archived.", n)
                if archived
                else plural("{n} run is listed again.", "{n} runs are listed again.", n)
            ),
            lambda ws, run: ws.tags.change("run", run.uid, person, remove, add),
        )
        self.load()

    def action_archived(self) -> None:
        self._archived = not self._archived
        self.load()

    def narrowed_by(self) -> Mapping[str, Any]:
        return {"archived": self._archived}

    def narrow(self, by: Mapping[str, Any]) -> None:
        if by.get("archived") is not self._archived:
            self.action_archived()

    @guarded("warm", background=True)
    async def warm(self, run_id: int) -> None:
        """Import and read what a run opens with while nothing else is done."""
        await asyncio.to_thread(_import_run_screen)
        from cuecard.tui.present.run_snapshot import warm_up

        await self.services.ask(lambda ws: warm_up(ws, run_id))

    @guarded("open")
    async def open_run(self, run: RunRecord) -> None:
        """A run opens with its trials, a play session with its one trial."""
        if run.kind == "play":
            trials = await self.services.ask(lambda ws: ws.runs.trials(run.id))
            if len(trials) == 1:
                from cuecard.tui.screens.trial.screen import TrialScreen

                self.app.push_screen(TrialScreen(trials[0].id))
                return
        open_run(self, run)

    @guarded("new")
    async def action_new(self) -> None:
        await begin_run(self)

    def action_open(self) -> None:
        if self.row:
            self.open_run(self.row)

    def action_play_an_agent(self) -> None:
        self.cue_app.play_an_agent()

    def named_runs(self) -> tuple[tuple[int, ...], str] | None:
        runs = self._chosen()
        names = " · ".join(one_line(run.name, 30 if len(runs) > 1 else 90) for run in runs)
        return (tuple(run.id for run in runs), names) if runs else None

    def _chosen(self) -> list[RunRecord]:
        """The marked runs, oldest first; without any, the one under the cursor."""
        return sorted(self.view.chosen, key=lambda run: run.id)


def _import_run_screen() -> None:
    screens = "cuecard.tui.screens"
    modules = ("numpy", f"{screens}.run.screen", f"{screens}.trial.screen")
    if all(module in sys.modules for module in modules):
        return
    for module in modules:
        import_module(module)
    # They stay: a collection while scores are read must not look at them.
    gc.freeze()
