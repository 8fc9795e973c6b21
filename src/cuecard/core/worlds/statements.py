"""The gold of any family as atomic statements: what a closed world may say, one at a time.

| family | statement | key |
| --- | --- | --- |
| graph | head, relation, tail | `triple/17` |
| table | key of the row, column, cell | `cell/3/Year` |
| facts | entity, attribute, value with its unit | the fact's key |
| checkpoints | the step before, keywords of the question, target | `checkpoint/2` |
| checkpoints, ambiguous step | the same, its candidates | `checkpoint/2/readings` |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cuecard.core.phrases import content_words, coverage, keywords, without_terms
from cuecard.core.tasks import Checkpoint, CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import contains_term, one_line

_BACK_REFERENCE = re.compile(
    r"\b(?:that|this|these|those|it|its|his|her|their|he|she|him|them|there|then|same|former|latter)\b"
    "|[这那该其他她它此]",
    re.IGNORECASE,
)


class Step(Frozen):
    """How a checkpoint's statement is asked for.

    `anchors`: names of the targets of earlier steps, the latest first; a question that refers back
    is only answered to a query that names one of them. `clue`: what a query about an ambiguous step
    must say besides, unless it names `reading`, the one candidate that is meant.
    """

    index: int
    question: str
    anchors: tuple[tuple[str, ...], ...] = ()
    clue: str = ""
    reading: str = ""
    lists_readings: bool = False


class Statement(Frozen):
    """One atomic statement.

    `subject`: the parts that a query must name, each a name followed by its aliases; several parts
    for a row with several key columns, none for a fact without an entity. `secret`: it states the
    final answer, or part of it: a facts world never gives it, a checkpoint world only to the exact
    query for that step. `linked`: the value is an entity too, and may be asked about.
    """

    key: str
    subject: tuple[tuple[str, ...], ...]
    attribute: str
    value: str
    value_aliases: tuple[str, ...] = ()
    stage: int | None = None
    secret: bool = False
    linked: bool = False
    step: Step | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """The value and its other forms: what nothing else in the world may contain."""
        return (self.value, *self.value_aliases)

    @property
    def title(self) -> str:
        """The first name of every part of the subject."""
        return SUBJECT_JOIN.join(names[0] for names in self.subject)


SUBJECT_JOIN = " · "


def compile_statements(task: Task) -> tuple[Statement, ...]:
    """All statements of a task's gold, in its order. Blank cells state nothing."""
    match task.gold:
        case Graph() as graph:
            return tuple(_of_graph(graph))
        case Table() as table:
            return tuple(_of_table(table))
        case FactWorld() as facts:
            return tuple(_of_facts(facts, final_answers(task)))
        case CheckpointChain() as chain:
            return tuple(_of_chain(chain, final_answers(task), public_text(task)))


def public_text(task: Task) -> str:
    """What whoever plays is told from the start, and what is therefore no secret.

    Persona lines are left out: they may name what earlier stages ask for. So is the original
    question of a checkpoint task, which resolves the ambiguities.
    """
    if isinstance(task.gold, CheckpointChain):
        return task.opening
    return f"{task.opening}\n{task.query}"


def final_answers(task: Task) -> tuple[str, ...]:
    """The final answer in all its forms, as far as the public text does not name it itself (a
    question such as "which of the two, A or B?" does). Graphs and tables have none.
    """
    match task.gold:
        case FactWorld() as gold:
            names = (gold.answer, *gold.answer_aliases)
        case CheckpointChain() as gold:
            names = (gold.final_answer, *gold.final_aliases)
        case _:
            return ()
    public = public_text(task)
    return tuple(name for name in names if not contains_term(public, name))


def _names_any(text: str, terms: Iterable[str]) -> bool:
    """Whether a text names one of the terms, as it stands or as an entry shows it."""
    shown = "\n".join(one_line(line) for line in text.split("\n"))
    return any(contains_term(text, term) or contains_term(shown, term) for term in terms)


