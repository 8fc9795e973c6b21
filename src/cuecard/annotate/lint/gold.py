"""Rules for tables, checkpoint chains and worlds of facts: their structure, and consistency with the rest of the task."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from cuecard.annotate.authoring.diff import plain
from cuecard.annotate.lint.case import Case, same_name
from cuecard.annotate.lint.codes import Finding, error, warning
from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.families.facts.gold import FactKind, FactWorld
from cuecard.core.families.table.gold import Column, Metric, Preprocess, Table
from cuecard.core.families.table.score import norm_column
from cuecard.core.i18n import _, plural
from cuecard.core.judges.quantities import parse_plain_date
from cuecard.core.tasks.models import Task
from cuecard.core.text import content_words, coverage, first_number, read_whole_number


def lint_table(case: Case) -> Iterator[Finding]:
    """Structure of tables: L003, L012, L013, L017 and L018."""
    if case.table is not None:
        yield from _keys(case.table)
        yield from _columns(case.table)
        yield from _cells(case.table)


def _keys(table: Table) -> Iterator[Finding]:
    first: dict[tuple[str, ...], int] = {}
    indices = table.key_indices
    for index, row in enumerate(table.rows):
        if not indices:
            return
        key = tuple(plain(row[at]) for at in indices)
        for at, cell in zip(indices, key, strict=True):
            if not cell:
                yield error(
                    "L012",
                    f"gold.rows[{index}][{at}]",
                    _("the key column {column} is empty").format(column=table.columns[at].name),
                    _("Fill it in; rows are joined on their key."),
                )
        if not all(key):
            continue
        if key in first:
            yield error(
                "L003",
                f"gold.rows[{index}]",
                _same_key(table, first[key], index),
                _("Remove one row, or add a column to unique_columns that tells them apart."),
                " | ".join(table.key_of(row)),
            )
        first.setdefault(key, index)


def _same_key(table: Table, one: int, other: int) -> str:
    """Whether two rows of one key say the same, and if not where they differ."""
    left, right = table.rows[one], table.rows[other]
    for column, mine, theirs in zip(table.columns, left, right, strict=True):
        if plain(mine) != plain(theirs):
            text = _("row {n} has this key too, and another {column}: {one} / {other}")
            return text.format(n=one + 1, column=column.name, one=mine, other=theirs)
    return _("says the same as row {n}").format(n=one + 1)


def _cells(table: Table) -> Iterator[Finding]:
    keys = set(table.key_indices)
    readers = [_reader(column) for column in table.columns]
    for index, row in enumerate(table.rows):
        for at, cell in enumerate(row):
            column = table.columns[at]
            if not cell.strip():
                if at not in keys and column.name:
                    yield warning(
                        "L013",
                        f"gold.rows[{index}][{at}]",
                        _("the cell of {column} is empty").format(column=column.name),
                        _("Fill it in; for what does not exist write what an answer should say."),
                        _cell_of(table, row, column),
                    )
            elif (reader := readers[at]) is not None and not reader(cell):
                yield warning(
                    "L018",
                    f"gold.rows[{index}][{at}]",
                    _("“{cell}” is not what {column} compares").format(
                        cell=cell, column=column.name
                    ),
                    _("Write a number, a date or an address, as the column's metric reads it."),
                    _cell_of(table, row, column),
                )


def _cell_of(table: Table, row: tuple[str, ...], column: Column) -> str:
    return " | ".join((*table.key_of(row), column.name))


def _reader(column: Column) -> Callable[[str], bool] | None:
    """A function that says whether a cell fits the column's metric and preprocessing; None if every cell does."""
    if Metric.DATE_NEAR in column.metric or Preprocess.NORM_DATE in column.preprocess:
        return _is_date
    if Preprocess.EXTRACT_NUMBER in column.preprocess or Metric.NUMBER_NEAR in column.metric:
        return _has_number
    return (lambda cell: "://" in cell) if Metric.URL_MATCH in column.metric else None


@lru_cache(maxsize=16384)
def _is_date(cell: str) -> bool:
    text = cell.strip()
    return (text.isdecimal() and len(text) == 4) or parse_plain_date(text) is not None


