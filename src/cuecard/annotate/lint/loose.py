"""Data that is no task yet, read as one so that rules can look at what is there.

Nothing is left out, so every index is the real one. What is missing or of another shape is empty;
what has no meaning (an unknown metric, a key that is no column) is dropped: validation reports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast, get_args

from cuecard.core.tasks import (
    FAMILIES,
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
    Column,
    Cue,
    CueKind,
    Fact,
    FactKind,
    FactWorld,
    Graph,
    Metric,
    Node,
    Persona,
    Preprocess,
    Silenced,
    Source,
    Stage,
    Table,
    Task,
    Triple,
)
from cuecard.core.tasks.models import Difficulty, TaskLanguage

_Choice = TypeVar("_Choice", AmbiguityType, CueKind, FactKind, Metric, Preprocess)
_Data = Mapping[str, Any]


def loosely(data: _Data) -> Task | None:
    """The task as far as it is written; None for data of no known family. Its texts may be empty."""
    gold = _mapping(data.get("gold"))
    family = gold.get("family")
    if family not in FAMILIES:
        return None
    make = {"graph": _graph, "table": _table, "checkpoints": _chain, "facts": _world}[family]
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
        gold=make(gold),
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


def _graph(gold: _Data) -> Graph:
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


def _table(gold: _Data) -> Table:
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


def _chain(gold: _Data) -> CheckpointChain:
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


def _world(gold: _Data) -> FactWorld:
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
