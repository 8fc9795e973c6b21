"""A labelling set whose items hold what breaks forms: markup, scripts, templates of other programs, very long texts."""

from __future__ import annotations

from typing import Any

from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.predictions import TablePrediction
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Item
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples

MARKUP = "<img src=x onerror=\"document.title='RUN'\"><script>document.title='RUN'</script>"
TEMPLATE = "$text $question {{task}} ${alert(1)} &lt; ]]> <View/>"

GIVEN: dict[str, tuple[int, tuple[str, str, bool]]] = {
    "cell/0/Founded": (1, ("yes", "seen in a <b>book</b>", False)),
    f"cell/0/{MARKUP}": (1, ("no", "", True)),
    "predicted/2": (2, ("unsure", "第二行\nand a second line", False)),
}
"""By item, who labels it elsewhere (1 is Ana, 2 is Ben): the label, the note, and whether gold is marked as wrong."""
BEFORE = ("row/0", ("no", "mine", False))
"""What Ana has labelled here before."""


def _table_task(huge: str) -> Task:
    columns: list[dict[str, Any]] = [
        {"name": "Country"},
        {"name": MARKUP, "criterion": TEMPLATE},
        {"name": "Founded", "criterion": "the year alone"},
    ]
    gold = {
        "family": "table",
        "columns": columns,
        "unique_columns": ["Country"],
        "rows": [["France", MARKUP, "1792"], [TEMPLATE, huge, "1871"]],
    }
    return Task.model_validate(
        {
            "id": "hostile",
            "title": TEMPLATE,
            "language": "en",
            "query": f"Since when? {MARKUP}",
            "gold": gold,
        }
    )


def hostile_set(workspace: Workspace, length: int = 100) -> int:
    """The set's number. `length`: characters of its longest cell."""
    huge = ("long " * length)[:length]
    table = TablePrediction(
        columns=("Country", MARKUP, "Founded"),
        rows=(("France", TEMPLATE, "1792"), (TEMPLATE, huge, "1870")),
    )
    graph = triples(*GOLD[:2], (MARKUP, "is", "5"))
    runs = [
        ended_run(workspace, _table_task(huge), [table]),
        ended_run(workspace, graph_task(), [graph]),
    ]
    (first,), (second,) = (workspace.runs.trials(run) for run in runs)
    cells = ("cell/0/Founded", f"cell/0/{MARKUP}", "cell/1/Founded", f"cell/1/{MARKUP}", "row/0")
    keys = [(first.id, key) for key in cells]
    keys += [(second.id, key) for key in ("triple/1", "predicted/2")]
    items = [SetItem(trial_id=trial, item=Item.of_key(key)) for trial, key in keys]
    key, (value, note, _wrong) = BEFORE
    workspace.verdicts.label_item(first.id, Item.of_key(key), "Ana", LabelValue(value), note)
    return workspace.label_sets.create(name="s", created_by="Ana", items=items).id
