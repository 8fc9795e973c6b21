"""What a run shows on stderr while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cuecard.cli.labels import termination_label
from cuecard.cli.output import console, note
from cuecard.core.i18n import _
from cuecard.core.run_events import RunBegan, RunEvent, TrialBegan, TrialFinished, TurnPlayed
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from rich.console import Group

OnEvent = Callable[[RunEvent], None]
_LINES = 8


@contextmanager
def watching(title: str, names: Mapping[str, str]) -> Generator[OnEvent]:
    """A listener for a run's events: on a terminal a bar and the trials under way, elsewhere a line for
    each trial that ended. `names` by cell id.
    """
    if not console(stderr=True).is_terminal:
        yield _Lines(names).told
        return
    from rich.live import Live

    board = _Board(title, names)
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
    def __init__(self, title: str, names: Mapping[str, str]) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        self._names = names
        # The turn under way; unknown in a trial that goes on, until it has come to the next one.
        self._turns: dict[str, int | None] = {}
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            Elapsed(),
            console=console(stderr=True),
        )
        self._all = self._bar.add_task(one_line(title, 40), total=None)

    def told(self, event: RunEvent) -> None:
        match event:
            case RunBegan(cells=cells):
                self._bar.update(self._all, total=cells)
            case TrialBegan(cell=cell, resumed=resumed):
                self._turns[cell] = None if resumed else 1
            case TurnPlayed(cell=cell, turn=turn):
                self._turns[cell] = turn + 2
            case TrialFinished(cell=cell):
                self._turns.pop(cell, None)
                self._bar.advance(self._all)
            case _:
                pass

    def render(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        # Copied: the screen is drawn on another thread.
        playing = [(cell, turn) for cell, turn in self._turns.copy().items() if cell in self._names]
        lines = [
            Text(f"  {self._line(cell, turn)}", no_wrap=True, overflow="ellipsis")
            for cell, turn in playing[:_LINES]
        ]
        if len(playing) > _LINES:
            lines.append(Text("  " + _("and {n} more").format(n=len(playing) - _LINES)))
        return Group(self._bar, *lines)

    def _line(self, cell: str, turn: int | None) -> str:
        name = one_line(self._names[cell])
        return name if turn is None else _("{name} · turn {n}").format(name=name, n=turn)
