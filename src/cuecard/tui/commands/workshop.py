"""`cuecard workshop`: versions of a judge on held-out labels, juries, drift, and examples for its prompt."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cuecard.core.i18n import N_, _
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note, say
from cuecard.tui.commands.verb import TABLES, Help, Page, Result, verb


@verb("cuecard workshop 4 --judge strict --examples prompts/", *TABLES)
def workshop(
    ours: Context,
    runs: Annotated[Sequence[int], Help(N_("Runs by number"), metavar="RUN")] = (),
    *,
    set_id: Annotated[int | None, Help(N_("A labelling set instead"), "--set")] = None,
    examples: Annotated[
        Path | None,
        N_(
            "Write new versions of the judge's prompts into this folder, with examples people decided"
        ),
    ] = None,
    judge: Annotated[str, N_("With --examples: whose prompts, a model judge of cuecard.yaml")] = "",
    most: Annotated[
        int, Help(N_("With --examples: at most so many in a prompt"), min=1, max=50)
    ] = 6,
) -> Result:
    from cuecard.annotate.labelling.comparison_inputs import Scope, gather
    from cuecard.annotate.labelling.judge_examples import write_examples
    from cuecard.annotate.labelling.workshop import tables_of_workshop
    from cuecard.annotate.results.judge_card import examined
    from cuecard.core.tables.texts import table_data

    if bool(runs) == (set_id is not None):
        raise typer.BadParameter(_("give runs, or one set with --set"), param_hint="RUN")
    if bool(judge) != (examples is not None):
        raise typer.BadParameter(_("--examples and --judge go together"), param_hint="--examples")
    inputs = gather(ours.workspace, Scope(runs=tuple(runs), set_id=set_id, subject="gold"))
    config = ours.config()
    if examples is None:
        tables = tables_of_workshop(ours.workspace, inputs, config, examined)
        hint = "" if tables else _("Nobody has labelled what these judges decided.")
        return Result(
            Page(tables, share=True, hint=hint),
            lambda: {"tables": [table_data(table) for table in tables]},
        )
    files, told = write_examples(ours.workspace, inputs, judge, config, examples, most=most)

    def show() -> None:
        for file in files:
            say(str(file))
        named = _named(files)
        note(_("A judge of cuecard.yaml uses them with prompts: {{{names}}}").format(names=named))

    return Result(
        show,
        lambda: {
            "files": [str(file) for file in files],
            "examples": [example.model_dump(mode="json") for example in told],
        },
    )


def _named(files: Sequence[Path]) -> str:
    """The files as a mapping in cuecard.yaml names them: by their folder, a name for both languages."""
    return ", ".join(dict.fromkeys(f"{file.name.split('.')[0]}: {file.parent}" for file in files))
