"""Inputs that must not move a verdict, of families that hand in a list: one right and one wrong item in it, given otherwise."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from cuecard.core.exam import texts
from cuecard.core.exam.probes import Draw, ExamInput
from cuecard.core.tasks.models import Task, TaskLanguage

Line = TypeVar("Line")
_L_contra = TypeVar("_L_contra", contravariant=True)


class InputMaker(Protocol[_L_contra]):
    """Makes an input: gold's items by their places, in this order; what is handed in; which of the targets count; what is handed
    in for each item; the input it is held against; the task, if it is another than the exam's.
    """

    def __call__(
        self,
        key: str,
        gold: Sequence[int],
        handed_in: Sequence[_L_contra],
        only: Sequence[int],
        given: Mapping[int, _L_contra],
        base: str,
        task: Task | None = None,
    ) -> ExamInput: ...


@dataclass(frozen=True)
class Listed(Generic[Line]):
    """`lines`: what is handed in for each item of gold, in their order. `changed` gives a line with the text that counts changed;
    `respelled` one with all of it in another spelling. `padding`: lines of another task; `words`: a line of neutral words, if
    that may stand there; `sentences`: whether the text may be a sentence.
    """

    task: Task
    draw: Draw
    lines: Mapping[int, Line]
    right: int
    wrong: int
    make: InputMaker[Line]
    changed: Callable[[Line, Callable[[str], str]], Line]
    respelled: Callable[[Line, int], Line]
    padding: Sequence[Line] = ()
    words: Line | None = None
    sentences: bool = True

    def inputs(self) -> Iterator[ExamInput]:
        right, wrong, lines = self.right, self.wrong, self.lines
        places, handed_in, both = list(lines), list(lines.values()), (right, wrong)
        language: TaskLanguage = self.task.language

        def same(
            key: str,
            gold: Sequence[int] = places,
            given: Sequence[Line] = handed_in,
            only: Sequence[int] = both,
            base: str = "V00",
            task: Task | None = None,
        ) -> ExamInput:
            return self.make(key, gold, given, only, lines, base, task)

        def otherwise(key: str, other: Mapping[int, Line]) -> ExamInput:
            changed = {**lines, **other}
            only = [place for place in both if place in other]
            return self.make(key, places, list(changed.values()), only, changed, "V00")

        rest = [place for place in places if place not in both]
        yield same("V00", base="")
        yield same("V01")
        yield same("V02", gold=places[::-1])
        yield same("V03", given=self.draw.order("V03", handed_in))
        yield same("V04/1/right", gold=[right], only=[right])
        yield same("V04/1/wrong", gold=[wrong], only=[wrong])
        yield same("V04/5", gold=sorted([right, wrong, *rest[:3]]))
        if self.padding:
            yield same("V05", given=[*handed_in, *self.padding])
        noted = self.changed(lines[wrong], lambda text: texts.with_note(text, language))
        yield otherwise("V06", {wrong: noted})
        other = "en" if language == "zh" else "zh"
        yield same("V07", task=self.task.model_copy(update={"language": other}))
        if self.words is not None:
            yield same("V08", given=[self.words, *handed_in])
        # Not the very middle, which stays where it is when a list is read from behind.
        middle = min(max(len(places) // 2 - 1, 0), len(rest))
        for name, at in (("middle", middle), ("first", 0), ("last", len(rest))):
            order = [*rest[:at], right, wrong, *rest[at:]]
            base = "" if name == "middle" else "V09/middle"
            yield same(f"V09/{name}", gold=order, given=[lines[i] for i in order], base=base)
        turned = {i: self.respelled(lines[i], self.draw.number("V10", i)) for i in both}
        yield otherwise("V10", turned)
        if self.sentences:
            sure = self.changed(lines[wrong], lambda text: texts.fluent(text, language))
            yield otherwise("V11", {wrong: sure})