def _of_graph(graph: Graph) -> Iterator[Statement]:
    for index, triple in enumerate(graph.triples):
        value, *aliases = graph.names_of(triple.tail)
        yield Statement(
            key=f"triple/{index}",
            subject=(graph.names_of(triple.head),),
            attribute=triple.relation,
            value=value,
            value_aliases=tuple(aliases),
            stage=triple.stage,
            linked=True,
        )


def _of_table(table: Table) -> Iterator[Statement]:
    keys = table.key_indices
    for number, row in enumerate(table.rows):
        subject = tuple((one_line(cell),) for cell in table.key_of(row) if cell.strip())
        for column, cell in enumerate(row):
            if column in keys or not cell.strip():
                continue
            name = table.columns[column].name
            yield Statement(
                key=f"cell/{number}/{name}", subject=subject, attribute=name, value=one_line(cell)
            )


def _of_facts(facts: FactWorld, answers: tuple[str, ...]) -> Iterator[Statement]:
    for fact in facts.facts:
        forms = list(dict.fromkeys((f"{fact.value} {fact.unit}".strip(), fact.value)))
        stated = "\n".join((fact.attribute or fact.key, *forms))
        yield Statement(
            key=fact.key,
            subject=((fact.entity.strip(),),) if fact.entity.strip() else (),
            attribute=fact.attribute.strip() or fact.key,
            value=forms[0],
            value_aliases=(*forms[1:], *fact.aliases),
            secret=_names_any(stated, answers),
        )


def _of_chain(chain: CheckpointChain, answers: tuple[str, ...], public: str) -> Iterator[Statement]:
    banned = {name for step in chain.steps for name in step.names}
    banned.update(name for s in chain.steps if s.ambiguity for name in s.ambiguity.candidates)
    banned.update(answers)
    hidden = [name for name in banned if name in answers or not contains_term(public, name)]
    for index, checkpoint in enumerate(chain.steps):
        topic = keywords(without_terms(checkpoint.question, hidden)) or keywords(
            checkpoint.question
        )
        anchors = _anchors(chain, index)
        ambiguity = checkpoint.ambiguity
        if ambiguity:
            listed = "; ".join(ambiguity.candidates)
            yield Statement(
                key=f"checkpoint/{index}/readings",
                subject=anchors[:1],
                attribute=topic,
                value=listed,
                value_aliases=ambiguity.candidates,
                secret=_names_any("\n".join((topic, *ambiguity.candidates)), answers),
                step=Step(
                    index=index,
                    question=checkpoint.question,
                    anchors=anchors,
                    lists_readings=True,
                ),
            )
        yield Statement(
            key=f"checkpoint/{index}",
            subject=anchors[:1],
            attribute=topic,
            value=checkpoint.target,
            value_aliases=checkpoint.aliases,
            secret=_names_any("\n".join((topic, *checkpoint.names)), answers),
            step=Step(
                index=index,
                question=checkpoint.question,
                anchors=anchors,
                clue=ambiguity.clue if ambiguity else "",
                reading=_meant(checkpoint),
            ),
        )


def _anchors(chain: CheckpointChain, index: int) -> tuple[tuple[str, ...], ...]:
    """The targets that the question of a step builds on; none if it stands for itself."""
    question = chain.steps[index].question
    earlier = [step.names for step in reversed(chain.steps[:index])]
    named = [names for names in earlier if _names_any(question, names)]
    if named or _BACK_REFERENCE.search(question):
        return tuple(dict.fromkeys((*earlier[:1], *named, *earlier)))
    return ()


def _meant(checkpoint: Checkpoint) -> str:
    """The candidate that target and clue point to, if exactly one does."""
    if checkpoint.ambiguity is None:
        return ""
    candidates = checkpoint.ambiguity.candidates
    targets = [c for c in candidates if any(contains_term(n, c) for n in checkpoint.names)]
    if targets:
        return targets[0] if len(targets) == 1 else ""
    evidence = content_words(f"{' '.join(checkpoint.names)} {checkpoint.ambiguity.clue}")
    scored = sorted(((coverage(content_words(c), evidence), c) for c in candidates), reverse=True)
    return scored[0][1] if scored[0][0] > scored[1][0] else ""
