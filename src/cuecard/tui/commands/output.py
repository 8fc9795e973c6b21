"""Printing for people: Rich tables, as wide as the terminal; errors and progress on stderr; streams that cannot be written."""

from __future__ import annotations

import io
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TextIO, cast

from cuecard.core.errors import CuecardError, FileProblem, FileProblems, system_words
from cuecard.core.i18n import _, plural
from cuecard.core.secrets import scrub
from cuecard.core.text import for_display, is_cjk, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from cuecard.core.engine.messages import ModelReply
    from cuecard.core.records import UsageRecord
    from cuecard.core.tables.table import Cell, Table
    from cuecard.store.workspace import Sight


_NARROW, _SCANTY = 8, 20


class OutputLost(Exception):
    """Standard output cannot be written: its reader has gone, or the disk is full."""

    def __init__(self, error: OSError) -> None:
        super().__init__(system_words(error))
        self.reader_gone = isinstance(error, BrokenPipeError)


class _Output(io.TextIOWrapper):
    """Standard output, with its errors told apart from those of other files."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise OutputLost(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise OutputLost(error) from error


class _Remarks(io.TextIOWrapper):
    """Standard error. Where it takes nothing more, nobody can be told so."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


def harden_streams() -> None:
    """Make the standard streams robust: characters that a terminal cannot show are escaped; a closed stream is replaced
    by one that discards, so that no file of ours gets its number; one that cannot be written raises `OutputLost`.
    """
    streams: tuple[TextIO | None, ...] = (sys.stdin, sys.stdout, sys.stderr)
    for stream in streams:
        if stream is None:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = _steady(streams[1], _Output)
    sys.stderr = _steady(streams[2], _Remarks)


