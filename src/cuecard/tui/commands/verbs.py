"""The verbs of the command line: name, help and where the code is, which is imported when the verb is called."""

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand

from cuecard.core.i18n import N_, _
from cuecard.tui.commands.output import example


@dataclass(frozen=True)
class Verb:
    """One verb. `code`: "module:function" below `cuecard.tui.commands`. `example`: the command line that ends its
    help. `group`: whether the function makes a `typer.Typer` with verbs of its own, rather than being the verb.
    """

    name: str
    code: str
    help: str
    example: str
    group: bool = False

    def command(self) -> Any:
        """The command as Typer makes it from the function's signature. Imports the verb's module."""
        function = resolve_name(f"cuecard.tui.commands.{self.code}")
        app = typer.Typer(rich_markup_mode=None)
        shown: dict[str, Any] = {"help": _(self.help)}
        if self.example:
            shown["epilog"] = example(self.example)
        if self.group:
            app.add_typer(function(), name=self.name, **shown)
        else:
            app.command(self.name, **shown)(function)
        return typer.main.get_group(app).commands[self.name]


class LazyCommand(TyperCommand):
    """Stands for a verb in lists, completions and suggestions; reads its words as the verb itself."""

    def __init__(self, verb: Verb) -> None:
        super().__init__(verb.name, help=_(verb.help), rich_markup_mode=None)
        self.verb = verb

    def make_context(self, *words: Any, **more: Any) -> Any:
        return self.verb.command().make_context(*words, **more)


VERBS: tuple[Verb, ...] = (
    Verb(
        "init",
        "init:init",
        N_("Make a workspace here, with the sample tasks."),
        "cuecard --db work.db init --no-samples",
    ),
    Verb(
        "import",
        "transfer:import_",
        N_("Bring tasks from files into the workspace."),
        "cuecard import tasks/ --format vibesearch",
    ),
    Verb(
        "export",
        "transfer:export",
        N_("Write tasks, or the trials of runs, into a folder."),
        "cuecard export --run 2 --format inspect -o logs",
    ),
    Verb(
        "pack",
        "sharing:pack",
        N_("Write what you did into one file, for workspaces that are not connected."),
        "cuecard --as Ana pack -o ana.cuepack",
    ),
    Verb(
        "merge",
        "sharing:merge",
        N_("Take in what others packed. Nothing is overwritten; again changes nothing."),
        "cuecard merge ana.cuepack ben.cuepack",
    ),
    Verb(
        "check",
        "check:check",
        N_("Check task files; exit 1 if any has errors."),
        "cuecard check tasks/ --strict",
    ),
    Verb(
        "submit",
        "submit:submit",
        N_(
            "Submit tasks for review. Errors of the linter refuse; warnings that nobody silenced take a reason. Exit 1 if any was refused."
        ),
        'cuecard submit espresso --reason "the map is the only source"',
    ),
    Verb(
        "run",
        "runs:run",
        N_("Play tasks with agents, judge and score them."),
        "cuecard run espresso --agent live --samples 3",
    ),
    Verb(
        "runs",
        "runs:runs",
        N_("List the runs of the workspace, newest first."),
        "",
    ),
    Verb(
        "score",
        "score:score",
        N_("The scores of one or more runs."),
        "cuecard score 4 5 --by agent --by language",
    ),
    Verb(
        "compare",
        "compare:compare",
        N_("Compare agents, runs, settings or judges on the same tasks."),
        "cuecard compare 4 5 --by agent --base beta",
    ),
    Verb(
        "table",
        "table:table",
        N_("A table of results as the papers print it."),
        "cuecard table main 4 --latex -o main.tex",
    ),
    Verb(
        "report",
        "report:report",
        N_(
            "Scores, comparisons, errors, plots and the method of runs, in one file: .html, .md, .tex, .csv or .json."
        ),
        "cuecard report 4 5 -o report.html",
    ),
    Verb(
        "sessions",
        "sessions:sessions",
        N_("List the sessions that people played: marks, notes and forms."),
        "cuecard sessions --csv sessions.csv",
    ),
    Verb(
        "shadow",
        "shadow:shadow",
        N_(
            "Ask simulators what they would have said at each of the user's turns in trials that were played, one call a turn. What is answered already is not asked again; `cuecard fidelity` compares."
        ),
        "cuecard shadow 3 --user persona --budget 2",
    ),
    Verb(
        "judge",
        "judge:judge",
        N_(
            "Judge and score outputs from elsewhere, or a run of the workspace. Judging adds to what other judges said and never plays a trial again; a judging that was killed goes on where it stopped."
        ),
        "cuecard judge --tasks tasks/ --responses out.jsonl --json",
    ),
    Verb(
        "rescore",
        "rescore:rescore",
        N_(
            "Judge a run on corrected gold: only what changed is judged again, and the report says what moved and why. The run stays as it is; what comes of it is a run of its own."
        ),
        "cuecard rescore 2 --dry-run",
    ),
    Verb(
        "sample",
        "sample:sample",
        N_(
            "Draw a set of items for people to label, with known chances. With --width and no run: how many items an interval of that width takes."
        ),
        "cuecard sample 3 --n 200 --stratify decision,family --overlap 0.2",
    ),
    Verb(
        "agree",
        "agree:agree",
        N_("Agreement of raters, or of people and judges on runs."),
        "cuecard agree ratings.csv --label decision --group task",
    ),
    Verb(
        "fidelity",
        "fidelity:fidelity",
        N_("Hold simulators against people, and scores against what people said."),
        "cuecard fidelity --user persona --section cues",
    ),
    Verb(
        "board",
        "board:board",
        N_("Tasks by state, age and person, and how far reviewers agree."),
        "cuecard board",
    ),
    Verb(
        "qc",
        "qc:qc",
        N_(
            "Quality control of tasks: play what is missing, then show every stage and what the decision table proposes. Exit 1 if anything is flagged. What was played is not played again."
        ),
        "cuecard qc espresso --stage closed_book --budget 2",
    ),
    Verb(
        "datasheet",
        "datasheet:datasheet",
        N_("A datasheet of the workspace: tasks, people, reviews, agreement, removals, effort."),
        "cuecard datasheet -o datasheet.md",
    ),
    Verb(
        "demo",
        "demo:demo",
        N_("Play the sample tasks with the offline baselines. Judges and scores them, too."),
        "cuecard demo --db demo.db",
    ),
    Verb(
        "doctor",
        "doctor:doctor",
        N_(
            "Look whether everything works here. Sends each model of cuecard.yaml two or three small requests, and starts each agent that is another program, without a prompt."
        ),
        "cuecard doctor --offline",
    ),
    Verb(
        "review",
        "review:verbs",
        N_("The review queue: alone, it lists what you can take."),
        "cuecard review take espresso",
        group=True,
    ),
    Verb(
        "labels",
        "labels:verbs",
        N_("Bring labels in from files, and write them out to be filled in or analysed."),
        "",
        group=True,
    ),
)
"""In the order in which the help lists them."""


def every_verb() -> list[str]:
    """What may follow `cuecard`: verbs, and verbs below them (`review take`). Imports the modules of the latter."""
    found: list[str] = []
    for verb in VERBS:
        command = verb.command() if verb.group else None
        if command is None or command.invoke_without_command:
            found.append(verb.name)
        if command is not None:
            found += [f"{verb.name} {below}" for below in command.commands]
    return found
