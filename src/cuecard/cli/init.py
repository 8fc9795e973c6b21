"""`cuecard init`: a workspace, with a commented `cuecard.yaml` beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cuecard.cli.context import Context
from cuecard.cli.output import example, say
from cuecard.core.i18n import _, ngettext


def register(app: typer.Typer) -> None:
    app.command(
        "init",
        help=_("Make a workspace here, with the sample tasks."),
        epilog=example("cuecard --db work.db init --no-samples"),
    )(init)


def init(
    context: typer.Context,
    samples: Annotated[bool, typer.Option(help=_("Add the sample tasks"))] = True,
) -> None:
    from cuecard.core.config import CONFIG_NAME, example_config
    from cuecard.core.formats.json_files import write_text

    ours = Context.of(context)
    with ours.workspace(create=True) as workspace:
        person = ours.person(workspace)
        say(_("Workspace: {url}").format(url=workspace.public_url))
        if samples:
            from cuecard.lab.samples import import_samples

            added = len(import_samples(workspace, by=person))
            say(
                ngettext("{n} sample task is there.", "{n} sample tasks are there.", added).format(
                    n=added
                )
            )
    config = ours.config_path or Path(CONFIG_NAME)
    if config.exists():
        say(_("{file} is there already; it was left alone.").format(file=config))
        return
    write_text(config, example_config(), private=True)
    say(_("{file} written: name your models there.").format(file=config))
