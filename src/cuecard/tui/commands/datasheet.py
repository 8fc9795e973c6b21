"""`cuecard datasheet`: how the tasks were made, for a paper's appendix."""

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from cuecard.core.i18n import _
from cuecard.tui.commands.context import Context, check_place, write_result
from cuecard.tui.commands.output import as_json


def datasheet(
    context: typer.Context,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help=_("Write to this file; .json is written as JSON")),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=_("JSON rather than Markdown"))] = False,
    names: Annotated[
        bool, typer.Option("--names", help=_("People's names rather than pseudonyms"))
    ] = False,
) -> None:
    from cuecard.annotate.quality.datasheet import as_markdown, datasheet_of
    from cuecard.annotate.review.protocol import protocol_of

    if output is not None:
        check_place(output)
    ours = Context.of(context)
    protocol = protocol_of(ours.config())
    with ours.workspace() as workspace:
        sheet = datasheet_of(workspace, protocol=protocol, named=names)
    if output is not None and output.suffix == ".json":
        json = True
    data = sheet.model_dump(mode="json")
    if output is None:
        if json:
            as_json(data)
        else:
            typer.echo(as_markdown(sheet), nl=False)
        return
    text = jsonlib.dumps(data, ensure_ascii=False, indent=2) + "\n" if json else as_markdown(sheet)
    write_result(output, text)
