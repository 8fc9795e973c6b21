"""Write docs/cli.md, the reference of the command line, from the program itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer.main

from cuecard.core.formats.base import FORMATS
from cuecard.core.i18n import current_language, set_language
from cuecard.tui.commands.main import build

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"

HEAD = """\
# The command line

This page is made by `make docs` from the program; `cuecard -h` and `cuecard VERB -h` say the same in your language.

`cuecard` alone opens the app. With a verb it does one thing and ends, with one of these exit codes:

| code | meaning |
| --- | --- |
| 0 | fine |
| 1 | problems were found, or something could not be done; what and why stands on stderr |
| 2 | wrong usage |
| 130 | stopped with Ctrl+C |

Options of the workspace and the person stand before the verb: `cuecard --db team.db --as Ann runs`. Results are
written to stdout, remarks and progress to stderr, so `--json` can be piped into a program.

## What to type when

```
cuecard run --agent live --user simulator --world parallel --judge strict --samples 3 --concurrency 64 --budget 20
cuecard run --resume 4                     go on with every trial from its last event, even after kill -9
cuecard run --resume 4 --rerun failed      and with those that failed, from where they stopped
cuecard run --replay 4                     the same run from its records, without a call
cuecard score 4 --by language --only agent=live
                                           scores with intervals and n, grouped and narrowed
cuecard score 4 --json                     measures with n, fact curves, graph errors, profiles, usage by tool
cuecard compare 4 5 --by agent             paired differences by task, win/tie/loss, cost per point (results.md)
cuecard compare 4 --design settings        the comparisons of the papers
cuecard table main 4 --latex -o main.tex   main, settings, errors... as the papers print them
cuecard report 4 -o report.html            all of it in one file to hand on: tables, plots, method (results.md)
cuecard judge --run 4 --judge strict       judge again; nothing is played again, nothing is replaced
cuecard judge --tasks PATH --responses PATH --judge lexical --json
                                           score outputs that were produced elsewhere
cuecard sample 4 --n 200                   draw what people label, in strata; --width says how many it takes
cuecard labels import FILE...              labels made in spreadsheets or Label Studio (labels.md)
cuecard agree FILE.csv                     every coefficient with its interval (agreement.md)
cuecard agree --run 4 --effect             what people's labels change of the scores (effect.md)
cuecard fidelity 4                         simulators against people, scores against what people said (fidelity.md)
cuecard import PATH... --dry-run           {formats}
cuecard check tasks/ --all                 every problem in task files, silenced ones too (lint.md)
cuecard qc espresso                        leakage, ambiguity, laws, effort: flags and a proposal (qc.md)
cuecard pack -o ana.cuepack                what you did as one file, for those who work apart (apart.md)
cuecard merge ben.cuepack --dry-run        take such files in; nothing is overwritten, clashes are listed
```
"""

SETTLED = {"help", "install_completion", "show_completion"}
"""Options that every program has."""


def cli_page() -> str:
    """The page as Markdown, in English: a list of all verbs, then usage, arguments and options of each."""
    language = current_language()
    set_language("en")
    try:
        command: Any = typer.main.get_command(build())
        context = command.make_context("cuecard", [], resilient_parsing=True)
        listed = list(_verbs(command, context, "cuecard"))
        parts = [
            HEAD.replace("{formats}", _formats()),
            "## Verbs\n",
            _list(listed),
            "## Before the verb\n",
            _options(command, context),
        ]
        parts += [_section(words, verb, inner) for words, verb, inner in listed]
    finally:
        set_language(language)
    return "\n".join(parts)


def _formats() -> str:
    """What `cuecard import` reads, in lines under one another."""
    said = f"cuecard YAML, {', '.join(name for name in FORMATS if name != 'cuecard')}; what would happen"
    return f"\n{' ' * 43}".join(wrap(said, 75))


def _verbs(command: Any, context: Any, above: str) -> Iterator[tuple[str, Any, Any]]:
    """Every verb below a command with the words that call it and its context, each before its own verbs."""
    for name in command.list_commands(context):
        # The verb itself is known to its context: what a list holds may stand for a module that is not imported yet.
        inner = command.get_command(context, name).make_context(
            name, [], parent=context, resilient_parsing=True
        )
        verb = inner.command
        yield f"{above} {name}", verb, inner
        if hasattr(verb, "list_commands"):
            yield from _verbs(verb, inner, f"{above} {name}")


def _list(listed: list[tuple[str, Any, Any]]) -> str:
    lines = [
        f"| [`{words}`](#{words.replace(' ', '-')}) | {_cell(_first_sentence(verb.help or ''))} |"
        for words, verb, _inner in listed
    ]
    return "\n".join(["| verb | what it does |", "| --- | --- |", *lines, ""])


def _section(words: str, verb: Any, context: Any) -> str:
    pieces = " ".join(verb.collect_usage_pieces(context))
    parts = [f"## {words}\n", f"```\n{words} {pieces}\n```\n"]
    if verb.help:
        parts.append(f"{_escaped(' '.join(verb.help.split()))}\n")
    if table := _options(verb, context):
        parts.append(table)
    if verb.epilog:
        example = " ".join(verb.epilog.replace("\b", "").split()).removeprefix("Example: ")
        parts.append(f"For example:\n\n```\n{example}\n```\n")
    return "\n".join(parts)


def _options(verb: Any, context: Any) -> str:
    records = [
        record
        for parameter in verb.get_params(context)
        if parameter.name not in SETTLED and (record := parameter.get_help_record(context))
    ]
    if not records:
        return ""
    lines = [f"| `{_cell(name)}` | {_cell(_escaped(text))} |" for name, text in records]
    return "\n".join(["| | |", "| --- | --- |", *lines, ""])


def _first_sentence(text: str) -> str:
    flat = " ".join(text.split())
    return flat.split(". ")[0].rstrip(".") + "."


def _cell(text: str) -> str:
    """Text that does not end a cell of a table."""
    return " ".join(text.split()).replace("|", r"\|")


def _escaped(text: str) -> str:
    """Text in which no `<` begins a tag."""
    return text.replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(cli_page(), encoding="utf-8")
