"""A verb of the command line: a plain function that takes what was asked and returns a `Result`. See docs/commands.md."""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain, groupby
from pathlib import Path
from pkgutil import resolve_name
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args, get_origin

import typer

from cuecard.core.i18n import N_, _, current_language, listed
from cuecard.core.system import uncollected
from cuecard.tui.commands.context import Context, check_place, write_result
from cuecard.tui.commands.output import note, print_withheld, prose, say

if TYPE_CHECKING:
    from cuecard.annotate.results.report_formats import Block
    from cuecard.core.tables.table import Table

_FORMS = {
    "json": N_("Print JSON"),
    "markdown": N_("Print Markdown"),
    "latex": N_("Print LaTeX"),
    "csv": N_("Print CSV"),
    "html": N_("Print an HTML page"),
}
_SUFFIXES = {
    "json": "json",
    "md": "markdown",
    "markdown": "markdown",
    "tex": "latex",
    "latex": "latex",
    "csv": "csv",
    "html": "html",
}
_METAVARS = {str: "TEXT", int: "INTEGER", float: "FLOAT", Path: "PATH"}
STDOUT = Path("-")
TABLES = (*_FORMS, "output")
"""The forms of a `Page`."""


class Help:
    """What help says of an argument or option, its names where they are not that of the parameter, and settings that Typer
    knows (`min`, `metavar`, ...). `one_of`: the words to choose from; "module:TABLE" stands for those of a table.
    """

    def __init__(self, text: str, *names: str, one_of: Sequence[str] = (), **settings: Any) -> None:
        self.text, self.names, self.settings = text, names, settings
        self._one_of = one_of

    def words(self) -> list[str]:
        """None: any word will do."""
        words = (resolve_name(name) if ":" in name else (name,) for name in self._one_of)
        return list(dict.fromkeys(chain.from_iterable(words)))


Reveal = Annotated[
    bool, N_("Also what I am still to label; labels that I give on it later are not blind")
]
DryRun = Annotated[bool, N_("Say what would happen; save nothing")]
Only = Annotated[
    Sequence[str], Help(N_("Only these trials; may be repeated"), metavar="DIMENSION=VALUE")
]
Judges = Annotated[
    Sequence[str], N_("Whose judgements; may be repeated. Default: each run's first judge")
]
Runs = Annotated[Sequence[int], Help(N_("Numbers of the runs"), metavar="RUN")]
Budget = Annotated[float | None, Help(N_("Stop when the calls have cost so much"), min=0.000001)]


@dataclass(frozen=True)
class Page:
    """Tables, and pages with texts to read, under a title, with facts about them in between; printed for people, or in any
    form of tables. `hint`: what to do where there is little to see, on stderr. `share`: a note that several tables have is
    told once, below the last.
    """

    parts: Sequence[Table | Page] = ()
    title: str = ""
    facts: Sequence[str] = ()
    hint: str = ""
    share: bool = False

    def print(self, level: int = 0) -> None:
        """`level`: how many pages it stands in."""
        from cuecard.tui.commands.output import print_tables

        if self.title:
            say(self.title)
        for fact in self.facts:
            prose("  " * (level - 1) + fact)
        if self.facts:
            say("")
        for nested, parts in groupby(self.parts, lambda part: isinstance(part, Page)):
            if nested:
                for page in cast("Iterator[Page]", parts):
                    page.print(level + bool(self.title))
            else:
                print_tables(cast("Iterator[Table]", parts), share=self.share)

    def text(self, form: str) -> str:
        """As Markdown, HTML, LaTeX or CSV; these two have tables alone."""
        from cuecard.core.tables.texts import tables_text

        if form == "markdown":
            return "\n".join(self._markdown(1))
        if form == "html":
            return self._html()
        return tables_text(list(self._tables()), "csv" if form == "csv" else "tex")

    def _markdown(self, level: int) -> Iterator[str]:
        from cuecard.core.tables.texts import as_markdown, escaped

        if self.title:
            yield f"{'#' * level} {escaped(self.title)}\n"
        if self.facts:
            yield "".join(f"- {escaped(fact)}\n" for fact in self.facts)
        for part in self.parts:
            if isinstance(part, Page):
                yield from part._markdown(level + bool(self.title))
            else:
                yield as_markdown(part)

    def _html(self) -> str:
        """The page of a report, with a section of each page in this one."""
        from cuecard import __version__
        from cuecard.annotate.results.report_formats import Report, Section, report_html

        sections = [
            Section(f"part-{n}", title, blocks)
            for n, (title, blocks) in enumerate(self._sections(), start=1)
        ]
        title = self.title or next((section.title for section in sections), "")
        return report_html(Report(title, current_language(), __version__, datetime.now(UTC).date(), tuple(sections)))  # fmt: skip

    def _sections(self) -> Iterator[tuple[str, tuple[Block, ...]]]:
        from cuecard.annotate.results.report_formats import ParagraphBlock, TableBlock

        tables = [part for part in self.parts if not isinstance(part, Page)]
        if tables or self.facts:
            title = self.title or next((table.title for table in tables), "")
            yield title, (*map(ParagraphBlock, self.facts), *map(TableBlock, tables))
        for part in self.parts:
            if isinstance(part, Page):
                yield from part._sections()

    def _tables(self) -> Iterator[Table]:
        for part in self.parts:
            yield from part._tables() if isinstance(part, Page) else (part,)


