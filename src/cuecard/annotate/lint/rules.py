"""Runs all rules over one task, also over a draft; gives validation errors codes, and applies authors' silences."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from itertools import chain
from typing import Any, TypeVar, cast, get_args

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.lint.case import Case
from cuecard.annotate.lint.codes import Finding, may_silence, warning
from cuecard.annotate.lint.disclosure import (
    lint_cues,
    lint_gold_disclosure,
    lint_lines,
    lint_other_leaks,
)
from cuecard.annotate.lint.general import lint_dates, lint_sources, lint_stages, lint_texts
from cuecard.annotate.lint.gold import lint_gold_consistency
from cuecard.core.errors import FileProblem
from cuecard.core.families.checkpoints.gold import (
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
)
from cuecard.core.families.facts.gold import Fact, FactKind, FactWorld
from cuecard.core.families.graph.gold import Graph, Node, Triple
from cuecard.core.families.table.gold import Column, Metric, Preprocess, Table
from cuecard.core.i18n import _
from cuecard.core.tasks.models import (
    FAMILIES,
    Cue,
    CueKind,
    Difficulty,
    Persona,
    Silenced,
    Source,
    Stage,
    Task,
    TaskLanguage,
)


def silence(
    findings: Iterable[Finding], silences: Iterable[Silenced], *, complete: bool = True
) -> Iterator[Finding]:
    """The findings, those that a silence matches with its reason. With `complete`, a silence that matches none is
    itself a finding (L044); a draft may not have got there yet.
    """
    reasons = {(silenced.code, silenced.about): silenced.reason for silenced in silences}
    used: set[tuple[str, str]] = set()
    for finding in findings:
        key = (finding.code, finding.about)
        if key in reasons and may_silence(finding.code, finding.severity):
            used.add(key)
            yield finding.model_copy(update={"silenced": reasons[key] or _("no reason given")})
        else:
            yield finding
    if not complete:
        return
    for index, silenced in enumerate(silences):
        if (silenced.code, silenced.about) not in used:
            yield warning(
                "L044",
                f"silenced[{index}]",
                _("nothing is found that {code} about “{about}” would silence").format(
                    code=silenced.code, about=silenced.about
                ),
                _("Remove the silence."),
                f"{silenced.code}: {silenced.about}",
            )


_RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    lint_stages,
    lint_other_leaks,
    lint_gold_disclosure,
    lint_cues,
    lint_lines,
    lint_gold_consistency,
    lint_sources,
    lint_dates,
    lint_texts,
)


def lint(task: Task, today: date | None = None, *, complete: bool = True) -> tuple[Finding, ...]:
    """All findings for one task in the order of codes, silenced ones included. `today`: later dates are in the future;
    default the current day. `complete`: False for a draft from `loosely`.
    """
    case = Case(task, today or date.today(), complete)
    rules = (*_RULES, *ANNOTATE[task.family].lint)
    found = chain.from_iterable(rule(case) for rule in rules)
    silenced = silence(found, task.silenced, complete=complete)
    return tuple(sorted(silenced, key=lambda finding: finding.code))


UNREADABLE, SAME_ID = "E001", "E002"
_EMPTY, _UNKNOWN, _SHAPE, _CHOICE = "E003", "E004", "E005", "E006"
_MALFORMED, _REFERENCE, _UNSTORABLE = "E007", "E008", "E009"

_BY_KIND = {
    "": UNREADABLE,
    "missing": _EMPTY,
    "too_short": _EMPTY,
    "extra_forbidden": _UNKNOWN,
    "enum": _CHOICE,
    "literal_error": _CHOICE,
    "union_tag_invalid": _CHOICE,
    "union_tag_not_found": _EMPTY,
    "string_pattern_mismatch": _MALFORMED,
    "greater_than_equal": _MALFORMED,
    "string_unicode": _UNSTORABLE,
}
_ADDRESS = re.compile(r"(?:^|\.)(?:url|sources\[\d+\])$")


def code_of(problem: FileProblem) -> str:
    """The code of a problem that validation found."""
    if problem.kind == "value_error":
        return _of_value(problem)
    return _BY_KIND.get(problem.kind, _SHAPE)


def _of_value(problem: FileProblem) -> str:
    """Our own validators say what they refuse in words, in the language that is set."""
    if problem.reason == _("must not be empty"):
        return _EMPTY
    if problem.reason in _unstorable_reasons():
        return _UNSTORABLE
    return _MALFORMED if _ADDRESS.search(problem.place) else _REFERENCE


def _unstorable_reasons() -> tuple[str, ...]:
    return (
        _("holds half of a character (a lone surrogate); type it again"),
        _("holds a NUL character; remove it"),
        _("is nested too deeply"),
        _("must be a finite number"),
    )


_Choice = TypeVar("_Choice", AmbiguityType, CueKind, FactKind, Metric, Preprocess)
_Data = Mapping[str, Any]


def loosely(data: _Data) -> Task | None:
    """The task as far as it is written, without validation, so texts may be empty; None if the family is unknown."""
    gold = _mapping(data.get("gold"))
    family = gold.get("family")
    if not isinstance(family, str) or family not in FAMILIES:
        return None
    language, difficulty = data.get("language"), data.get("difficulty")
    return Task.model_construct(
        id=_text(data, "id"),
        title=_text(data, "title"),
        language=language if language in get_args(TaskLanguage) else "en",
        domain=_text(data, "domain"),
        difficulty=difficulty if difficulty in get_args(Difficulty) else None,
        query=_text(data, "query"),
        sub_queries=_texts(data, "sub_queries"),
        persona=_persona(data.get("persona")),
        gold=ANNOTATE[family].written(gold),
        sources=tuple(
            Source.model_construct(url=_text(item, "url"), note=_text(item, "note"))
            for item in _items(data, "sources")
        ),
        notes=_text(data, "notes"),
        silenced=tuple(
            Silenced.model_construct(
                code=_text(item, "code"), about=_text(item, "about"), reason=_text(item, "reason")
            )
            for item in _items(data, "silenced")
        ),
    )


def _persona(value: object) -> Persona | None:
    if not isinstance(value, dict):
        return None
    data = _mapping(cast(object, value))
    return Persona.model_construct(
        name=_text(data, "name"),
        identity=_text(data, "identity"),
        initial_query=_text(data, "initial_query"),
        stages=tuple(_stage(item) for item in _items(data, "stages")),
        behaviour=_text(data, "behaviour"),
    )


def _stage(data: _Data) -> Stage:
    cue = _mapping(data.get("cue"))
    kind = _choice(CueKind, cue.get("kind")) or CueKind.MENTIONS
    return Stage.model_construct(
        title=_text(data, "title"),
        cue=Cue.model_construct(kind=kind, text=_text(cue, "text"), terms=_texts(cue, "terms")),
        line=_text(data, "line"),
        not_met=_text(data, "not_met"),
    )


def written_graph(gold: _Data) -> Graph:
    nodes = tuple(
        Node.model_construct(
            id=_text(item, "id"), name=_text(item, "name"), aliases=_texts(item, "aliases")
        )
        for item in _items(gold, "nodes")
    )
    triples = tuple(
        Triple.model_construct(
            head=_text(item, "head"),
            relation=_text(item, "relation"),
            tail=_text(item, "tail"),
            stage=stage if isinstance(stage := item.get("stage"), int) else None,
            sources=_texts(item, "sources"),
            note=_text(item, "note"),
        )
        for item in _items(gold, "triples")
    )
    return Graph.model_construct(nodes=nodes, triples=triples)


def written_table(gold: _Data) -> Table:
    columns = tuple(
        Column.model_construct(
            name=_text(item, "name"),
            preprocess=_choices(Preprocess, item.get("preprocess")),
            metric=_choices(Metric, item.get("metric")),
            criterion=_text(item, "criterion"),
        )
        for item in _items(gold, "columns")
    )
    names = [column.name for column in columns]
    width = len(columns)
    rows = tuple(
        tuple([*map(_as_text, _list(row)), *[""] * width][:width])
        for row in _list(gold.get("rows"))
    )
    keys = tuple(key for key in _texts(gold, "unique_columns") if key and key in names)
    return Table.model_construct(columns=columns, unique_columns=keys, rows=rows)


def written_chain(gold: _Data) -> CheckpointChain:
    return CheckpointChain.model_construct(
        opening=_text(gold, "opening"),
        steps=tuple(_step(item) for item in _items(gold, "steps")),
        final_answer=_text(gold, "final_answer"),
        final_aliases=_texts(gold, "final_aliases"),
        forbidden=_texts(gold, "forbidden"),
    )


def _step(data: _Data) -> Checkpoint:
    ambiguity = None
    if isinstance(data.get("ambiguity"), dict):
        inner = _mapping(data["ambiguity"])
        ambiguity = Ambiguity.model_construct(
            type=_choice(AmbiguityType, inner.get("type")) or AmbiguityType.ENTITY,
            logic=_text(inner, "logic"),
            candidates=_texts(inner, "candidates"),
            clue=_text(inner, "clue"),
            terms=_texts(inner, "terms"),
        )
    return Checkpoint.model_construct(
        question=_text(data, "question"),
        target=_text(data, "target"),
        aliases=_texts(data, "aliases"),
        ambiguity=ambiguity,
        sources=_texts(data, "sources"),
    )


def written_world(gold: _Data) -> FactWorld:
    facts = tuple(
        Fact.model_construct(
            key=_text(item, "key"),
            value=_text(item, "value"),
            kind=_choice(FactKind, item.get("kind")) or FactKind.FACT,
            entity=_text(item, "entity"),
            attribute=_text(item, "attribute"),
            unit=_text(item, "unit"),
            aliases=_texts(item, "aliases"),
            sources=_texts(item, "sources"),
        )
        for item in _items(gold, "facts")
    )
    return FactWorld.model_construct(
        facts=facts,
        answer=_text(gold, "answer"),
        answer_aliases=_texts(gold, "answer_aliases"),
        derivation=_text(gold, "derivation"),
    )


def _mapping(value: object) -> _Data:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _items(data: _Data, key: str) -> list[_Data]:
    return [_mapping(item) for item in _list(data.get(key))]


def _text(data: _Data, key: str) -> str:
    return _as_text(data.get(key))


def _texts(data: _Data, key: str) -> tuple[str, ...]:
    return tuple(_as_text(item) for item in _list(data.get(key)))


def _as_text(value: object) -> str:
    """Text as it stands; half characters, which no rule can compare, count as missing."""
    text = value.strip() if isinstance(value, str) else str(value) if type(value) is int else ""
    return text if text.isascii() else text.encode("utf-8", "ignore").decode()


def _choice(kind: type[_Choice], value: object) -> _Choice | None:
    try:
        return kind(cast(str, value))
    except ValueError:
        return None


def _choices(kind: type[_Choice], value: object) -> tuple[_Choice, ...]:
    return tuple(c for item in _list(value) if (c := _choice(kind, item)) is not None)
