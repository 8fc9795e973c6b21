"""What a world knows of a task's gold, and which of it is no secret."""

from __future__ import annotations

from functools import cached_property

from cuecard.core.tasks import Graph, Task
from cuecard.core.text import normalise
from cuecard.core.worlds.guard import ValueGuard
from cuecard.core.worlds.statements import (
    Statement,
    compile_statements,
    final_answers,
    public_text,
)


class Secrets:
    """The statements of a task, and the values in them. Built when first asked for."""

    def __init__(self, task: Task) -> None:
        self._task = task

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return compile_statements(self._task)

    @cached_property
    def guard(self) -> ValueGuard:
        """Guards every value, the final answers and the entities of a graph, which are all values."""
        terms = [value for statement in self.statements for value in statement.values]
        terms.extend(final_answers(self._task))
        if isinstance(self._task.gold, Graph):
            terms.extend(n for s in self.statements for part in s.subject for n in part)
        return ValueGuard(terms)

    @cached_property
    def public(self) -> frozenset[str]:
        """The guarded terms that the task's public text names, without the final answers."""
        finals = {normalise(answer) for answer in final_answers(self._task)}
        return self.guard.named_in(public_text(self._task)) - finals
