"""placeholder"""

from cuecard.tui.screens.task.collection import Collection
from cuecard.tui.screens.task.forms_graph import NODES


class NodesPane(Collection):
    def __init__(self, *, id: str) -> None:
        super().__init__(NODES, id=id)
