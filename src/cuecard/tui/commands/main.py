"""The command line's entry: parses arguments, prints errors in one sentence, gives exit codes 0, 1 and 2. The verbs have
name, help and where the code is, which is imported when the verb is called.
"""

# Help that stands in annotations is read by Typer in `build`, once the language is set.
from __future__ import annotations

import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
import typer.core
import typer.main
from typer.core import TyperArgument, TyperCommand

from cuecard import __version__
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, current_language, detect_language, set_language
from cuecard.core.system import raise_again
from cuecard.core.text import is_cjk
from cuecard.tui.commands import output
from cuecard.tui.commands.context import Context

if TYPE_CHECKING:
    from cuecard.tui.commands.verb import Command


@dataclass(frozen=True)
class Verb:
    """One verb, or one below another. Its function has its name, in a module below `cuecard.tui.commands`."""

    module: str
    name: str
    help: str

    def command(self) -> Any:
        """The command as Typer makes it from the function's signature. Imports the verb's module."""
        app = typer.Typer(rich_markup_mode=None)
        below = [verb for verb in VERBS if verb.name.startswith(f"{self.name} ")]
        if below:
            group = typer.Typer(
                cls=TranslatedGroup,
                no_args_is_help=not self.module,
                invoke_without_command=bool(self.module),
            )
            shown: dict[str, Any] = {"help": _(self.help)}
            if self.module:
                function, epilog = self._imported()
                group.callback(invoke_without_command=True)(function)
                shown["epilog"] = epilog
            for verb in below:
                verb._add_to(group)
            app.add_typer(group, name=self.name, **shown)
        else:
            self._add_to(app)
        return typer.main.get_group(app).commands[self.name]

    def _add_to(self, app: typer.Typer) -> None:
        function, epilog = self._imported()
        name = self.name.split()[-1]
        app.command(name, cls=TranslatedCommand, help=_(self.help), epilog=epilog)(function)

    def _imported(self) -> tuple[Any, str | None]:
        """The function, and the end of its help."""
        name = self.name.split()[-1]
        function = name + "_" * (iskeyword(name) or name == "list")
        command: Command = resolve_name(f"cuecard.tui.commands.{self.module}:{function}")
        return command.for_typer(), output.example(command.example) if command.example else None


class _Argument(TyperArgument):
    """Help says its name as one types it: `RUN...`, or `[RUN]...` where it may be left out."""

    def get_usage_pieces(self, ctx: Any) -> list[str]:
        name = self.metavar or self.name
        return [f"{name if self.required else f'[{name}]'}{'...' if self.nargs != 1 else ''}"]

    def display_type_rich(self, ctx: Any) -> str | None:
        return self.display_type(ctx) if self.type_descriptor.is_choice else None


_OfCommand = TyperCommand if TYPE_CHECKING else object


def _worded(text: str) -> str:
    from cuecard.tui.commands.usage import worded

    return worded(text)


@contextmanager
def worded_errors() -> Generator[None]:
    """Wrong usage is told in the language that is set."""
    try:
        yield
    except Exception as error:
        if (show := getattr(error, "show", None)) is not None:

            def worded_show(file: TextIO | None = None) -> None:
                said = io.StringIO()
                show(said)
                print(_worded(said.getvalue()), end="", file=file or sys.stderr)

            error.show = worded_show  # pyright: ignore[reportAttributeAccessIssue]
        raise


class TranslatedHelp(_OfCommand):
    """Mixin of commands whose help is in the language that is set. Typer's own words are English, and of a text without blanks it
    breaks no line and shortens it to nothing.
    """

    def get_help(self, ctx: Any) -> str:
        if current_language() != "en":
            ctx.terminal_width = 10_000  # `worded` breaks lines
        return _worded(super().get_help(ctx))

    def get_usage(self, ctx: Any) -> str:
        return _worded(super().get_usage(ctx))

    def get_short_help_str(self, limit: int = 45) -> str:
        text = self.help or ""
        return text.split("。")[0] if is_cjk(text) else super().get_short_help_str(limit)


class TranslatedCommand(TranslatedHelp, TyperCommand):
    """A verb."""

    def __init__(self, *words: Any, **attributes: Any) -> None:
        super().__init__(*words, **attributes)
        for each in self.params:
            if isinstance(each, TyperArgument):
                each.__class__ = _Argument  # Typer takes the class of a command alone


class TranslatedGroup(TranslatedHelp, typer.core.TyperGroup):
    """Verbs below a verb."""


class LazyCommand(TranslatedCommand):
    """Stands for a verb in lists, completions and suggestions; reads its words as the verb itself."""

    def __init__(self, verb: Verb) -> None:
        super().__init__(verb.name, help=_(verb.help), rich_markup_mode=None)
        self.verb = verb

    def make_context(self, *words: Any, **more: Any) -> Any:
        return self.verb.command().make_context(*words, **more)


