"""The exam of a judge in tasks with a final answer (checkpoints, facts): whether an answer says what gold says.

A task has one final answer, so the sub-questions and facts behind it are examined in the same way, each as a question of its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cuecard.core.exam import texts
from cuecard.core.exam.probes import MOST_TARGETS, Draw, ExamFamily, ExamInput, Target
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactKind, FactWorld
from cuecard.core.predictions import AnswerPrediction
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Item, ItemKind

_NEVER = (
    *("K07", "K20", "K22", "K23", "K29", "K30", "K31", "K32"),
    *("V02", "V03", "V04", "V05", "V09"),
)


@dataclass(frozen=True)
class Question:
    """A question with its answer. `task`: in which it is the final one; `others`: values that are other answers, the
    likeliest to be confused first.
    """

    at: str
    task: Task
    names: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class _Exam:
    questions: Sequence[Question]
    draw: Draw

    def _number(self, probe: str, question: Question) -> int:
        return self.draw.number(probe, self.questions.index(question))

    def other(self, question: Question) -> str | None:
        """Another value that is surely wrong."""
        return next((o for o in question.others if not texts.alike(o, question.names)), None)

    def changes(self) -> Mapping[str, Callable[[Question], str | None]]:
        right: dict[str, texts.Change] = {
            "K01": lambda text, _language, _turn: text,
            "K04": texts.number_otherwise,
            "K05": texts.date_otherwise,
            "K06": texts.unit_converted,
            "K08": texts.in_a_sentence,
        }
        wrong: dict[str, texts.Change] = {"K24": texts.shifted, "K25": texts.unit_wrong}
        near: dict[str, texts.Change] = {"K26": texts.negated, "K27": texts.filler}
        return {
            "K02": lambda q: self._turned("K02", q, q.names[1:]),
            "K03": lambda q: texts.name_otherwise(q.names[0], q.task.query),
            "K21": self.other,
            "K28": self._hedged,
            **{id: self._by_text(id, change) for id, change in right.items()},
            **{id: self._by_text(id, change, texts.alike) for id, change in wrong.items()},
            **{id: self._by_text(id, change, texts.same) for id, change in near.items()},
        }

    def _by_text(
        self,
        id: str,
        change: texts.Change,
        too_near: Callable[[str, Sequence[str]], bool] = lambda _text, _names: False,
    ) -> Callable[[Question], str | None]:
        def changed(question: Question) -> str | None:
            made = change(question.names[0], question.task.language, self._number(id, question))
            if made is None or (made == question.names[0] and id != "K01"):
                return None
            return None if too_near(made, question.names) else made

        return changed

    def _turned(self, id: str, question: Question, names: Sequence[str]) -> str | None:
        return names[self._number(id, question) % len(names)] if names else None

    def _hedged(self, question: Question) -> str | None:
        other = self.other(question)
        return other and texts.hedged(question.names[0], other, question.task.language)

    def inputs(self) -> Iterator[ExamInput]:
        for id, change in sorted(self.changes().items()):
            made = (
                (question, change(question)) for question in self.draw.order(id, self.questions)
            )
            found = [(question, text) for question, text in made if text is not None][:MOST_TARGETS]
            for number, (question, text) in enumerate(found):
                yield _input(f"{id}/{number}", question, text, right=id < "K20")
        yield from self._unmoved()

    def _unmoved(self) -> Iterator[ExamInput]:
        """A right and a wrong answer, of two questions where there are two, and each given otherwise."""
        order = self.draw.order("V00", self.questions)
        wrong = next((question for question in order if self.other(question)), None)
        right = next((question for question in order if question != wrong), wrong)
        if right is not None:
            yield from self._otherwise("right", right, right.names[0])
        if wrong is not None and (other := self.other(wrong)):
            yield from self._otherwise("wrong", wrong, other)

    def _otherwise(self, which: str, question: Question, text: str) -> Iterator[ExamInput]:
        base, language, right = f"V00/{which}", question.task.language, which == "right"
        spelled = texts.other_spelling(text, language, self._number("V10", question))
        wordy = texts.neutral(language) + ("" if language == "zh" else " ") + text
        made = {"V01": text, "V07": text, "V08": wordy, "V10": spelled}
        if not right:
            made |= {"V06": texts.with_note(text, language), "V11": texts.fluent(text, language)}
        yield _input(base, question, text, right=right)
        for id, given in made.items():
            changed = _input(f"{id}/{which}", question, given, right=right, base=base)
            if id == "V07":
                other = "en" if language == "zh" else "zh"
                task = changed.task.model_copy(update={"language": other})
                changed = ExamInput(changed.key, task, changed.prediction, changed.targets, base)
            yield changed


def _input(key: str, question: Question, text: str, *, right: bool, base: str = "") -> ExamInput:
    target = Target(
        at=question.at,
        item=Item(kind=ItemKind.ANSWER),
        right=right,
        gold=question.names[0],
        given=text,
    )
    return ExamInput(key, question.task, AnswerPrediction(answer=text), (target,), base)


def _of_chain(
    task: Task, gold: CheckpointChain, draw: Draw, _others: object
) -> Iterator[ExamInput]:
    last = gold.steps[-1]
    ambiguous = [
        name for step in gold.steps if step.ambiguity for name in step.ambiguity.candidates
    ]
    targets = [step.target for step in gold.steps]
    own = list(last.ambiguity.candidates) if last.ambiguity else []
    names = (gold.final_answer, *gold.final_aliases)
    found = [Question("final", task, names, (*own, *ambiguous, *targets))]
    for number, step in enumerate(gold.steps):
        if texts.same(step.target, names):
            continue
        asked = gold.model_copy(update={"final_answer": step.target, "final_aliases": step.aliases})
        update = {"gold": asked, "query": step.question}
        own = list(step.ambiguity.candidates) if step.ambiguity else []
        others = (*own, *(name for name in (*targets, gold.final_answer) if name != step.target))
        found.append(Question(f"step {number}", task.model_copy(update=update), step.names, others))
    return _Exam(found, draw).inputs()


_ASKED = {
    "en": "According to the task's world, what is this: {key}?",
    "zh": "在题目设定的世界里，这一项是什么：{key}？",
}


def _of_world(task: Task, gold: FactWorld, draw: Draw, _others: object) -> Iterator[ExamInput]:
    values = [fact.value for fact in gold.facts if fact.kind is FactKind.FACT]
    names = (gold.answer, *gold.answer_aliases)
    found = [Question("final", task, names, _most_similar(gold.answer, values))]
    for number, fact in enumerate(gold.facts):
        if fact.kind is FactKind.RULE:
            continue
        answer = (fact.value, *fact.aliases)
        asked = gold.model_copy(update={"answer": fact.value, "answer_aliases": fact.aliases})
        query = _ASKED[task.language].format(key=fact.key)
        others = _most_similar(fact.value, [*values, gold.answer])
        changed = task.model_copy(update={"gold": asked, "query": query})
        found.append(Question(f"fact {number}", changed, answer, others))
    return _Exam(found, draw).inputs()


def _most_similar(value: str, others: Sequence[str]) -> tuple[str, ...]:
    """Numbers first for a number, words first for words."""
    number = any(char.isdigit() for char in value)
    kept = [other for other in dict.fromkeys(others) if other != value]
    return tuple(sorted(kept, key=lambda other: any(char.isdigit() for char in other) != number))


def _calls(_given: ExamInput, _batch: int) -> int:
    return 1


CHECKPOINTS: Final[ExamFamily[CheckpointChain]] = ExamFamily(_of_chain, _calls, _NEVER)
FACTS: Final[ExamFamily[FactWorld]] = ExamFamily(_of_world, _calls, _NEVER)
