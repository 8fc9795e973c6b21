"""Tables, worlds and what is said about them elsewhere in the task."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from cuecard.annotate.authoring.likeness import plain
from cuecard.annotate.lint.case import Case
from cuecard.annotate.lint.finding import Finding, error, warning
from cuecard.annotate.lint.sameness import same_name
from cuecard.core.i18n import _
from cuecard.core.phrases import content_words, coverage
from cuecard.core.scoring.cells import norm_column
from cuecard.core.tasks import FactKind, FactWorld, Table, Task

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_THOUSANDS = re.compile(r"(?<=\d)[,’' ](?=\d{3}(?!\d))")
_TIME = re.compile(r"\d{1,2}:\d{2}")
_IS = r"\s*(?:is|was|of|are|were|=|:|为|是|等于)?\s*[$€£¥]?\s*"


def lint_gold_consistency(case: Case) -> Iterator[Finding]:
    """L033, L034 and L035."""
    if case.world is not None:
        yield from _one_value(case.world)
        yield from _derivation(case.world)
    if case.table is not None:
        yield from _asked_for(case.task, case.table)


def _one_value(world: FactWorld) -> Iterator[Finding]:
    first: dict[tuple[str, str], int] = {}
    for index, fact in enumerate(world.facts):
        what = (same_name(fact.entity), same_name(fact.attribute))
        if not all(what) or not fact.value:
            continue
        earlier = first.setdefault(what, index)
        other = world.facts[earlier]
        if earlier != index and (plain(other.value), other.unit) != (plain(fact.value), fact.unit):
            yield error(
                "L033",
                f"gold.facts[{index}].value",
                _("“{value}” here, “{other}” in fact {n}, for the same attribute").format(
                    value=fact.value, other=other.value, n=earlier + 1
                ),
                _("Remove one, or tell the attributes apart."),
                fact.key,
            )


def _derivation(world: FactWorld) -> Iterator[Finding]:
    text = _THOUSANDS.sub("", unicodedata.normalize("NFKC", world.derivation)).casefold()
    if not text.strip():
        return
    for index, fact in enumerate(world.facts):
        value = _plain_number(fact.value)
        said = value and _said_of(text, fact.attribute or fact.key)
        if fact.kind is FactKind.FACT and said and said != value:
            yield warning(
                "L034",
                f"gold.facts[{index}].value",
                _("is {value}, where the derivation says {said}").format(
                    value=fact.value, said=said
                ),
                _("Bring fact and derivation together."),
                fact.key,
            )
    answers = [_THOUSANDS.sub("", plain(a)) for a in (world.answer, *world.answer_aliases)]
    if any(answers) and not any(answer and answer in text for answer in answers):
        yield warning(
            "L034",
            "gold.derivation",
            _("does not reach the answer “{answer}”").format(answer=world.answer),
            _("Derive the answer, or mend it."),
            "derivation",
        )


def _said_of(derivation: str, name: str) -> str:
    """The number that stands right behind a name (`base fare 130`), empty where none does."""
    if not plain(name):
        return ""
    found = re.search(rf"(?<![a-z0-9]){re.escape(plain(name))}{_IS}(-?\d+(?:[.:]\d+)?)", derivation)
    return _plain_number(found[1]) if found else ""


def _plain_number(text: str) -> str:
    """A number in one spelling; empty for what is none."""
    text = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).strip())
    if _TIME.fullmatch(text):
        return text
    text = text.rstrip("% ")
    return f"{float(text):g}" if _NUMBER.fullmatch(text) else ""


def _asked_for(task: Task, table: Table) -> Iterator[Finding]:
    query = norm_column(unicodedata.normalize("NFKC", task.query))
    words = content_words(task.query)
    if not query:
        return
    for index, column in enumerate(table.columns):
        name = norm_column(unicodedata.normalize("NFKC", column.name))
        said = coverage(content_words(column.name), words) == 1
        if name and name not in query and not said:
            yield warning(
                "L035",
                f"gold.columns[{index}].name",
                _("the query does not name the column “{column}”").format(column=column.name),
                _("Say in the query which columns the table has, by these names."),
                column.name,
            )
