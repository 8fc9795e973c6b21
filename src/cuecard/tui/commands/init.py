"""`cuecard init`: create a workspace, and a commented `cuecard.yaml` beside it."""

from pathlib import Path
from typing import Annotated

import typer

from cuecard.core.i18n import _, ngettext
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import say


def init(
    context: typer.Context,
    samples: Annotated[bool, typer.Option(help=_("Add the sample tasks"))] = True,
) -> None:
    from cuecard.core.config import CONFIG_NAME, example_config
    from cuecard.core.system import write_text

    ours = Context.of(context)
    with ours.workspace(create=True) as workspace:
        person = ours.person(workspace)
        say(_("Workspace: {url}").format(url=workspace.public_url))
        if samples:
            from cuecard.annotate.samples import import_samples

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
