"""A table of lines to choose from: the screen's own Enter opens the line under the cursor."""

from __future__ import annotations

from textual.binding import Binding

from cuecard.tui.widgets.fitted_table import FittedTable
from cuecard.tui.widgets.grid.grid import Grid

_WITHOUT_ENTER = [
    binding
    for binding in Grid.BINDINGS
    if isinstance(binding, Binding) and binding.id != "grid.choose"
]


class ListTable(FittedTable, inherit_bindings=False):
    """Moves by key; a click posts `Chosen`; Enter is left to the screen, whose footer names what
    it does.
    """

    BINDINGS = [*_WITHOUT_ENTER]


class FigureTable(Grid, inherit_bindings=False):
    """A table of figures with the cursor on a cell; Enter is the screen's, as in `ListTable`."""

    BINDINGS = [*_WITHOUT_ENTER]
