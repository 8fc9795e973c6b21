"""The command line's entry: parses arguments, prints errors in one sentence, gives exit codes 0, 1 and 2."""

# Help that stands in annotations is read by Typer in `build`, once the language is set.
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from cuecard import __version__
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, detect_language, set_language
from cuecard.core.system import raise_again
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import (
    OutputLost,
    after_loss,
    complain,
    confess,
    scrubbed_troubles,
    steady_streams,
)
from cuecard.tui.commands.verbs import VERBS, LazyCommand

EXIT_PROBLEMS = 1


class Verbs(typer.core.TyperGroup):
    """All verbs, with one error handler. Wrong usage is Typer's (exit code 2); other exceptions are defects and keep
    their traceback.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for verb in VERBS:
            if " " not in verb.name:
                self.add_command(LazyCommand(verb))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except CuecardError as error:
            complain(error)
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
            "--db", help=_("Workspace: a path or a URL. Default: CUECARD_DB, ./cuecard.db")
        ),
    ] = None,
    person: Annotated[
        str | None, typer.Option("--as", help=_("Who you are. Default: CUECARD_USER"))
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", help=_("Configuration. Default: ./cuecard.yaml"))
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
    steady_streams()
    scrubbed_troubles()
    try:
        code = _exit_code(build())
        # Now rather than when the interpreter ends, which would complain of a lost output.
        sys.stdout.flush()
    except OutputLost as lost:
        return after_loss(lost)
    return code


def _exit_code(app: typer.Typer) -> int:
    raise_again()
    try:
        app(prog_name="cuecard")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except OutputLost:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of the program
        confess(error)
        return EXIT_PROBLEMS
    return 0