def _nothing() -> None: ...


@dataclass(frozen=True)
class Result:
    """What a verb found. `shown`: a page, a text, or what prints it for people. `json`: gives the data of `--json`; without
    it `shown` prints every form. `code`: the exit code, 1 for problems. `remarks`: prints on stderr, in every form, what
    the result does not hold. `document`: a text that is handed on as it is, to `output` where the verb has such an option.
    """

    shown: Page | str | Callable[[], object] = _nothing
    json: Callable[[], object] | None = None
    code: int = 0
    remarks: Callable[[], object] = _nothing
    document: str = ""
    output: Path = STDOUT


@dataclass(frozen=True)
class Command:
    """A function with what its command line adds: the last line of its help, and options for the forms it can take.
    `json`: what help says of that form. `holds`: it reads many records and holds them to its end (`uncollected`).
    """

    function: Callable[..., Result | str]
    example: str
    forms: Sequence[str]
    json: str
    holds: bool

    def __call__(self, *words: Any, **more: Any) -> Result | str:
        return self.function(*words, **more)

    def for_typer(self) -> Callable[..., None]:
        """A function whose signature Typer reads, with help in the language that is set now."""
        return _for_typer(self, current_language())


def verb(
    example: str, *forms: str, json: str = _FORMS["json"], holds: bool = False
) -> Callable[[Callable[..., Result | str]], Command]:
    """Makes a verb of a function. Its first parameter is the `Context`; of the others those before `*` are arguments, those
    after it options; a parameter is `Annotated` with its help, or with `Help`. Types are those of Typer, `Literal`, and
    `Sequence` for what may be repeated. `forms`: `--json` and so on; "output": `-o` for a file.
    """
    return lambda function: Command(function, example, forms, json, holds)


@functools.cache
def _for_typer(command: Command, _language: str) -> Callable[..., None]:
    signature = inspect.signature(command.function, eval_str=True)
    parameters = list(signature.parameters.values())[1:]
    repeated = {each.name for each in parameters if each.default == ()}
    forms = [_form_option(command, name) for name in command.forms]
    typed = [
        inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(_typed(parameter) for parameter in (*parameters, *forms)),
    ]

    def called(context: typer.Context, **given: Any) -> None:
        if context.invoked_subcommand is not None:
            return
        words = {name: _plain(value) for name, value in given.items()}
        words |= {name: () for name in repeated if not words[name]}
        ours = Context.of(context)
        ours.given = {n for n in words if _is_given(context, n)}
        if not command.holds:
            _call(command, ours, words)
            return
        with uncollected():
            try:
                _call(command, ours, words)
            finally:
                # The program ends here: to look through all that it holds would only take time.
                gc.freeze()

    # Typer reads both.
    called.__signature__ = inspect.Signature(typed)
    called.__annotations__ = {each.name: each.annotation for each in typed}
    return called


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _form_option(command: Command, name: str) -> inspect.Parameter:
    if name == "output":
        kind: Any = Annotated[Path | None, Help(N_("Write to this file instead"), "-o", "--output")]
    else:
        kind = Annotated[bool, command.json if name == "json" else _FORMS[name]]
    default = None if name == "output" else False
    only = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, only, annotation=kind, default=default)