@lru_cache(maxsize=16384)
def _has_number(cell: str) -> bool:
    return first_number(cell) is not None


def _columns(table: Table) -> Iterator[Finding]:
    for index, column in enumerate(table.columns):
        place = f"gold.columns[{index}]"
        for field, reason, hint in _clashes(column):
            yield error("L017", f"{place}.{field}", reason, hint, column.name)
        criterion = column.criterion.strip()
        if Metric.LLM_JUDGE in column.metric and not criterion:
            yield warning(
                "L017",
                f"{place}.criterion",
                _("the judge of {column} is told no criterion").format(column=column.name),
                _("Say when two cells mean the same."),
                column.name,
            )


def _clashes(column: Column) -> Iterator[tuple[str, str, str]]:
    """Combinations that cannot work: field, reason, hint."""
    number = Preprocess.EXTRACT_NUMBER in column.preprocess
    day = Preprocess.NORM_DATE in column.preprocess
    if number and day:
        yield (
            "preprocess",
            _("“the first number” and “as a date” leave nothing of each other's work"),
            _("Keep the one that the metric reads."),
        )
        return
    for metric in column.metric:
        spoilt = {
            Metric.DATE_NEAR: number,
            Metric.URL_MATCH: number or day,
            Metric.NUMBER_NEAR: day,
        }.get(metric, False)
        if spoilt:
            step = Preprocess.EXTRACT_NUMBER if number else Preprocess.NORM_DATE
            yield (
                "preprocess",
                _("{step} takes away what {metric} compares").format(
                    step=step.value, metric=metric.value
                ),
                _("Take the preprocessing out, or choose another metric."),
            )
    criterion = column.criterion.strip()
    if Metric.NUMBER_NEAR in column.metric and criterion and read_whole_number(criterion) is None:
        yield (
            "criterion",
            _("“{criterion}” is no tolerance").format(criterion=criterion),
            _("Write it as 0.01 or 1%."),
        )


_AMBIGUOUS_STEPS = {"easy": 1, "medium": 2, "hard": 3}
_USED = 0.5


def lint_chain(case: Case) -> Iterator[Finding]:
    """Structure of checkpoint chains: L004, L019 and L020. Difficulty as FORMATS, discobench, counts it."""
    if case.chain is not None:
        yield from _ambiguity(case.task, case.chain)
        yield from _ending(case.chain)
        for index, step in enumerate(case.chain.steps):
            yield from _candidates(index, step)


def lint_world(case: Case) -> Iterator[Finding]:
    """Structure of worlds of facts: L021, L022 and L023. Difficulty as FORMATS, paraworld, counts it."""
    if case.world is not None:
        yield from _tier(case.task, case.world)
        yield from _structure_gold_keys(case.world)
        yield from _rules(case.task, case.world)


def _ambiguity(task: Task, chain: CheckpointChain) -> Iterator[Finding]:
    count = sum(step.ambiguity is not None for step in chain.steps)
    if not count:
        yield error(
            "L004",
            "gold.steps",
            _("no step is ambiguous, so there is nothing to ask about"),
            _("Make at least one step ambiguous, with candidates and a clue."),
        )
    elif task.difficulty and min(count, 3) != (wanted := _AMBIGUOUS_STEPS[task.difficulty]):
        yield warning(
            "L004",
            "difficulty",
            plural(
                "{n} ambiguous step, where {difficulty} means {wanted}",
                "{n} ambiguous steps, where {difficulty} means {wanted}",
                count,
                difficulty=task.difficulty,
                wanted=wanted,
            ),
            _("1 ambiguous step is easy, 2 are medium, 3 are hard."),
        )


def _ending(chain: CheckpointChain) -> Iterator[Finding]:
    if not chain.steps or not chain.final_answer or not chain.steps[-1].target:
        return
    last = {plain(name) for name in chain.steps[-1].names}
    if last.isdisjoint(plain(name) for name in (chain.final_answer, *chain.final_aliases)):
        yield error(
            "L019",
            f"gold.steps[{len(chain.steps) - 1}].target",
            _("the last step ends at “{target}”, the chain at “{answer}”").format(
                target=chain.steps[-1].target, answer=chain.final_answer
            ),
            _("Add the step whose target is the final answer, or make this one's target that."),
        )


