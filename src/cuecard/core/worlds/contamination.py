"""What a page or a reply of a tool gives away of the benchmark itself, at three levels."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from cuecard.core.i18n import N_, _
from cuecard.core.tasks.models import Task
from cuecard.core.text import is_cjk, normalise, occurrences, one_line
from cuecard.core.worlds.blocking import BlockList
from cuecard.core.worlds.statements import compile_statements, final_answers

NAMES = ("VibeSearchBench", "WideSearch", "DiscoBench", "Mind-ParaWorld")
"""Names of benchmarks whose tasks run here."""
PUBLISHERS = (
    "huggingface.co",
    "hf.co",
    "hf-mirror.com",
    "modelscope.cn",
    "kaggle.com",
    "zenodo.org",
    "figshare.com",
    "osf.io",
    "github.com",
    "raw.githubusercontent.com",
    "github.io",
    "gitlab.com",
    "gitee.com",
    "arxiv.org",
    "openreview.net",
    "aclanthology.org",
    "paperswithcode.com",
)
"""Hosts on which benchmarks, papers and data are published."""

_WORDS, _HAN = 8, 12
"""Units of an n-gram: words, or Han characters."""
_RUNS = {False: 20, True: 30}
"""So long a common run holds the query whatever else differs; by whether it is counted in Han characters."""
_SHARE = 0.5
_FEW = 4
"""With fewer n-grams there is no share: the whole text must occur."""
_NEAR = 300
"""Characters within which both parts of a pair must stand."""
_PAIRS = 3
_WORD = re.compile(r"[^\W_]+")
_HAN_CHARACTER = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_CONTEXT = 120


class Level(IntEnum):
    """How much a text gives away. Trials that met an answer count as contaminated; the lower levels are only told."""

    NONE = 0
    METADATA = 1
    QUESTION = 2
    ANSWER = 3

    @property
    def label(self) -> str:
        return _(_LABELS[self])


_LABELS = {
    Level.NONE: N_("nothing"),
    Level.METADATA: N_("names the benchmark"),
    Level.QUESTION: N_("holds the question"),
    Level.ANSWER: N_("holds the answer beside it"),
}


@dataclass(frozen=True)
class Exposure:
    """What a text gives away. `reason`, translated; `passage`: the place in the text that shows it, on one line."""

    level: Level
    reason: str = ""
    passage: str = ""


NOTHING = Exposure(Level.NONE)


@dataclass(frozen=True)
class Secret:
    """What must not stand on a page: the texts that an agent is given, final answers, pairs of gold (names of the one
    part, names of the other), the names of the benchmark, and its canary.
    """

    questions: tuple[str, ...]
    answers: tuple[str, ...] = ()
    pairs: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    names: tuple[str, ...] = NAMES
    canary: str = ""

    @cached_property
    def asked(self) -> tuple[Wanted, ...]:
        return tuple(Wanted(text) for text in self.questions)


def canary_of(task_id: str, canary: str = "") -> str:
    """What stands in files that hold a task's gold, 32 hexadecimal digits: `canary` if the benchmark has one, else the
    task's own, which nobody writes by accident.
    """
    return canary or hashlib.sha256(f"cuecard canary {task_id}".encode()).hexdigest()[:32]


def secret_of(task: Task, names: Iterable[str] = (), canary: str = "") -> Secret:
    """Of a task. `names`: further names of the benchmark; `canary`: its own, if it has one."""
    pairs = {
        (
            tuple(normalise(name) for part in statement.subject for name in part),
            tuple(normalise(value) for value in statement.values),
        ): None
        for statement in compile_statements(task)
        if statement.subject
    }
    return Secret(
        questions=tuple(dict.fromkeys((task.query, task.opening))),
        answers=tuple(normalise(answer) for answer in final_answers(task)),
        pairs=tuple(pairs),
        names=(*NAMES, *names),
        canary=canary_of(task.id, canary),
    )


def units(text: str, han: bool) -> list[str]:
    """The words (runs of letters and digits, in lower case, after NFKC) of a text, or its Han characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return (_HAN_CHARACTER if han else _WORD).findall(folded)