_LISTED = {
    "workspaces:init": N_("Make a workspace here, with the sample tasks."),
    "transfer:import": N_("Bring tasks from files into the workspace."),
    "transfer:export": N_("Write tasks, or the trials of runs, into a folder."),
    "sharing:pack": N_("Write what you did into one file, for workspaces that are not connected."),
    "sharing:merge": N_(
        "Take in what others packed. Nothing is overwritten; again changes nothing."
    ),
    "workspaces:backup": N_(
        "Write the whole workspace as it is at this moment into a file, which is a workspace. Others may go on working in it."
    ),
    "workspaces:move": N_(
        "Take the whole workspace to another database, from SQLite to PostgreSQL or back. It stays here as it was. If it was killed, the same again goes on where it was."
    ),
    "quality:check": N_("Check task files; exit 1 if any has errors."),
    "quality:submit": N_(
        "Submit tasks for review. Errors of the linter refuse; warnings that nobody silenced take a reason. Exit 1 if any was refused."
    ),
    "runs:run": N_("Play tasks with agents, judge and score them."),
    "workers:worker": N_("Play trials that are offered to workers, beside other workers."),
    "runs:runs": N_("List the runs of the workspace, or tell those who play one what to do."),
    "score:score": N_("The scores of one or more runs."),
    "results:compare": N_("Compare agents, runs, settings or judges on the same tasks."),
    "planning:leaderboard": N_(
        "Rank agents by their scores: those that the tasks do not tell apart share a place."
    ),
    "planning:plan": N_(
        "From a pilot or a guess: which difference a study would see, what one more task or sample buys, and the cheapest design."
    ),
    "planning:suspects": N_(
        "Gold that may be wrong, by what all judged trials say of it: nobody found it, several agents say the same other thing, people doubt it. A flag is a reason to look, never a change of score."
    ),
    "results:table": N_("A table of results as the papers print it."),
    "results:contamination": N_(
        "Trials whose pages gave the benchmark away, and scores without them."
    ),
    "results:blame": N_("Whose fault failed trials are: a model proposes, people say it blind."),
    "results:report": N_(
        "Scores, comparisons, errors, plots and the method of runs, in one file: .html, .md, .tex, .csv or .json."
    ),
    "simulators:sessions": N_("List the sessions that people played: marks, notes and forms."),
    "simulators:shadow": N_(
        "Ask simulators what they would have said at each of the user's turns in trials that were played, one call a turn. What is answered already is not asked again; `cuecard fidelity` compares."
    ),
    "judge:judge": N_(
        "Judge and score outputs from elsewhere, or a run of the workspace. Judging adds to what other judges said and never plays a trial again; a judging that was killed goes on where it stopped."
    ),
    "exam:exam": N_(
        "Have a judge sit an exam made from gold by rule: what it accepts and refuses wrongly, what sways it. What was judged is not judged again."
    ),
    "score:rescore": N_(
        "Judge a run on corrected gold: only what changed is judged again, and the report says what moved and why. The run stays as it is; what comes of it is a run of its own."
    ),
    "agree:workshop": N_(
        "Versions of a judge on labels that none was made with, juries, drift; and examples for its prompt."
    ),
    "sample:sample": N_(
        "Draw a set of items for people to label, with known chances. With --width and no run: how many items an interval of that width takes."
    ),
    "agree:agree": N_("Agreement of raters, or of people and judges on runs."),
    "simulators:fidelity": N_(
        "Hold simulators against people, and scores against what people said."
    ),
    "review:board": N_("Tasks by state, age and person, and how far reviewers agree."),
    "quality:qc": N_(
        "Quality control of tasks: play what is missing, then show every stage and what the decision table proposes. Exit 1 if anything is flagged. What was played is not played again."
    ),
    "quality:datasheet": N_(
        "A datasheet of the workspace: tasks, people, reviews, agreement, removals, effort."
    ),
    "workspaces:demo": N_(
        "Play the sample tasks with the offline baselines. Judges and scores them, too. With --study, get the example study."
    ),
    "doctor:doctor": N_(
        "Look whether everything works here. Sends each model of cuecard.yaml two or three small requests, and starts each agent that is another program, without a prompt."
    ),
    "review:review": N_("The review queue: alone, it lists what you can take."),
    "review:review take": N_("Have a task to yourself to review, for some days."),
    "review:review skip": N_("Leave a task to others, with a reason."),
    "review:review assign": N_("As a coordinator: give a task to a reviewer."),
    "review:review unassign": N_("As a coordinator: take a task away from a reviewer."),
    "review:review priority": N_("As a coordinator: from -2 (later) to 2 (sooner)."),
    "review:review skills": N_("Say what you review; nothing given means anything."),
    "find:find": N_(
        "Search everything that you may see: tasks, comments, runs, people, trials, judges' reasons."
    ),
    ":tag": N_("Put tags on runs, tasks and trials, and take them away; give trials names."),
    "tags:tag add": N_("Put tags on them; what has one already keeps it."),
    "tags:tag remove": N_("Take tags away from them, whoever put them there."),
    "tags:tag list": N_("The tags of these, or of everything that has any."),
    "tags:tag name": N_("Give a trial a name."),
    "serve:serve": N_("Open the app in browsers, each as the person that its link names."),
    "workspaces:people": N_("Who works here; on PostgreSQL also which roles stand for whom."),
    "workspaces:people add": N_("Have a role of the PostgreSQL server stand for a person."),
    "workspaces:people coordinator": N_("Make a person a coordinator, who sees everything."),
    "workspaces:people remove": N_("Have no role stand for a person any more."),
    "plain:label": N_("Label items blind, line by line; the app has a screen for it."),
    ":labels": N_("Bring labels in from files, and write them out to be filled in or analysed."),
    "labels:labels import": N_(
        "Bring labels in: meta-evaluation sheets, CSV, JSON lines, Label Studio's JSON."
    ),
    "labels:labels export": N_("Write labels, or a labelling set to be filled in, into files."),
    "labels:labels status": N_(
        "How far a labelling set is, by an interval that holds however often one looks, and about how many labels more until it is as narrow as wanted, or the order of agents is told."
    ),
}
"""Help by module and name, in the order in which the help lists them. "review take" is below "review"; without a module a verb
is nothing by itself.
"""
VERBS = tuple(
    Verb(*key.split(":", maxsplit=1), text)  # pyright: ignore[reportCallIssue]
    for key, text in _LISTED.items()
)