def _candidates(index: int, step: Checkpoint) -> Iterator[Finding]:
    ambiguity = step.ambiguity
    if ambiguity is None:
        return
    place = f"gold.steps[{index}].ambiguity.candidates"
    seen: set[str] = set()
    for at, candidate in enumerate(ambiguity.candidates):
        if plain(candidate) in seen:
            yield warning(
                "L020",
                f"{place}[{at}]",
                _("“{name}” is listed twice").format(name=candidate),
                _("Remove one of them, or name another candidate."),
                f"{step.question}: {candidate}",
            )
        seen.add(plain(candidate))
    written = seen - {""}
    if step.target and written and not any(plain(name) in written for name in step.names):
        yield warning(
            "L020",
            place,
            _("the target “{target}” is not among them").format(target=step.target),
            _("Add it, so that an agent that lists the candidates can list the right one."),
            f"{step.question}: {step.target}",
        )


def _tier(task: Task, world: FactWorld) -> Iterator[Finding]:
    count = len(world.facts)
    tier = "easy" if count <= 5 else "medium" if count <= 10 else "hard"
    if task.difficulty and task.difficulty != tier:
        yield warning(
            "L021",
            "difficulty",
            plural(
                "{n} fact is {tier}, not {difficulty}",
                "{n} facts are {tier}, not {difficulty}",
                count,
                tier=tier,
                difficulty=task.difficulty,
            ),
            _("1 to 5 facts are easy, 6 to 10 medium, 11 and more hard."),
        )


def _structure_gold_keys(world: FactWorld) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, fact in enumerate(world.facts):
        key = same_name(fact.key)
        earlier = first.setdefault(key, index) if key else index
        # The very same key is no world at all; validation says so.
        if earlier != index and world.facts[earlier].key != fact.key:
            yield error(
                "L022",
                f"gold.facts[{index}].key",
                _("is the key of fact {n} in another spelling").format(n=earlier + 1),
                _("Rename one of them, or remove it."),
                fact.key,
            )


def _rules(task: Task, world: FactWorld) -> Iterator[Finding]:
    """A rule counts as used when half the words that name it stand where the answer is asked for or
    derived.
    """
    used = content_words("\n".join((task.query, *task.sub_queries, world.derivation)))
    for index, fact in enumerate(world.facts):
        if fact.kind is not FactKind.RULE:
            continue
        named = fact.attribute or fact.key
        about = [word for word in content_words(named) if word not in content_words(fact.entity)]
        words = about or content_words(named)
        if words and coverage(words, used) < _USED:
            yield warning(
                "L023",
                f"gold.facts[{index}]",
                _("neither the query nor the derivation uses the rule “{key}”").format(
                    key=fact.key
                ),
                _("Use it in the query or the derivation, or remove it."),
                fact.key,
            )


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_THOUSANDS = re.compile(r"(?<=\d)[,’' ](?=\d{3}(?!\d))")
_TIME = re.compile(r"\d{1,2}:\d{2}")
_IS = r"\s*(?:is|was|of|are|were|=|:|为|是|等于)?\s*[$€£¥]?\s*"


def lint_gold_consistency(case: Case) -> Iterator[Finding]:
    """Gold against the rest of the task: L033, L034 and L035."""
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
        # Without the unit that stands behind it in brackets, unless that is all.
        name = unicodedata.normalize("NFKC", column.name)
        name = re.sub(r"\(.*?\)", "", name).strip() or name
        said = coverage(content_words(name), words) == 1
        name = norm_column(name)
        if name and name not in query and not said:
            yield warning(
                "L035",
                f"gold.columns[{index}].name",
                _("the query does not name the column “{column}”").format(column=column.name),
                _("Say in the query which columns the table has, by these names."),
                column.name,
            )
