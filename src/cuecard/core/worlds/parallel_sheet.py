"""The fact sheet from which a model plays a search engine.

Facts have labels of their own there, so that a key of the task can never get into an entry.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import one_line
from cuecard.core.worlds.statements import Statement, Step

LABEL = re.compile(r"(?<![0-9a-z])fact-\d", re.IGNORECASE)
_OR = " / "
_ALSO: dict[TaskLanguage, str] = {"en": "{name} (also: {others})", "zh": "{name}（又作：{others}）"}
_QUESTION: dict[TaskLanguage, str] = {"en": "answers: {text}", "zh": "回答的问题：{text}"}
_NAMES: dict[TaskLanguage, str] = {
    "en": "only if the query names {names}",
    "zh": "仅当查询点名 {names} 时",
}
_OPEN: dict[TaskLanguage, str] = {
    "en": "only if the query does not say which of these it means",
    "zh": "仅当查询没有说明指的是其中哪一个时",
}
_SAYS: dict[TaskLanguage, str] = {
    "en": "only if the query says which one it means: {text}",
    "zh": "仅当查询说明了指的是哪一个时：{text}",
}


class FactSheet:
    """Labels for statements, and the lines in which a model reads them."""

    def __init__(self, statements: Sequence[Statement], language: TaskLanguage) -> None:
        self._language: TaskLanguage = language
        self._by_label = {f"fact-{n}": s for n, s in enumerate(statements, 1)}
        self._by_key = {statement.key: statement for statement in statements}

    def find(self, label: str) -> Statement | None:
        """The statement with this label or key."""
        label = label.strip()
        return self._by_label.get(label.casefold()) or self._by_key.get(label)

    @property
    def text(self) -> str:
        """One line for each fact: label, subject, attribute, value and, where it has one, the
        condition under which it may be stated.
        """
        return "\n".join(self._line(label, s) for label, s in self._by_label.items()) or "-"

    def _line(self, label: str, statement: Statement) -> str:
        subject = " · ".join(self._name(names) for names in statement.subject)
        told = [label, subject or "-", one_line(statement.attribute), one_line(statement.value)]
        if statement.step:
            told.append("; ".join(self._conditions(statement.step)))
        return " | ".join(told)

    def _name(self, names: Sequence[str]) -> str:
        name, *others = (one_line(name) for name in names)
        if not others:
            return name
        return _ALSO[self._language].format(name=name, others=_OR.join(others))

    def _conditions(self, step: Step) -> list[str]:
        language = self._language
        told = [_QUESTION[language].format(text=one_line(step.question))]
        if step.anchors:
            names = _OR.join(one_line(names[0]) for names in step.anchors)
            told.append(_NAMES[language].format(names=names))
        if step.lists_readings:
            told.append(_OPEN[language])
        elif step.clue:
            meant = _OR.join(filter(None, (one_line(step.reading), one_line(step.clue))))
            told.append(_SAYS[language].format(text=meant))
        return told
