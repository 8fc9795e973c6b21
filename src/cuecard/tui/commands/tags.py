"""`cuecard tag`: tags of runs, tasks and trials, which everybody sees and any may take away; and names of trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from typer import BadParameter

from cuecard.core.i18n import N_, _, listed
from cuecard.core.text import for_display
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note, table
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from cuecard.store.tags import TagKind
    from cuecard.store.workspace import Workspace

Tags = Annotated[
    Sequence[str],
    Help(
        N_(
            "Tags; commas part them, or blanks where each is an argument. One with blanks stands in quotes"
        ),
        metavar="TAG",
    ),
]
OnTasks = Annotated[Sequence[str], Help(N_("Id of a task; may be repeated"), "--task")]
OnRuns = Annotated[Sequence[int], Help(N_("Number of a run; may be repeated"), "--run")]
OnTrials = Annotated[Sequence[int], Help(N_("Number of a trial; may be repeated"), "--trial")]
Thing = tuple["TagKind", str, str]
"""Kind, what people call it by (an id or number), and what tags are kept by (an id or uid)."""
_KIND: dict[str, str] = {"task": N_("task"), "run": N_("run"), "trial": N_("trial")}


@verb("cuecard tag list --run 3", "json")
def list_(
    ours: Context, *, tasks: OnTasks = (), runs: OnRuns = (), trials: OnTrials = ()
) -> Result:
    workspace = ours.workspace
    return _listed(workspace, _chosen(workspace, tasks, runs, trials) or _all(workspace))


@verb("cuecard tag add baseline --run 3", "json")
def add(
    ours: Context, tags: Tags, *, tasks: OnTasks = (), runs: OnRuns = (), trials: OnTrials = ()
) -> Result:
    return _changed(ours, tasks, runs, trials, add=tags)


@verb("cuecard tag remove baseline --run 3", "json")
def remove(
    ours: Context, tags: Tags, *, tasks: OnTasks = (), runs: OnRuns = (), trials: OnTrials = ()
) -> Result:
    return _changed(ours, tasks, runs, trials, remove=tags)


@verb("cuecard tag name 12 'asks twice'", "json")
def name(
    ours: Context,
    trial: Annotated[int, N_("Number of a trial")],
    name: Annotated[str, N_("What it is called from now on; '' takes the name away")],
) -> Result:
    workspace = ours.workspace
    things = _chosen(workspace, (), (), (trial,))
    workspace.tags.name_trial(things[0][2], ours.person, name.strip())
    return _listed(workspace, things)


def _changed(
    ours: Context,
    tasks: Sequence[str],
    runs: Sequence[int],
    trials: Sequence[int],
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> Result:
    """Raises `BadParameter` where nothing is named; nothing is changed if anything named does not exist or a tag cannot be."""
    from cuecard.store.tags import tags_in

    workspace = ours.workspace
    things = _chosen(workspace, tasks, runs, trials)
    if not things:
        raise BadParameter(_("say of what: --task, --run or --trial"))
    put, taken = tags_in(*add), tags_in(*remove)
    for kind, _shown, about in things:
        workspace.tags.change(kind, about, ours.person, put, taken)
    return _listed(workspace, things)


def _chosen(
    workspace: Workspace, tasks: Sequence[str], runs: Sequence[int], trials: Sequence[int]
) -> list[Thing]:
    """What is named, each once. Raises `NotFound`."""
    found: dict[Thing, None] = {}
    for task in tasks:
        workspace.tasks.revision(task)
        found["task", task, task] = None
    found |= {("run", str(run), workspace.runs.get(run).uid): None for run in runs}
    found |= {("trial", str(trial), workspace.runs.trial(trial).uid): None for trial in trials}
    return list(found)


def _all(workspace: Workspace) -> list[Thing]:
    """What has tags."""
    tagged = {kind: workspace.tags.of(kind) for kind in ("task", "run", "trial")}
    runs = workspace.runs.all()
    return [
        *(("task", task, task) for task in sorted(tagged["task"])),
        *(("run", str(run.id), run.uid) for run in runs if run.uid in tagged["run"]),
        *(
            ("trial", str(trial.id), trial.uid)
            for run in (runs if tagged["trial"] else ())
            for trial in workspace.runs.trials(run.id)
            if trial.uid in tagged["trial"]
        ),
    ]


def _listed(workspace: Workspace, things: Sequence[Thing]) -> Result:
    from cuecard.store.tags import name_in, without_name

    tagged = {kind: workspace.tags.of(kind) for kind, _shown, _about in things}
    found = [(kind, shown, tagged[kind].get(about, ())) for kind, shown, about in things]

    def show() -> None:
        rows = [
            (_(_KIND[kind]), shown, for_display(listed(without_name(tags))), for_display(name_in(tags)))
            for kind, shown, tags in found
        ]  # fmt: skip
        named = any(row[3] for row in rows)
        headings = (_("Kind"), _("Id"), _("Tags"), _("Name"))
        if rows:
            table("", headings if named else headings[:3], [r if named else r[:3] for r in rows])
        else:
            note(_("Nothing has tags."))

    return Result(
        show,
        lambda: [
            {"kind": kind, "id": shown if kind == "task" else int(shown), "tags": list(without_name(tags))}
            | ({"name": name_in(tags) or None} if kind == "trial" else {})
            for kind, shown, tags in found
        ],
    )  # fmt: skip
