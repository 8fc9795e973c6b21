"""Where pictures are taken: every screen and dialog of the app over the seeded workspace, and how to get there."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from textual.screen import Screen
from textual.widgets import Input

from cuecard.annotate.assist.drafting import Drafting
from cuecard.annotate.assist.persona import PersonaInputs
from cuecard.annotate.assist.proposals import Pending, Proposal, ProposedItem
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.merge import Merging
from cuecard.annotate.authoring.yaml_text import ReadBack, from_yaml, to_yaml
from cuecard.annotate.independent_gold.building import hand_in, open_blank
from cuecard.core.config import EMBEDDED
from cuecard.core.errors import DatabaseAway
from cuecard.core.evaluation.exam import plan_exam, run_exam
from cuecard.core.evaluation.wizard_of_oz import waiting_trials
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.llm.hub import ModelHub
from cuecard.core.users.faults import Fault, FaultKind
from cuecard.store.workspace import Workspace
from cuecard.tui.actions import Palette
from cuecard.tui.kit.bulk import Refused, RefusedDialog
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.present.changes import MergeView
from cuecard.tui.screens.agreement import AgreementItemsScreen, AgreementScreen
from cuecard.tui.screens.board import BoardFiguresScreen, BoardScreen, PeopleScreen, RoundsScreen
from cuecard.tui.screens.compare import CompareScreen
from cuecard.tui.screens.dialogs import (
    AskLine,
    ChoiceDialog,
    ConfirmDialog,
    HelpDialog,
    LongTextDialog,
    TextDialog,
)
from cuecard.tui.screens.errors import ErrorsScreen, TrialListScreen
from cuecard.tui.screens.exam import ExamDialog, ExamScreen, InputsScreen, MissesScreen
from cuecard.tui.screens.fidelity import FidelityScreen, ScatterScreen, SizesDialog
from cuecard.tui.screens.fidelity_replay import ReplayScreen
from cuecard.tui.screens.fidelity_replay_choice import ReplayChoiceScreen
from cuecard.tui.screens.fidelity_turns import FidelityTurnScreen, FidelityTurnsScreen
from cuecard.tui.screens.figures import PathDialog
from cuecard.tui.screens.home import HomeScreen
from cuecard.tui.screens.independent_gold import CompareGoldScreen
from cuecard.tui.screens.independent_gold_build import BuildGoldScreen
from cuecard.tui.screens.labelling.adjudicate import AdjudicateScreen
from cuecard.tui.screens.labelling.dialogs import (
    BlindTranscriptScreen,
    DetailScreen,
    LabelImportDialog,
    SampleScreen,
)
from cuecard.tui.screens.labelling.screen import LabelScreen
from cuecard.tui.screens.labelling.verdicts import VerdictListScreen, VerdictsScreen
from cuecard.tui.screens.marked_tasks import AssignDialog
from cuecard.tui.screens.own_keys import OwnKeysScreen, RecordDialog
from cuecard.tui.screens.planning import PlanScreen
from cuecard.tui.screens.play.dialogs import (
    EvidenceDialog,
    FaultsDialog,
    MarkDialog,
    MeaningDialog,
    ReadingDialog,
    RetryDialog,
    StopDialog,
)
from cuecard.tui.screens.play.form import SessionFormScreen
from cuecard.tui.screens.play.phrases import AnswersDialog, PhraseDialog
from cuecard.tui.screens.play.screen import PlayScreen, StartDialog
from cuecard.tui.screens.play.sources import NoteDialog, SourceScreen, SourcesDialog
from cuecard.tui.screens.plots import PlotsScreen
from cuecard.tui.screens.quality import QcScreen, VerdictDialog
from cuecard.tui.screens.review import ReviewTaskScreen
from cuecard.tui.screens.review_dialogs import (
    CommentDialog,
    SubmitDialog,
    ThreadsScreen,
    source_dialog,
)
from cuecard.tui.screens.review_queue import ReviewQueueScreen
from cuecard.tui.screens.run.list import RunsScreen
from cuecard.tui.screens.run.screen import RunScreen
from cuecard.tui.screens.run.start import RunStartDialog
from cuecard.tui.screens.run.trials import RunWorkersScreen
from cuecard.tui.screens.search import SearchDialog
from cuecard.tui.screens.settings import ServedModelsScreen, SettingsScreen, WelcomeDialog
from cuecard.tui.screens.suspects import ItemsScreen, SuspectsScreen
from cuecard.tui.screens.task.assist import AssistDialog, NoModelDialog, WorkingDialog
from cuecard.tui.screens.task.graph_dialogs import AskName, AskSources
from cuecard.tui.screens.task.graph_dialogs import PastePreview as TriplesPastePreview
from cuecard.tui.screens.task.outside import leftover_text_dialog, untaken_dialog
from cuecard.tui.screens.task.pasting import PastePreview
from cuecard.tui.screens.task.proposal import ProposalScreen, RawDialog
from cuecard.tui.screens.task.replacing import ReplaceDialog
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.task.stages import SplitDialog
from cuecard.tui.screens.task.versions import MergeScreen, VersionDialog
from cuecard.tui.screens.tasks import TasksScreen
from cuecard.tui.screens.tasks_listing import NewTaskDialog
from cuecard.tui.screens.tasks_transfer import BundleDialog, ExportDialog, ImportDialog, MergeDialog
from cuecard.tui.screens.trial.actions import TellDialog
from cuecard.tui.screens.trial.calls import CallsScreen
from cuecard.tui.screens.trial.marked import TrialExportDialog
from cuecard.tui.screens.trial.pair import PairScreen
from cuecard.tui.screens.trial.screen import ListedTrialScreen, TrialScreen
from cuecard.tui.screens.wizard_of_oz import ActDialog, BriefDialog, WaitingDialog, WizardOfOzScreen
from picture_camera import (
    PATIENCE,
    SHORT,
    Camera,
    Scene,
    Step,
    Walk,
    back,
    go,
    keys,
    push,
    typed,
    walk,
)
from seeded_workspace import TODAY

MODEL = """\
models:
  drafter: {base_url: "http://127.0.0.1:9/v1", model: tiny, retries: 0}
