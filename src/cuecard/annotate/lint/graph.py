"""Rules about graph tasks."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.lint.finding import Finding, error, warning
from cuecard.core.i18n import _
from cuecard.core.tasks import Graph, Task
from cuecard.core.text import contains_term, is_cjk, normalise

_YES_NO = {"yes", "no", "true", "false", "是", "否", "不是", "有", "没有", "对", "错"}


def lint_graph(task: Task, graph: Graph) -> list[Finding]:
    """L002, L005, L006 and L008."""
    return [
        *_duplicates(graph),
        *_silent_stages(task, graph),
        *_leaks(task, graph),
        *_yes_no(graph),
    ]


def _duplicates(graph: Graph) -> Iterator[Finding]:
    first: dict[tuple[str, str, str], int] = {}
    for index, triple in enumerate(graph.triples):
        head, relation, tail = graph.named(triple)
        key = (normalise(head), normalise(relation), normalise(tail))
        if key in first:
            yield error(
                "L002",
                f"gold.triples[{index}]",
                _("the same triple stands at gold.triples[{first}]").format(first=first[key]),
                _("Remove one of them; recall would count it twice."),
            )
        first.setdefault(key, index)


def _silent_stages(task: Task, graph: Graph) -> Iterator[Finding]:
    answered = {triple.stage for triple in graph.triples if triple.stage is not None}
    if not answered:
        return
    for number, _stage in enumerate(task.stages, start=1):
        if number not in answered:
            yield warning(
                "L005",
                f"persona.stages[{number - 1}]",
                _("no triple answers stage {n}").format(n=number),
                _("Give the triples that answer it this stage, or drop the stage."),
            )


def _leaks(task: Task, graph: Graph) -> Iterator[Finding]:
    """A tail may be said once an earlier stage has dealt with it or the first query names it; the
    head of a stage's own triple may be said, for the stage asks about it.
    """
    if task.persona is None:
        return
    opening = task.persona.initial_query
    for index, stage in enumerate(task.persona.stages):
        number = index + 1
        known = {
            node
            for triple in graph.triples
            if triple.stage is None or triple.stage < number
            for node in (triple.head, triple.tail)
        }
        own_tails = {triple.tail for triple in graph.triples if triple.stage == number}
        known |= {t.head for t in graph.triples if t.stage == number} - own_tails
        for field, text in (("line", stage.line), ("not_met", stage.not_met)):
            told: set[str] = set()
            for triple in graph.triples:
                if triple.tail in known or triple.tail in told:
                    continue
                said = next((n for n in _sayable(graph, triple.tail) if contains_term(text, n)), "")
                if not said or contains_term(opening, said):
                    continue
                told.add(triple.tail)
                yield warning(
                    "L006",
                    f"persona.stages[{index}].{field}",
                    _("says “{name}”, which stage {stage} is to find out").format(
                        name=said, stage=triple.stage
                    ),
                    _("Describe it without its name, or let an earlier stage find it."),
                )


def _sayable(graph: Graph, node: str) -> Iterator[str]:
    """Names long enough that finding them in a line means something."""
    for name in graph.names_of(node):
        if len(normalise(name)) >= (2 if is_cjk(name) else 3):
            yield name


def _yes_no(graph: Graph) -> Iterator[Finding]:
    for index, triple in enumerate(graph.triples):
        name = graph.name_of(triple.tail)
        if normalise(name) in _YES_NO:
            yield warning(
                "L008",
                f"gold.triples[{index}].tail",
                _("“{name}” can be guessed without searching").format(name=name),
                _("Put what is true into the relation and a thing into the tail."),
            )
