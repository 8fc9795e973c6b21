"""The tabs of a graph task's gold: its triples and its nodes."""

from cuecard.tui.screens.task.graph.keys import GraphPane
from cuecard.tui.screens.task.graph.nodes import NodesPane

__all__ = ["GraphPane", "NodesPane"]