agents:
  live: {kind: react, model: drafter}
"""


def run(workspace: Workspace, name: str) -> int:
    return next(run.id for run in workspace.runs.all() if run.name == name)


def trial(workspace: Workspace, name: str, task: str, at: int = 0) -> int:
    """A trial of a run of this name."""
    trials = workspace.runs.trials(run(workspace, name))
    return [trial.id for trial in trials if trial.task_id == task][at]


def session(workspace: Workspace, task: str) -> int:
    """The trial of a person's session."""
    for record in workspace.runs.all(kind="play"):
        for one in workspace.runs.trials(record.id):
            if one.task_id == task:
                return one.id
    raise LookupError(task)


def worked_on(workspace: Workspace) -> int:
    """A run that two workers share, which took over a trial of a third."""
    from sqlalchemy import make_url

    from cuecard.core.evaluation.plans import RunPlan, create_run
    from cuecard.store.engine import Database
    from cuecard.store.trial_tables import ClaimRow, TakeRow, WorkerRow

    number = create_run(workspace, RunPlan(tasks=("espresso",), samples=6), by="Ann").id
    trials = [trial.id for trial in workspace.runs.trials(number)]
    now = datetime.now(UTC)
    database = Database(make_url(workspace.url))
    with database.write() as session:
        for worker, host, gone in (("a", "node-1", 1), ("b", "node-2", 2), ("c", "node-3", 95)):
            row = WorkerRow(
                id=worker,
                host=host,
                machine=host,
                pid=4100 + gone,
                started="1",
                person="Ben",
                since=now - timedelta(minutes=20),
                beat_at=now - timedelta(seconds=gone),
                concurrency=100,
                players="",
                calls=40 + gone,
                note='3: agents/live: memory is "local" here and "none" in the run'
                if worker == "b"
                else "",
            )
            session.add(row)
        session.flush()
        for trial, worker in zip(trials, ("a", "b", *[None] * 4), strict=True):
            session.add(
                ClaimRow(
                    trial_id=trial,
                    run_id=number,
                    purpose="play",
                    fence=2 if trial == trials[0] else 1,
                    worker=worker,
                    taken=now if worker else None,
                    done=trial == trials[2],
                )
            )
        session.add(TakeRow(trial_id=trials[0], fence=1, worker="c", at=now, why="first"))
        session.add(
            TakeRow(trial_id=trials[0], fence=2, worker="a", at=now, why="lost", before="c")
        )
        session.add(TakeRow(trial_id=trials[1], fence=1, worker="b", at=now, why="first"))
    database.close()
    return number


