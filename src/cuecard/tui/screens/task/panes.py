"""Which pane stands on which tab."""

from __future__ import annotations

from cuecard.tui.screens.task.brief import BriefPane
from cuecard.tui.screens.task.checkpoints.pane import StepsPane
from cuecard.tui.screens.task.comments import CommentsPane
from cuecard.tui.screens.task.evidence import EvidencePane
from cuecard.tui.screens.task.facts.pane import FactsPane
from cuecard.tui.screens.task.forms_chain import CHAIN
from cuecard.tui.screens.task.forms_facts import ANSWER
from cuecard.tui.screens.task.graph import GraphPane, NodesPane
from cuecard.tui.screens.task.history import HistoryPane
from cuecard.tui.screens.task.pane import FormPane, TaskPane
from cuecard.tui.screens.task.persona import PersonaPane
from cuecard.tui.screens.task.problems import ProblemsPane
from cuecard.tui.screens.task.stages import StagesPane
from cuecard.tui.screens.task.table.columns import ColumnsPane
from cuecard.tui.screens.task.table.pane import TablePane
from cuecard.tui.state.task_places import TabId


def make_pane(tab: TabId) -> TaskPane:
    """A new pane for the tab, with the tab's id."""
    match tab:
        case "brief":
            return BriefPane(id=tab)
        case "persona":
            return PersonaPane(id=tab)
        case "stages":
            return StagesPane(id=tab)
        case "graph":
            return GraphPane(id=tab)
        case "nodes":
            return NodesPane(id=tab)
        case "table":
            return TablePane(id=tab)
        case "columns":
            return ColumnsPane(id=tab)
        case "steps":
            return StepsPane(id=tab)
        case "chain":
            return FormPane(CHAIN, (), id=tab)
        case "facts":
            return FactsPane(id=tab)
        case "answer":
            return FormPane(ANSWER, ("gold",), id=tab)
        case "sources":
            return EvidencePane(id=tab)
        case "comments":
            return CommentsPane(id=tab)
        case "problems":
            return ProblemsPane(id=tab)
        case "history":
            return HistoryPane(id=tab)
