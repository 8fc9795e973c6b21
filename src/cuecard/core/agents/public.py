"""What an agent may know of a task besides the dialogue."""

from __future__ import annotations

from cuecard.core.tasks import Family, Table, Task, TaskLanguage
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import contains_term


class PublicTask(Frozen):
    """Family and language, and the columns of a table as far as the query or the opening names them.

    Nothing here comes from the gold answer alone.
    """

    family: Family
    language: TaskLanguage
    columns: tuple[str, ...] = ()


def public_task(task: Task) -> PublicTask:
    columns: tuple[str, ...] = ()
    if isinstance(task.gold, Table):
        told = f"{task.opening}\n{task.query}"
        columns = tuple(name for name in task.gold.column_names if contains_term(told, name))
    return PublicTask(family=task.family, language=task.language, columns=columns)