def over(make: Callable[[int, str], Screen[Any]], name: str = "main") -> Step:
    """A screen over a run."""
    return push(lambda ws: make(run(ws, name), name))


def task(task_id: str, place: str = "", *, editing: bool = False) -> Step:
    """The editor, with its tab at a place."""

    async def step(camera: Camera) -> None:
        screen = TaskScreen(task_id, place=place, editing=editing)
        await camera.push(screen)
        await camera.until(lambda: screen.loaded and screen.editor.pane is not None)

    return step


def tab(name: str) -> Step:
    async def step(camera: Camera) -> None:
        await camera.screen.editor.enter(name)
        await camera.rest()

    return step


async def lost(camera: Camera) -> None:
    """The file of the workspace is gone, and that was noticed so long ago that it is seldom tried again."""
    camera.goes_on |= {"_until_back", "LiveScreen.look"}
    os.rename("cuecard.db", "elsewhere.db")
    with suppress(DatabaseAway):
        await asyncio.to_thread(camera.app.services.workspace().version)
    await camera.until(lambda: camera.app.outage.error)
    while ":15:15" not in camera.app.outage.words:
        await camera.press("f12")


def read_trial(name: str, task_id: str) -> Step:
    return push(lambda ws: TrialScreen(trial(ws, name, task_id)))


def play(task_id: str, agent: str | None = None) -> Step:
    """At the beginning of a session."""

    async def step(camera: Camera) -> None:
        screen = PlayScreen(task_id, agent=agent)
        await camera.push(screen)
        await camera.until(lambda: screen.play is not None)

    return step


async def said(camera: Camera) -> None:
    """Send what the card says, and wait for the agent."""
    screen = camera.screen
    turns = len(screen.play.dialogue.of("agent"))
    await camera.pilot.press("enter")
    await camera.until(
        lambda: screen.play.phase == "yours" and len(screen.play.dialogue.of("agent")) > turns
    )


async def wizard_plays(camera: Camera) -> None:
    """Ann has said her opening, and Fay, who does not know the task, takes the agent's part."""
    await camera.pilot.press("enter")
    await camera.ask(lambda ws: ws.people.add("Fay"))
    deadline = time.monotonic() + PATIENCE
    while not (waiting := await camera.ask(lambda ws: waiting_trials(ws, "Fay"))):
        assert time.monotonic() < deadline, "nobody waits"
        await asyncio.sleep(SHORT)
    camera.app.person = "Fay"
    camera.goes_on.add("Looking.take_part")
    screen = WizardOfOzScreen(waiting[0].trial_id)
    await camera.push(screen)
    await camera.until(lambda: screen.state and screen.state.view)


def paste(text: str) -> Step:
    """Rows from elsewhere, into the pane that is open."""

    async def step(camera: Camera) -> None:
        camera.app.copy_to_clipboard(text)
        await camera.press("ctrl+v")

    return step


def broken(workspace: Workspace) -> ReadBack:
    """A task as somebody left it in an editor."""
    text = to_yaml(workspace.tasks.revision("facts-night-train").task.model_dump(mode="json"))
    return from_yaml(text.replace("key:", "kye:", 2), "facts-night-train", "facts")


def merging(workspace: Workspace) -> MergeScreen:
    """Two people changed the same things."""
    began = workspace.tasks.revision("espresso").task.model_dump(mode="json")
    mine, theirs = TaskEdit(began), TaskEdit(began)
    mine.set(("title",), "Espresso, from Turin to Milan")
    mine.set(("gold", "triples", 0, "tail"), "1884-05-16")
    theirs.set(("title",), "The first espresso machine")
    theirs.set(("query",), "Who patented the first espresso machine?")
    view = MergeView(Merging(began, mine.data, theirs.data))
    return MergeScreen(view, "Ben saved revision 2 at 2026-11-20 12:00: a shorter title")