def _steady(stream: TextIO | None, kind: type[_Output | _Remarks]) -> TextIO:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper) or isinstance(stream, kind):
        return cast(TextIO, stream)
    stream.reconfigure(errors="backslashreplace")
    if stream not in (sys.__stdout__, sys.__stderr__):
        return cast(TextIO, stream)
    return kind(
        cast(BinaryIO, stream.buffer),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def exit_code_after(lost: OutputLost) -> int:
    """The exit code if standard output cannot be written: 0 if its reader has gone (`head`, `less`), else 1."""
    # What is still buffered would be complained of when the interpreter ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if lost.reader_gone:
        return 0
    print_error(CuecardError(_("The output could not be written"), str(lost)))
    return 1


def print_traceback(error: BaseException | None) -> None:
    """Print the traceback of a defect on stderr, without secrets."""
    if error is not None:
        sys.stderr.write(scrub("".join(traceback.format_exception(error))))


def scrub_background_errors() -> None:
    """Errors that end a thread or background task are printed without secrets."""

    class Scrubbed(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return scrub(super().format(record))

    if logging.lastResort is not None:
        logging.lastResort.setFormatter(Scrubbed("%(message)s"))
    threading.excepthook = lambda failed: print_traceback(failed.exc_value)


@cache
def console(stderr: bool = False) -> Console:
    """A console that never interprets markup."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            # Rich would end the program here; what a lost output means is decided in `main`.
            raise OutputLost(BrokenPipeError())

    return Plain(stderr=stderr, markup=False, highlight=False, emoji=False)


def example(command: str) -> str:
    """The last line of a verb's help, with an example."""
    # The mark keeps Typer from wrapping what follows.
    return "\b\n" + _("Example: {command}").format(command=command)


def say(text: str) -> None:
    console().print(for_display(text), soft_wrap=True)


def prose(text: str) -> None:
    """Print paragraphs, wrapped as their script is; for text that nobody copies."""
    _break_chinese((text,))
    console().print(for_display(text))


def _break_chinese(texts: Iterable[str]) -> None:
    """Where there is any, have Rich break lines by its rules."""
    if any(is_cjk(text) for text in texts if not text.isascii()):
        import cuecard.tui.present.entries  # noqa: F401  # pyright: ignore[reportUnusedImport]


def note(text: str) -> None:
    """Print a remark on stderr."""
    console(stderr=True).print(for_display(text), soft_wrap=True)


def print_error(error: CuecardError) -> None:
    """Print an error and how to fix it on stderr; for files, every problem on a line."""
    if isinstance(error, FileProblems):
        print(for_display(error.message), file=sys.stderr)
        if error.hint:
            print(for_display(error.hint), file=sys.stderr)
        return
    print(f"cuecard: {for_display(str(error))}", file=sys.stderr)


def problem_json(problem: FileProblem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line,
        "place": problem.place,
        "reason": problem.reason,
    }


def table(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Container[int] = (),
    footer: Sequence[object] = (),
    styles: Sequence[Sequence[str]] = (),
    cut: int | None = None,
) -> None:
    """A table of plain texts under its title, and a blank line. Columns whose index is in `numbers` align
    right and do not wrap; the others wrap where the terminal ends, but for the one that is `cut`, so that a row is a
    line. Where that leaves it less than `_SCANTY`, a longer last column, which is an id to be copied, stands below it.
    `footer` is a last row, set off; `styles` are Rich's, of each cell, for what the text tells too.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        box=box.SIMPLE_HEAD,
        show_footer=bool(footer),
        footer_style="bold",
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    lines = [[one_line(str(cell)) for cell in row] for row in rows]
    _break_chinese(chain(headings, *lines))
    room = console().width
    if cut is not None:
        widths = [column_width(h, (line[at] for line in lines)) for at, h in enumerate(headings)]
        room -= sum(widths) - widths[cut]
        if room < min(_SCANTY, widths[-1]):
            room, headings = room + widths[-1], headings[:-1]
            for line in lines:
                line[cut] += f"\n  {line.pop()}"
    for index, heading in enumerate(headings):
        numeric = index in numbers
        grid.add_column(
            Text(_broken(heading) if numeric else one_line(heading)),
            Text(one_line(str(footer[index]))) if footer else "",
            justify="right" if numeric else "left",
            no_wrap=numeric or index == cut,
            overflow="ellipsis" if index == cut else "fold",
            max_width=max(room, _NARROW) if index == cut else None,
        )
    for row, looks in zip_longest(lines, styles, fillvalue=()):
        cells = zip_longest(row, looks, fillvalue="")
        grid.add_row(*(Text(cell, style) for cell, style in cells))
    if title:
        console().print(Text(one_line(title), style="bold"), soft_wrap=True)
    console().print(grid)
    console().print()


def column_width(heading: str, cells: Iterable[object]) -> int:
    """The columns of the terminal that a column of numbers takes in `table`, with the gap beside it."""
    from rich.cells import cell_len

    texts = [*_broken(heading).split("\n"), *(one_line(str(cell)) for cell in cells)]
    return 2 + max(cell_len(text) for text in texts)


def _broken(heading: str) -> str:
    """Numbers are narrow: a long heading above them goes on two lines."""
    line = one_line(heading)
    return "\n".join(line.rsplit(" ", 1)) if len(line) > _NARROW else line


def print_withheld(sight: Sight) -> None:
    """Print on stderr what was withheld for blind labelling, and what counts as seen from now on."""
    if sight.hidden:
        note(
            plural(
                "What was decided on {n} item is held back: {person} has not labelled it. --reveal tells it.",
                "What was decided on {n} items is held back: {person} has not labelled them. --reveal tells it.",
                sight.hidden,
                person=sight.person,
            )
        )
    if sight.shown:
        note(
            plural(
                "{person} counts as having seen what was decided on {n} item: a label on it from now on is not blind.",
                "{person} counts as having seen what was decided on {n} items: labels on them from now on are not blind.",
                sight.shown,
                person=sight.person,
            )
        )


@contextmanager
def live_progress(line: str) -> Generator[Callable[[str], None] | None]:
    """Shows on stderr how far something has come; None where nobody watches."""
    if not console(stderr=True).is_terminal:
        yield None
        return
    from rich.text import Text

    with console(stderr=True).status(Text(one_line(line))) as status:
        yield lambda told: status.update(Text(one_line(told)))


class CallProgress:
    """A progress line for model calls, if stderr is a terminal; call `report` at the end."""

    def __init__(self, currency: str, line: str) -> None:
        self._currency = currency
        self._line = line
        self._calls: list[UsageRecord] = []
        self._status: Status | None = None

    def __enter__(self) -> Self:
        self._status = console(stderr=True).status(self._line)
        self._status.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._status:
            self._status.stop()

    @property
    def calls(self) -> int:
        """How many were made."""
        return len(self._calls)

    def show(self, line: str) -> None:
        if self._status:
            self._status.update(one_line(line))

    def count(self, payer: str, model: str, reply: ModelReply) -> None:
        """Take in a call that was made."""
        from cuecard.core.records import UsageRecord

        self._calls.append(
            UsageRecord(
                trial_id=0,
                payer=payer,
                model=model,
                calls=1,
                usage=reply.usage,
                cost=reply.cost,
                priced=int(reply.cost is not None),
            )
        )

    def report(self) -> None:
        """Print the number and cost of the calls, if there were any."""
        from cuecard.tui.commands.run_output import spent_line

        if line := spent_line(self._calls, self._currency):
            note(line)


_INTERVAL = re.compile(r"\[(?P<low>[^\[\], ]+), (?P<high>[^\[\] ]+)\]")
_NAME_MOST = 32


def print_tables(tables: Iterable[Table], *, share: bool = False) -> None:
    """Print tables with their remarks and notes. `share`: notes that several have say the same of all, and are printed once,
    below the last.
    """
    from cuecard.core.tables.texts import remarks_of

    every = [each for each in tables if each.lines or each.notes]
    last = {note: at for at, each in enumerate(every) for note in each.notes}
    for at, each in enumerate(every):
        _print(each)
        notes = (note for note in each.notes if not share or last[note] == at)
        remarks = (*remarks_of(each), *notes)
        for text in remarks:
            prose(text)
        if remarks:
            say("")


def _print(each: Table) -> None:
    if not each.lines:
        if each.title:
            say(each.title)
        return
    texts = [[_short_with_interval(cell) for cell in line] for line in each.lines]
    styles = [[_style(cell) for cell in line] for line in each.lines]
    words = {at for at in range(len(each.headings)) if each.is_of_words(at)}
    for at, columns in enumerate(_blocks(each.headings, texts, words)):
        table(
            each.title if not at else "",
            [each.headings[column] for column in columns],
            [[line[column] if column < len(line) else "" for column in columns] for line in texts],
            numbers=[n for n, at in enumerate(columns) if at not in words],
            styles=[[line[column] for column in columns if column < len(line)] for line in styles],
        )


def _style(cell: Cell) -> str:
    """More and less are told apart by colour too where the interval of a difference does not hold zero."""
    if not cell.apart:
        return ""
    return "cyan" if (cell.number or 0) > 0 else "magenta"


def _blocks(
    headings: Sequence[str], texts: Sequence[Sequence[str]], words: Container[int]
) -> Iterator[list[int]]:
    """The columns in blocks that fit the terminal, each beginning with the first column."""
    name = min(
        column_width(headings[0][:_NAME_MOST], [line[0][:_NAME_MOST] for line in texts]),
        _NAME_MOST + 2,
    )
    room = console().width - name
    block: list[int] = [0]
    used = 0
    for column in range(1, len(headings)):
        cells = [line[column] for line in texts if column < len(line)]
        cells += [headings[column]] if column in words else []
        width = column_width(headings[column], cells)
        if used + width > room + 2 and len(block) > 1:
            yield block
            block, used = [0], 0
        block.append(column)
        used += width
    yield block


def _short_with_interval(cell: Cell) -> str:
    """With the interval where room is scarce: `0.613 [.550 .672]`."""
    return _INTERVAL.sub(
        lambda found: f"[{_end(found['low'])} {_end(found['high'])}]", one_line(cell.text)
    )


def _end(text: str) -> str:
    return re.sub(r"^([+-]?)0\.(?=\d{3})", r"\1.", text)
