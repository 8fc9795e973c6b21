"""The form after a session as it is being filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cuecard.annotate.session_form import missing
from cuecard.core.config_play import FormQuestion


@dataclass
class FormState:
    """`answers` may be incomplete; what is kept of them is what `to_kept` gives."""

    questions: Sequence[FormQuestion] = ()
    answers: dict[str, int | str] = field(default_factory=dict[str, int | str])

    @classmethod
    def of(cls, questions: Sequence[FormQuestion], kept: Mapping[str, Any]) -> FormState:
        """As it was left. Answers that no longer fit these questions are passed over."""
        state = cls(questions)
        for question in questions:
            value = kept.get(question.key)
            if question.kind == "scale" and type(value) is int:
                if question.lowest <= value <= question.highest:
                    state.answers[question.key] = value
            elif isinstance(value, str) and (question.kind == "text" or value in question.options):
                state.answers[question.key] = value
        return state

    def to_kept(self) -> dict[str, int | str]:
        return {key: value for key, value in self.answers.items() if value != ""}

    @property
    def missing(self) -> tuple[FormQuestion, ...]:
        """The questions that must be answered yet."""
        return missing(self.questions, self.answers)

    def press(self, question: FormQuestion, digit: int) -> bool:
        """Answer by a digit: a number of the scale (0 is ten where the scale has no nought), or the
        option of that number from 1. Whether it is an answer.
        """
        if question.kind == "scale":
            value = 10 if digit == 0 and question.lowest > 0 else digit
            if not question.lowest <= value <= question.highest:
                return False
            self.answers[question.key] = value
            return True
        if question.kind == "choice" and 1 <= digit <= len(question.options):
            self.answers[question.key] = question.options[digit - 1]
            return True
        return False

    def step(self, question: FormQuestion, by: int) -> None:
        """To the next (1) or the previous (-1) answer; the first step goes to the near end of the scale."""
        values = self.values(question)
        now = self.answers.get(question.key)
        if now in values:
            at = max(0, min(len(values) - 1, values.index(now) + by))
        else:
            at = 0 if by > 0 else len(values) - 1
        if values:
            self.answers[question.key] = values[at]

    @staticmethod
    def values(question: FormQuestion) -> list[int | str]:
        """The answers of a scale or choice, in order."""
        if question.kind == "scale":
            return list(range(question.lowest, question.highest + 1))
        return list(question.options)