class Wanted:
    """A text that is looked for in others, by the script that it is mostly written in."""

    def __init__(self, text: str) -> None:
        words = [word for word in units(text, False) if not _HAN_CHARACTER.match(word)]
        han = units(text, True)
        self.han = len(han) > len(words) and is_cjk(text)
        self.units = han if self.han else units(text, False)
        self.size = _HAN if self.han else _WORDS
        self._mark = "" if self.han else " "
        count = len(self.units) - self.size + 1
        self._grams = [
            self._joined(self.units[start : start + self.size]) for start in range(count)
        ]
        self._places: dict[str, list[int]] = {}
        for place, gram in enumerate(self._grams):
            self._places.setdefault(gram, []).append(place)

    def _joined(self, found: Sequence[str]) -> str:
        return self._mark.join(found)

    def spread(self, text: str) -> str:
        """A text as `containment` and `run` take it: its units, each between marks."""
        return f"{self._mark}{self._joined(units(text, self.han))}{self._mark}"

    def containment(self, spread: str) -> float | None:
        """The share of this text's n-grams that a text holds, in [0, 1]; None with fewer than four of them."""
        grams = self._places
        if len(grams) < _FEW:
            return None
        return sum(self._holds(spread, gram) for gram in grams) / len(grams)

    def _holds(self, spread: str, part: str) -> bool:
        return f"{self._mark}{part}{self._mark}" in spread

    def run(self, spread: str) -> int:
        """The longest common run in units, where it is at least one n-gram long; else 0."""
        longest = 0
        for start in range(len(self._grams)):
            length = max(self.size, longest + 1)
            while start + length <= len(self.units) and self._holds(
                spread, self._joined(self.units[start : start + length])
            ):
                longest, length = length, length + 1
        return longest

    def stands_in(self, spread: str) -> bool:
        """Whether a text holds this one: half of its n-grams, a long run, or all of it where it is short."""
        if not self.units:
            return False
        share = self.containment(spread)
        if share is None:
            return self._holds(spread, self._joined(self.units))
        return share >= _SHARE or (share > 0 and self.run(spread) >= _RUNS[self.han])


def exposure(text: str, address: str, secret: Secret) -> Exposure:
    """What a text tells of a task: a page with its title, a search result, or a reply of a tool (`address` empty)."""
    if secret.canary and secret.canary.casefold() in text.casefold():
        return Exposure(Level.ANSWER, _("it holds the canary"), secret.canary)
    spreads: dict[bool, str] = {}
    for wanted in secret.asked:
        if wanted.han not in spreads:
            spreads[wanted.han] = wanted.spread(text)
        if wanted.stands_in(spreads[wanted.han]):
            return _beside(text, secret) or Exposure(Level.QUESTION, _("it holds the question"))
    return _metadata(text, address, secret)


def _beside(text: str, secret: Secret) -> Exposure | None:
    """What is told of the answer on a text that holds the question."""
    page = normalise(text)
    for answer in secret.answers:
        if found := next(iter(occurrences(page, answer)), None):
            return Exposure(
                Level.ANSWER, _("it holds the question and the final answer"), _around(page, *found)
            )
    near = [place for pair in secret.pairs if (place := _near(page, *pair))]
    if len(near) >= _PAIRS and 2 * len(near) >= len(secret.pairs):
        reason = _("it holds the question and {n} of {all} items of gold")
        return Exposure(
            Level.ANSWER, reason.format(n=len(near), all=len(secret.pairs)), _around(page, *near[0])
        )
    return None


def _near(page: str, ones: Iterable[str], others: Iterable[str]) -> tuple[int, int] | None:
    """Where one of the names and one of the others stand near each other."""
    tails = sorted(place for name in others for place in occurrences(page, name))
    for name in ones if tails else ():
        for start, end in occurrences(page, name):
            for left, right in tails:
                if max(left - end, start - right) <= _NEAR:
                    return min(start, left), max(end, right)
    return None


def _metadata(text: str, address: str, secret: Secret) -> Exposure:
    if address and _PUBLISHES.blocks(address):
        spread = Wanted("").spread(f"{text} {address}").replace(" ", "")
        for name in secret.names:
            squeezed = "".join(units(name, False))
            if squeezed and squeezed in spread:
                return Exposure(Level.METADATA, _("it names {name}").format(name=name))
    return NOTHING


_PUBLISHES = BlockList(PUBLISHERS)


def _around(page: str, start: int, end: int) -> str:
    return one_line(page[max(0, start - _CONTEXT) : end + _CONTEXT], 3 * _CONTEXT)
