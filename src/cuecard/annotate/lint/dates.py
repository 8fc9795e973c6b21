"""Dates: a closed world lies ahead, everything else behind."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date

from cuecard.annotate.lint.case import Case, said_by
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.core.i18n import _
from cuecard.core.scoring.dates import parse_plain_date
from cuecard.core.scoring.numerals import parse_han
from cuecard.core.tasks import FactWorld, Metric, Preprocess, Task

_YEAR = re.compile(r"(?<![\d.,])([12]\d{3})(?![\d,]|\.\d)|([一二][〇零一二三四五六七八九]{3})\s*年")
_MAYBE_AHEAD = re.compile(r"[2-9]\d{3}|[二三][〇零一二三四五六七八九]{3}")
_IS_DATE = re.compile(
    r"\b(?:year|date|day|since|until)\b|\b\w+ed (?:in|on)$|^(?:born|built) (?:in|on)$|年|日期|时间"
)
_BARE = re.compile(r"[2-9]\d{3}")


def lint_dates(case: Case) -> Iterator[Finding]:
    """L040 and L041."""
    if case.world is not None:
        if case.task.query.strip() and not _lies_ahead(case, case.world):
            yield warning(
                "L040",
                "gold.facts",
                _("nothing in the query or the facts has a date that is still to come"),
                _("Set the world in a year after {year}.").format(year=case.today.year),
            )
        return
    for place, text, known, about in _values(case):
        if _is_ahead(text, known, case.today):
            yield warning(
                "L041",
                place,
                _("“{date}” is still to come").format(date=text),
                _("Check the date; only closed worlds are set in the future."),
                about,
            )


def _texts_of(task: Task, world: FactWorld) -> Iterator[str]:
    yield from (task.title, task.query, *task.sub_queries)
    if task.persona:
        yield task.persona.initial_query
        yield from (stage.line for stage in task.persona.stages)
    for fact in world.facts:
        yield from (fact.key, fact.value, fact.entity, fact.attribute)


def _lies_ahead(case: Case, world: FactWorld) -> bool:
    for text in _texts_of(case.task, world):
        for arabic, han in _YEAR.findall(unicodedata.normalize("NFKC", text)):
            year = int(arabic) if arabic else parse_han(han) or 0
            if year > case.today.year:
                return True
        moment = parse_plain_date(text)
        if moment is not None and moment.first_day > case.today:
            return True
    return False


def _values(case: Case) -> Iterator[tuple[str, str, bool, str]]:
    """Gold values with their place; whether a bare number among them is a year; and what they are."""
    if case.graph is not None:
        for index, triple in case.triples:
            name = case.graph.name_of(triple.tail)
            if _MAYBE_AHEAD.search(name):
                known = _IS_DATE.search(triple.relation.casefold()) is not None
                yield f"gold.triples[{index}].tail", name, known, said_by(case.graph, triple)
    if case.table is not None:
        days = [
            Metric.DATE_NEAR in c.metric or Preprocess.NORM_DATE in c.preprocess
            for c in case.table.columns
        ]
        for index, row in enumerate(case.table.rows):
            for at, cell in enumerate(row):
                if _MAYBE_AHEAD.search(cell):
                    about = " | ".join((*case.table.key_of(row), case.table.columns[at].name))
                    yield f"gold.rows[{index}][{at}]", cell, days[at], about
    if case.chain is not None:
        for index, step in enumerate(case.chain.steps):
            yield f"gold.steps[{index}].target", step.target, True, step.question
        yield "gold.final_answer", case.chain.final_answer, True, "final_answer"


def _is_ahead(text: str, known: bool, today: date) -> bool:
    plain = unicodedata.normalize("NFKC", text).strip()
    if _BARE.fullmatch(plain):
        return known and int(plain) > today.year
    moment = parse_plain_date(plain)
    return moment is not None and moment.first_day > today