def refused(workspace: Workspace) -> RefusedDialog:
    """What was done to some of the marked tasks, and why not to others."""
    names = [task.title for task in workspace.tasks.summaries()[:3]]
    why = (
        "It is in review already.",
        "Errors must be mended before review",
        "Only an author may do this.",
    )
    return RefusedDialog("2 submitted.", [Refused(*each) for each in zip(names, why, strict=True)])


def proposal(workspace: Workspace) -> ProposalScreen:
    """What a model drafted."""
    data = workspace.tasks.revision("espresso").task.model_dump(mode="json")
    drafted = Proposal(
        kind="triples",
        model="drafter",
        at=TODAY,
        raw=("I'd rather talk about [bold]tea[/].",),
        notes=("One sentence of the page was left out.",),
        items=tuple(
            ProposedItem(
                id=f"t{n}",
                label=f"{head} · {relation} · {tail}",
                place="gold.triples",
                deed="add",
                after={"head": head, "relation": relation, "tail": tail},
                evidence=f"{head} {relation} {tail}.",
                checked=("the sentence is not in the text",) if n == 2 else (),
            )
            for n, (head, relation, tail) in enumerate(
                (
                    ("Victoria Arduino", "founded in", "1905"),
                    ("Arduino", "shipped to", "Rome"),
                    ("Arduino", "sold", "[red]grinders[/]"),
                ),
                1,
            )
        ),
    )
    pending = Pending(proposal=drafted, ticked=("t1", "t3"))
    return ProposalScreen(data, pending, "USD", lambda pending: None)


def compared(workspace: Workspace) -> CompareGoldScreen:
    """A table that was built again, with one cell otherwise and a row less."""
    opened, _ = open_blank(workspace, "table-us-states", "Di")
    gold = workspace.tasks.revision("table-us-states").task.model_dump(mode="json")["gold"]
    rows = [list(row) for row in gold["rows"][:-1]]
    rows[1][-1] = "elsewhere"
    data = {**opened.edit.data, "gold": {**gold, "rows": rows}}
    entry = hand_in(workspace, "table-us-states", "Di", opened.edit.base, data, "one is unclear")
    return CompareGoldScreen("table-us-states", entry.uid)


def examined(workspace: Workspace) -> ExamScreen:
    """The exam of a lenient judge on four tasks; it is sat in a loop of its own."""
    judge = LexicalJudge("lexical:lenient")
    tasks = ["espresso", "facts-night-train", "table-us-states", "checkpoints-highest-mountain"]
    plan = plan_exam(workspace, judge, tasks, config=EMBEDDED)
    sitting = run_exam(workspace, plan, judge, ModelHub(EMBEDDED), config=EMBEDDED, by="Ben")
    with ThreadPoolExecutor(1) as pool:
        run, _failures = pool.submit(asyncio.run, sitting).result()
    return ExamScreen(run.id)


class Endless(Drafting):
    """A model that never answers."""

    async def run(self) -> Proposal:
        await asyncio.Event().wait()
        raise AssertionError

    async def stop(self) -> None:
        pass


async def drafting(camera: Camera) -> None:
    """It is stopped, so that no seconds are counted."""
    camera.goes_on.add("WorkingDialog.run_draft")
    config = await camera.app.services.config()
    dialog = WorkingDialog("tiny", Endless({}, PersonaInputs(), config, "drafter"))
    await camera.push(dialog)
    await camera.press("escape")


async def searching(camera: Camera) -> None:
    """The words of a search before it stay in the field until the app is left."""
    await camera.press("ctrl+f")
    camera.screen.query_one("#query", Input).value = "lever"
    await camera.until(lambda: camera.screen.rows and not camera.screen.busy)


FAULTS = (
    Fault(kind=FaultKind.LEAK, found="Luigi Bezzera"),
    Fault(kind=FaultKind.MARKDOWN, found="- his dates"),
)
PAGES = ("https://example.org/espresso", "https://example.org/registers/turin/1884")
LINE = "And who improved the machine, and when was that patented?"
REPLY = "It was Angelo Moriondo, in 1884 at Turin. Shall I go on with Luigi Bezzera?"

