"""What a run shows on stderr while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from cuecard.cli.labels import termination_label
from cuecard.cli.output import console, note
from cuecard.core.i18n import _, ngettext
from cuecard.core.run_events import RunBegan, RunEvent, TrialFinished
from cuecard.core.text import one_line
from cuecard.lab.tally import Tally

if TYPE_CHECKING:
    from rich.console import Group

OnEvent = Callable[[RunEvent], None]
_LINES = 8


@contextmanager
def watching(title: str, names: Mapping[str, str], currency: str = "USD") -> Generator[OnEvent]:
    """A listener for a run's events: on a terminal a bar, what was done and spent, and the trials under
    way; elsewhere a line for each trial that ended. `names` by cell id.
    """
    if not console(stderr=True).is_terminal:
        yield _Lines(names).told
        return
    from rich.live import Live

    board = _Board(title, names, currency)
    with Live(
        console=console(stderr=True),
        get_renderable=board.render,
        transient=True,
        refresh_per_second=5,
    ):
        yield board.told


class _Lines:
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._total = self._ended = 0

    def told(self, event: RunEvent) -> None:
        if isinstance(event, RunBegan):
            self._total = event.cells
        elif isinstance(event, TrialFinished):
            self._ended += 1
            name = self._names.get(event.cell, "")
            end = termination_label(event.termination)
            line = f"{self._ended}/{self._total} {name}: {end}" if name else ""
            if line:
                note(one_line(line))


class _Board:
    def __init__(self, title: str, names: Mapping[str, str], currency: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        self._names = names
        self._currency = currency
        self._tally = Tally()
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            Elapsed(),
            console=console(stderr=True),
        )
        self._all = self._bar.add_task(one_line(title, 40), total=None)

    def told(self, event: RunEvent) -> None:
        self._tally.told(event)
        if isinstance(event, RunBegan):
            self._bar.update(self._all, total=event.cells)
        elif isinstance(event, TrialFinished):
            self._bar.advance(self._all)

    def render(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        # Copied: the screen is drawn on another thread.
        playing = [(c, turn) for c, turn in self._tally.by_cell.copy().items() if c in self._names]
        lines = [Text(f"  {tally_line(self._tally, self._currency)}", no_wrap=True, style="dim")]
        lines += [
            Text(f"  {self._line(cell, turn)}", no_wrap=True, overflow="ellipsis")
            for cell, turn in playing[:_LINES]
        ]
        if (rest := len(playing) - _LINES) > 0:
            more = ngettext("and {n} more", "and {n} more", rest).format(n=rest)
            lines.append(Text(f"  {more}"))
        return Group(self._bar, *lines)

    def _line(self, cell: str, turn: int | None) -> str:
        name = one_line(self._names[cell])
        return name if turn is None else _("{name} · turn {n}").format(name=name, n=turn)


def tally_line(tally: Tally, currency: str) -> str:
    """Turns a second, tokens, cost, errors, and the time that is left, those that are known."""
    parts = [_("{n:.1f} turns/s").format(n=tally.turns_a_second)]
    if tally.calls:
        used = tally.usage
        parts.append(
            _("{calls} calls, {n} tokens").format(
                calls=tally.calls, n=f"{used.prompt + used.completion:,}"
            )
        )
    if tally.cost is not None:
        parts.append(f"{tally.cost:.4f} {currency}")
    errors = tally.failed + tally.problems
    if errors:
        parts.append(_("failed: {n}").format(n=errors))
    left = tally.seconds_left
    if left is not None:
        parts.append(_("{time} left").format(time=timedelta(seconds=round(left))))
    return " · ".join(parts)
