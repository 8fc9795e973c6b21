"""The side of the tab of triples: neighbours, figures, and the sources and note of one triple."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_figures import figures
from cuecard.annotate.authoring.graph_neighbours import Surroundings
from cuecard.core.i18n import N_, _
from cuecard.tui.screens.task.form import Form
from cuecard.tui.screens.task.forms_shared import SOURCES
from cuecard.tui.screens.task.graph.around import AroundPane, FiguresPane, headline
from cuecard.tui.screens.task.specs import FieldSpec

DETAIL = (
    SOURCES,
    FieldSpec(("note",), N_("Note"), "text", tip=N_("The sentence of a source, or a remark")),
)


class GraphSide(Vertical):
    """`show` the surroundings of an entity; knows what it has counted, and counts no more than once."""

    def __init__(self) -> None:
        super().__init__()
        self._surroundings = Surroundings(())
        self._counted: object = None
        self.summary = ""

    def compose(self) -> ComposeResult:
        yield AroundPane()
        yield FiguresPane()

    @property
    def around(self) -> AroundPane:
        return self.query_one(AroundPane)

    def show(self, edit: TaskEdit, entity: str) -> None:
        """Show an entity's neighbours and the graph's figures as they are now."""
        triples, nodes = edit.items(ops.TRIPLES), edit.items(ops.NODES)
        if not self._surroundings.is_of(triples):
            self._surroundings = Surroundings(triples)
        self.around.show(self._surroundings, entity)
        if self._counted != (id(triples), id(nodes), edit.version):
            self._counted = (id(triples), id(nodes), edit.version)
            found = figures(triples, nodes)
            self.summary = headline(found) if triples else ""
            self.query_one(FiguresPane).show(found)


class TripleDetail(Vertical):
    """The sources and the note of one triple; `load` with -1 shows none."""

    def compose(self) -> ComposeResult:
        yield Form(DETAIL)

    @property
    def form(self) -> Form:
        return self.query_one(Form)

    def on_mount(self) -> None:
        self.border_title = _("Triple")

    def load(self, edit: TaskEdit, index: int) -> None:
        self.form.display = index >= 0
        if index >= 0:
            self.border_title = _("Triple {n}").format(n=index + 1)
            self.form.load(edit, (*ops.TRIPLES, index))
        else:
            self.border_title = _("Triple")
            self.form.unload()