WALKS: tuple[Walk, ...] = (
    # Home
    walk(
        Scene("home", HomeScreen),
        keys("f1"),
        Scene("help", HelpDialog),
        keys("escape ctrl+p"),
        Scene("palette", Palette),
        keys("escape full_stop b"),
        Scene("board", BoardScreen),
        keys("v p"),
        Scene("board-people", PeopleScreen),
        keys("v f"),
        Scene("board-figures", BoardFiguresScreen),
        keys("enter"),
        Scene("rounds", RoundsScreen),
    ),
    walk(Scene("home-of-a-reviewer", HomeScreen), person="Chen"),
    walk(searching, Scene("search", SearchDialog)),
    walk(
        Scene("home-empty", HomeScreen),
        go("tasks"),
        Scene("tasks-empty", TasksScreen),
        go("runs"),
        Scene("runs-empty", RunsScreen),
        empty=True,
    ),
    walk(Scene("welcome", WelcomeDialog), person="", empty=True),
    walk(
        go("settings"),
        Scene("settings", SettingsScreen),
        keys("f10 k"),
        Scene("own-keys", OwnKeysScreen),
        keys("enter"),
        Scene("own-keys-record", RecordDialog),
        keys("escape escape f10 m"),
        Scene("models", ServedModelsScreen),
        files={"cuecard.yaml": MODEL},
    ),
    # Tasks
    walk(
        go("tasks"),
        Scene("tasks", TasksScreen),
        keys("full_stop"),
        Scene("menu", ChoiceDialog),
        keys("escape"),
        keys("a"),
        Scene("task-new", NewTaskDialog),
        keys("escape m"),
        Scene("task-import", ImportDialog),
        keys("escape x"),
        Scene("task-export", ExportDialog),
        keys("escape full_stop k"),
        Scene("pack", BundleDialog),
        keys("escape full_stop m"),
        Scene("merge-packs", MergeDialog),
        keys("escape d"),
        Scene("task-archive", AskLine),
        keys("escape down u"),
        Scene("submit", SubmitDialog),
        keys("escape down q"),
        Scene("quality", QcScreen),
        keys("u"),
        Scene("quality-verdict", VerdictDialog),
        push(refused),
        Scene("tasks-refused", RefusedDialog),
    ),
    walk(
        task("checkpoints-highest-mountain"),
        keys("enter tab tab tab tab f11"),
        Scene("long-text", LongTextDialog),
    ),
    # The editor
    walk(
        task("espresso"),
        Scene("editor-brief", TaskScreen),
        tab("persona"),
        Scene("editor-in-review", ConfirmDialog),
        keys("y"),
        tab("persona"),
        Scene("editor-persona", TaskScreen),
        tab("stages"),
        Scene("editor-stages", TaskScreen),
        keys("full_stop s"),
        Scene("editor-split", SplitDialog),
        keys("escape"),
        tab("graph"),
        Scene("editor-graph", TaskScreen),
        tab("nodes"),
        Scene("editor-nodes", TaskScreen),
        tab("sources"),
        Scene("editor-sources", TaskScreen),
        tab("problems"),
        Scene("editor-problems", TaskScreen),
        tab("history"),
        Scene("editor-history", TaskScreen),
        keys("enter"),
        Scene("editor-version", VersionDialog),
        keys("escape f10 q"),
        Scene("editor-log-query", AskLine),
    ),
    walk(
        task("espresso"),
        keys("full_stop f y"),
        typed("moka"),
        keys("enter"),
        typed("Bialetti"),
        keys("enter space"),
        Scene("editor-replace", ReplaceDialog),
    ),
    walk(
        task("espresso", "gold.triples[3]"),
        Scene("editor-triple", TaskScreen),
        keys("f2 y ctrl+e"),
        Scene("editor-name", AskName),
        keys("escape space down space ctrl+b"),
        Scene("editor-sources-of-triples", AskSources),
        keys("escape"),
        paste("Angelo Moriondo\tborn in\tTurin\nangelo moriondo\tborn in\tTorino\n\tnone"),
        Scene("editor-paste-triples", TriplesPastePreview),
    ),
    walk(
        task("table-us-states", "gold.rows[2]"),
        Scene("editor-row", TaskScreen),
        keys("f2 y"),
        tab("columns"),
        Scene("editor-columns", TaskScreen),
        tab("table"),
        Scene("editor-table", TaskScreen),
        paste("State\tCapital\nOhio\tColumbus\nUtah\tSalt Lake City\textra"),
        Scene("editor-paste-cells", PastePreview),
    ),
    walk(
        task("checkpoints-old-bridge-zh", "gold.steps[1]"),
        Scene("editor-step", TaskScreen),
        tab("chain"),
        Scene("editor-chain", TaskScreen),
    ),
    walk(
        task("facts-night-train", "gold.facts[1]"),
        Scene("editor-fact", TaskScreen),
        tab("answer"),
        Scene("editor-answer", TaskScreen),
        push(lambda ws: leftover_text_dialog(TODAY, Path("~/.local/state/cuecard/task.yaml"))),
        Scene("editor-left-behind", ChoiceDialog),
        back,
        push(lambda ws: untaken_dialog(broken(ws), Path("~/.local/state/cuecard/task.yaml"))),
        Scene("editor-untaken", ChoiceDialog),
    ),
    walk(task("graph-astronomy-zh"), Scene("editor-of-another", TaskScreen)),
    walk(
        task("checkpoints-highest-mountain"),
        Scene("editor-draft", TaskScreen),
        keys("ctrl+s"),
        Scene("editor-save", AskLine),
        keys("escape f10 v"),
        Scene("editor-revert", ConfirmDialog),
        keys("escape"),
        push(merging),
        Scene("editor-merge", MergeScreen),
    ),
    walk(
        task("espresso"),
        keys("ctrl+t y"),
        Scene("assist", AssistDialog),
        keys("escape"),
        push(proposal),
        Scene("assist-proposal", ProposalScreen),
        keys("i"),
        Scene("assist-raw", RawDialog),
        keys("escape"),
        drafting,
        Scene("assist-working", WorkingDialog),
        files={"cuecard.yaml": MODEL},
    ),
    walk(task("espresso"), keys("ctrl+t y"), Scene("assist-no-model", NoModelDialog)),
    # Review
    walk(go("review"), Scene("review-queue", ReviewQueueScreen), person="Chen"),
    walk(
        go("review"),
        Scene("review-queue-of-a-coordinator", ReviewQueueScreen),
        keys("full_stop g"),
        Scene("review-assign", AssignDialog),
        person="Cleo",
        files={"cuecard.yaml": "review:\n  coordinators: [Cleo]\n"},
    ),
    walk(
        push(lambda ws: ReviewTaskScreen("espresso")),
        Scene("review-task", ReviewTaskScreen),
        keys("c"),
        Scene("review-comment", CommentDialog),
        keys("escape"),
        push(lambda ws: source_dialog(PAGES, PAGES[:1])),
        Scene("review-source", ChoiceDialog),
        person="Chen",
    ),
    walk(
        push(lambda ws: ReviewTaskScreen("facts-night-train")),
        Scene("review-seen", ReviewTaskScreen),
        person="Ben",
    ),
    walk(
        push(lambda ws: ThreadsScreen("facts-night-train")), Scene("review-threads", ThreadsScreen)
    ),
    # Runs and results
    walk(
        go("runs"),
        Scene("runs", RunsScreen),
        keys("a"),
        Scene("run-new", RunStartDialog),
        keys("escape x"),
        Scene("run-report", PathDialog),
        keys("escape"),
        over(lambda number, name: RunScreen(number, over=True)),
        Scene("run-scores", RunScreen),
        keys("full_stop d"),
        Scene("run-group", FormDialog),
        keys("escape slash"),
        Scene("run-narrow", FormDialog),
        keys("escape full_stop m"),
        Scene("run-measures", ChoiceDialog),
        keys("escape v t"),
        Scene("run", RunScreen),
    ),
    walk(
        push(lambda ws: RunScreen(worked_on(ws))),
        Scene("run-offered", RunScreen),
        keys("full_stop w"),
        Scene("run-workers", RunWorkersScreen),
    ),
    walk(
        over(lambda number, name: CompareScreen((number,), name)),
        Scene("compare", CompareScreen),
        keys("v t"),
        Scene("compare-tasks", CompareScreen),
        keys("v r"),
        Scene("compare-ranks", CompareScreen),
        keys("full_stop n"),
        Scene("plan", PlanScreen),
        keys("v p"),
        Scene("plan-plot", PlanScreen),
        keys("e"),
        Scene("plan-study", FormDialog),
        keys("escape escape"),
        back,
        over(lambda number, name: SuspectsScreen((number,), name)),
        Scene("suspects", SuspectsScreen),
        keys("i"),
        Scene("suspects-items", ItemsScreen),
        keys("escape"),
        back,
        over(lambda number, name: PlotsScreen((number,), name)),
        Scene("plots", PlotsScreen),
        keys("v"),
        Scene("plots-list", PlotsScreen),
    ),
    walk(
        over(lambda number, name: ErrorsScreen((number,), name)),
        Scene("errors", ErrorsScreen),
        keys("v"),
        Scene("views", ChoiceDialog),
        keys("escape"),
        keys("enter"),
        Scene("trial-list", TrialListScreen),
        keys("x"),
        Scene("trial-export", TrialExportDialog),
        keys("escape"),
        keys("enter"),
        Scene("trial-listed", ListedTrialScreen),
    ),
    # A trial
    walk(
        read_trial("main", "espresso"),
        Scene("trial", TrialScreen),
        keys("v s"),
        Scene("trial-stages", TrialScreen),
        keys("v g"),
        Scene("trial-gold", TrialScreen),
        keys("v v"),
        Scene("trial-verdicts", TrialScreen),
        keys("v m"),
        Scene("trial-measures", TrialScreen),
        keys("v t c"),
        Scene("trial-comment", TextDialog),
        keys("escape v v full_stop a"),
        Scene("trial-tell", TellDialog),
    ),
    walk(
        push(
            lambda ws: PairScreen(trial(ws, "main", "espresso"), trial(ws, "main", "espresso", 1))
        ),
        Scene("trial-pair", PairScreen),
        keys("v"),
        Scene("trial-pair-verdicts", PairScreen),
    ),
    walk(
        read_trial("source", "facts-night-train"),
        keys("v h"),
        Scene("trial-hits", TrialScreen),
        keys("v c"),
        Scene("trial-context", TrialScreen),
        keys("o"),
        Scene("sources", SourcesDialog),
        keys("enter"),
        Scene("source", SourceScreen),
        keys("escape escape full_stop R"),
        Scene("trial-calls", CallsScreen),
    ),
    walk(
        push(lambda ws: TrialScreen(session(ws, "espresso"))),
        keys("v n"),
        Scene("trial-notes", TrialScreen),
        keys("p right right right"),
        Scene("trial-steps", TrialScreen),
    ),
    # Verdicts
    walk(
        go("verdicts"),
        Scene("verdicts", VerdictsScreen),
        keys("a"),
        Scene("verdicts-draw", SampleScreen),
        keys("escape m"),
        Scene("verdicts-import", LabelImportDialog),
        keys("escape full_stop e"),
        Scene("verdicts-exam", ExamDialog),
        keys("escape v"),
        Scene("verdict-list", VerdictListScreen),
        person="Ben",
    ),
    walk(
        over(lambda number, name: LabelScreen(number, name)),
        Scene("label", LabelScreen),
        keys("v g"),
        Scene("label-gold", DetailScreen),
        keys("escape v t"),
        Scene("label-transcript", BlindTranscriptScreen),
        keys("escape c"),
        Scene("label-comment", TextDialog),
        person="Eve",
    ),
    walk(
        push(lambda ws: LabelScreen(None, "sixty", set_id=1)),
        Scene("label-done", LabelScreen),
        person="Ben",
    ),
    walk(
        push(lambda ws: AdjudicateScreen("sixty", set_id=1)),
        Scene("adjudicate-warning", ConfirmDialog),
        keys("y"),
        Scene("adjudicate", AdjudicateScreen),
        keys("n"),
        Scene("adjudicate-cause", ChoiceDialog),
        person="Di",
    ),
    walk(
        push(lambda ws: AgreementScreen(None, "sixty", set_id=1)),
        Scene("agreement", AgreementScreen),
        keys("enter"),
        Scene("agreement-items", AgreementItemsScreen),
        keys("escape v m"),
        Scene("agreement-matrix", AgreementScreen),
        person="Ben",
    ),
    # A judge's exam
    walk(
        push(examined),
        Scene("exam", ExamScreen),
        keys("down down down down down down enter"),
        Scene("exam-misses", MissesScreen),
        keys("enter"),
        Scene("exam-inputs", InputsScreen),
        person="Ben",
    ),
    walk(
        push(lambda ws: FidelityScreen()),
        Scene("fidelity", FidelityScreen),
        keys("v f"),
        Scene("fidelity-findings", FidelityScreen),
        keys("e"),
        Scene("fidelity-scope", FormDialog),
        keys("escape full_stop z"),
        Scene("fidelity-sizes", SizesDialog),
        keys("escape x"),
        Scene("fidelity-export", PathDialog),
        keys("escape v w"),
        Scene("fidelity-turns-hidden", FidelityTurnsScreen),
        keys("h y"),
        Scene("fidelity-turns", FidelityTurnsScreen),
        keys("enter"),
        Scene("fidelity-turn", FidelityTurnScreen),
        keys("escape escape v m enter"),
        Scene("fidelity-scatter", ScatterScreen),
        person="Ben",
    ),
    walk(
        push(lambda ws: ReplayChoiceScreen()),
        Scene("replay-choice", ReplayChoiceScreen),
        push(lambda ws: ReplayScreen(session(ws, "espresso"))),
        Scene("replay", ReplayScreen),
        keys("n enter b"),
        Scene("replay-decided", ReplayScreen),
        person="Ben",
    ),
    # The gold built twice
    walk(
        push(lambda ws: BuildGoldScreen("table-us-states")),
        Scene("independent-gold", BuildGoldScreen),
        back,
        push(compared),
        Scene("independent-gold-compared", CompareGoldScreen),
        person="Di",
    ),
    # Play
    walk(
        play("espresso"),
        Scene("play", PlayScreen),
        said,
        Scene("play-replied", PlayScreen),
        keys("ctrl+l"),
        Scene("play-mark", MarkDialog),
        keys("escape f10 e down s"),
        Scene("play-evidence", EvidenceDialog),
        keys("escape f10 p"),
        Scene("play-phrases", PhraseDialog),
        keys("escape f10 a"),
        Scene("play-answers", AnswersDialog),
        keys("escape f7"),
        Scene("play-note", NoteDialog),
        keys("escape ctrl+r"),
        Scene("play-retry", RetryDialog),
        keys("escape"),
        push(lambda ws: StopDialog()),
        Scene("play-stop", StopDialog),
        keys("escape f9"),
        Scene("play-end", ConfirmDialog),
        keys("escape"),
        push(lambda ws: FaultsDialog(FAULTS)),
        Scene("play-faults", FaultsDialog),
        keys("escape"),
        push(lambda ws: MeaningDialog("edited", LINE, REPLY, 2)),
        Scene("play-meaning", MeaningDialog),
        keys("escape f6"),
        Scene("play-figures", PlayScreen),
    ),
    walk(
        play("checkpoints-highest-mountain"),
        said,
        Scene("play-chain", PlayScreen),
        keys("ctrl+l"),
        Scene("play-reading", ReadingDialog),
    ),
    walk(
        push(lambda ws: PlayScreen("espresso", choose=True)),
        Scene("play-start", StartDialog),
        files={"cuecard.yaml": MODEL},
    ),
    walk(
        push(lambda ws: SessionFormScreen(session(ws, "espresso"))),
        Scene("form", SessionFormScreen),
        person="Eve",
    ),
    # The database goes away
    walk(
        go("tasks"),
        lost,
        Scene("outage", TasksScreen),
        keys("a"),
        Scene("outage-dialog", NewTaskDialog),
    ),
    # The agent played by a person
    walk(
        play("checkpoints-highest-mountain", agent="person"),
        wizard_plays,
        Scene("wizard", WizardOfOzScreen),
        keys("f10 b"),
        Scene("wizard-brief", BriefDialog),
        keys("escape"),
        push(lambda ws: ActDialog(REPLY)),
        Scene("wizard-act", ActDialog),
        back,
        push(lambda ws: WaitingDialog(waiting_trials(ws, "Fay"))),
        Scene("wizard-waiting", WaitingDialog),
    ),
)
