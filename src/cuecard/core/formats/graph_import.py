"""The graph in a file, for an editor that takes its triples in."""

from __future__ import annotations

from pathlib import Path

from cuecard.core.errors import CuecardError, FileProblem, FileProblems
from cuecard.core.formats.registry import FORMATS, detect
from cuecard.core.i18n import _
from cuecard.core.tasks.graph import Graph


def graph_in(path: Path) -> Graph:
    """The gold graph of a GraphML, Turtle or JSON-LD file, or of any file of one graph task. Raises
    `FileProblems` with all that is wrong with it, `CuecardError` when no format knows it.
    """
    name = detect(path) if path.is_file() else None
    if name is None:
        reason = _("is no file in a format that is known") if path.exists() else _("is not there")
        raise CuecardError(_("This graph cannot be read"), f"{path}: {reason}")
    tasks, problems = FORMATS[name].read_tasks(path)
    graphs = [task.gold for task in tasks if isinstance(task.gold, Graph)]
    if not problems and len(graphs) != 1:
        reason = _("holds {n} graphs, not one").format(n=len(graphs))
        problems = [FileProblem(str(path), "", reason)]
    if problems:
        raise FileProblems(_("This graph cannot be read"), problems)
    return graphs[0]