def _typed(parameter: inspect.Parameter) -> inspect.Parameter:
    """The same as Typer wants it."""
    kind, said = parameter.annotation, Help("")
    if get_origin(kind) is Annotated:
        kind, said = get_args(kind)
    if not isinstance(said, Help):
        said = Help(said)
    default = parameter.default
    if get_origin(kind) is Sequence:
        (inner,) = get_args(kind)
        kind = list[_choice(inner, said)]
        if default == ():
            kind, default = kind | None, None
    elif NoneType in get_args(kind):
        kind = _choice(get_args(kind)[0], said) | None
    else:
        kind = _choice(kind, said)
    if isinstance(kind, type) and issubclass(kind, StrEnum) and isinstance(default, str):
        default = kind(default)
    shown: dict[str, Any] = {"help": _(said.text) or None, **said.settings}
    word = parameter.name.strip("_").replace("_", "-")
    if parameter.kind is not parameter.KEYWORD_ONLY:
        shown.setdefault("metavar", word.upper())
        return parameter.replace(
            kind=parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[kind, typer.Argument(**shown)],
        )
    shown.setdefault("metavar", _metavar(kind))
    names = said.names or ((f"--{word}",) if default is not True else (f"--{word}/--no-{word}",))
    return parameter.replace(
        default=default, annotation=Annotated[kind, typer.Option(*names, **shown)]
    )


def _metavar(kind: Any) -> str | None:
    """What help says of the values of an option, where its author says nothing; None of a flag."""
    while parts := get_args(kind):
        kind = parts[0]
    return "|".join(kind) if issubclass(kind, StrEnum) else _METAVARS.get(kind)


def _choice(kind: Any, said: Help) -> Any:
    """An enumeration for words to choose from: Typer prints them in the help, and refuses others."""
    words = get_args(kind) if get_origin(kind) is Literal else said.words()
    return StrEnum("Choice", [(word, word) for word in words]) if words else kind


def _plain(value: Any) -> Any:
    """As the function wants it: words as text, in tuples."""
    if isinstance(value, list):
        return tuple(map(_plain, cast("list[Any]", value)))
    return value.value if isinstance(value, StrEnum) else value


def _call(command: Command, ours: Context, given: dict[str, Any]) -> None:
    """Call the function, close the workspace, tell what was held back, print or write what was found; then the exit code."""
    asked = [name for name in command.forms if name != "output" and given.pop(name)]
    if len(asked) > 1:
        hint = " / ".join(f"--{name}" for name in asked)
        raise typer.BadParameter(_("one format at a time"), param_hint=hint)
    output: Path = (given.pop("output", None) if "output" in command.forms else None) or STDOUT
    form = asked[0] if asked else ""
    if output != STDOUT:
        form = form or _form_of(output, command.forms)
        check_place(output)
    with ours.asked(form):
        found = command.function(ours, **given)
    result = Result(found) if isinstance(found, str) else found
    if ours.seen:
        print_withheld(ours.seen)
    _hand_over(result, form, output if output != STDOUT else result.output)
    if isinstance(result.shown, Page) and result.shown.hint and form != "json":
        note(result.shown.hint)
    result.remarks()
    if result.code:
        raise typer.Exit(result.code)


def _form_of(output: Path, forms: Sequence[str]) -> str:
    form = _SUFFIXES.get(output.suffix.lstrip(".").casefold(), "")
    if form not in forms:
        known = listed(f".{suffix}" for suffix, its in _SUFFIXES.items() if its in forms)
        text = _("its suffix names no format that is written here: choose one of {suffixes}")
        raise typer.BadParameter(text.format(suffixes=known), param_hint="--output")
    return form


def _hand_over(result: Result, form: str, output: Path) -> None:
    untold = isinstance(result.shown, str) and result.shown and form != "json"
    if output != STDOUT and not untold:
        if isinstance(result.shown, Page) and not result.shown.parts:
            return  # The verb said so.
        write_result(output, _text(result, form or _SUFFIXES.get(output.suffix.lstrip("."), "")))
    elif form == "json" and result.json:
        from cuecard.tui.commands.json_output import as_json

        as_json(result.json())
    elif result.document:
        typer.echo(result.document, nl=False)
    elif isinstance(result.shown, str):
        if result.shown:
            say(result.shown)
    elif not isinstance(result.shown, Page):
        result.shown()
    elif form:
        typer.echo(result.shown.text(form), nl=False)
    else:
        result.shown.print()


def _text(result: Result, form: str) -> str:
    """What stands in a file."""
    if form == "json" and result.json:
        from cuecard.tui.commands.json_output import json_pieces

        return "".join((*json_pieces(result.json()), "\n"))
    if result.document:
        return result.document
    assert isinstance(result.shown, Page)
    return result.shown.text(form)