def every_verb() -> list[str]:
    """What may follow `cuecard`: verbs, and verbs below them (`review take`)."""
    return [verb.name for verb in VERBS if verb.module]


EXIT_PROBLEMS = 1
_MEANT = {
    "board": {"tasks", "list", "ls", "status"},
    "run": {"play", "eval", "simulate"},
    "score": {"results"},
    "doctor": {"models", "agents", "judges"},
    "find": {"search"},
}
"""Verbs, and what somebody may type in their place that is not like them."""


class Verbs(TranslatedGroup):
    """All verbs, with one error handler. Wrong usage is Typer's (exit code 2); other exceptions are defects and keep
    their traceback.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for verb in VERBS:
            if " " not in verb.name:
                self.add_command(LazyCommand(verb))

    def make_context(self, *words: Any, **more: Any) -> Any:
        with worded_errors():
            return super().make_context(*words, **more)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        meant = next((verb for verb, words in _MEANT.items() if args[0] in words), None)
        if meant and not ctx.resilient_parsing:  # as where a shell completes what is typed
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            with worded_errors():
                return super().invoke(ctx)
        except CuecardError as error:
            output.print_error(error)
            raise typer.Exit(EXIT_PROBLEMS) from None


def build() -> typer.Typer:
    """The Typer app, with help in the language that is set now."""
    app = typer.Typer(
        name="cuecard",
        cls=Verbs,
        help=_("A workbench for benchmarks of interactive search agents. Alone, it opens the app."),
        no_args_is_help=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    return app


def _root(
    context: typer.Context,
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="PATH|URL",
            help=_("Workspace: a path or a URL. Default: CUECARD_DB, ./cuecard.db"),
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help=_("Who you are. Default: CUECARD_USER")),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="PATH", help=_("Configuration. Default: ./cuecard.yaml")),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help=_("Print the version"))] = False,
) -> None:
    context.obj = Context(db, person, config)
    if version:
        print(f"cuecard {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from cuecard.tui.launch import launch

        raise typer.Exit(launch(db, person, config))


def run() -> int:
    """Parse `sys.argv`, do what it says, and return the exit code."""
    set_language(detect_language(os.environ.get("CUECARD_LANG")))
    output.harden_streams()
    output.scrub_background_errors()
    try:
        code = _exit_code(build())
        # Now rather than when the interpreter ends, which would complain of a lost output.
        sys.stdout.flush()
    except output.OutputLost as lost:
        return output.exit_code_after(lost)
    return code


def _exit_code(app: typer.Typer) -> int:
    raise_again()
    try:
        app(prog_name="cuecard")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except output.OutputLost:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of the program
        output.print_traceback(error)
        return EXIT_PROBLEMS
    return 0
