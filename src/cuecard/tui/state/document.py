"""A task as a document to read: one entry for each element that a comment can be pinned to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cuecard.annotate.authoring.trees import parse_place
from cuecard.core.i18n import _
from cuecard.core.tasks import (
    Ambiguity,
    CheckpointChain,
    FactKind,
    FactWorld,
    Graph,
    Persona,
    Stage,
    Table,
    Task,
)
from cuecard.core.validation import format_place
from cuecard.tui.state.labels import AMBIGUITY, CUE_KIND
from cuecard.tui.state.transcript import Entry, Paragraph, Piece


@dataclass(frozen=True)
class Element:
    """`place` is the element's path, such as `persona.stages[3].line`; `entry` how it reads."""

    place: str
    entry: Entry


def document_of(task: Task) -> list[Element]:
    """All elements in reading order."""
    return [*_brief(task), *(_persona(task.persona) if task.persona else ()), *_gold(task)]


def owner_of(document: Sequence[Element], place: str) -> str | None:
    """The place of the element that holds `place`; None where none does, as for the whole task."""
    places = {element.place for element in document}
    path = parse_place(place)
    for length in range(len(path), 0, -1):
        if (owner := format_place(path[:length])) in places:
            return owner
    return None


def _element(place: str, label: str, *texts: str, note: str = "") -> Element:
    head = (Piece(label, "stage"), *((Piece(f"  {note}", "muted"),) if note else ()))
    return Element(place, Entry("work", 0, head, tuple(Paragraph(t, indent=2) for t in texts if t)))


def _brief(task: Task) -> Iterator[Element]:
    yield _element("title", _("Title"), task.title, note=task.id)
    yield _element("query", _("Full query"), task.query)
    if task.opening != task.query:
        place = "persona.initial_query" if task.persona else "gold.opening"
        yield _element(place, _("What the user says first"), task.opening)
    if task.sub_queries:
        yield _element("sub_queries", _("Sub-queries"), *task.sub_queries)
    if task.sources:
        lines = [f"{s.url}  {s.note}".strip() for s in task.sources]
        yield _element("sources", _("Sources"), *lines)
    if task.notes:
        yield _element("notes", _("Notes"), task.notes)


def _persona(persona: Persona) -> Iterator[Element]:
    yield _element("persona.identity", _("Identity"), persona.identity, note=persona.name)
    if persona.behaviour:
        yield _element("persona.behaviour", _("Behaviour"), persona.behaviour)
    for index, stage in enumerate(persona.stages):
        yield _stage(index, stage)


def _stage(index: int, stage: Stage) -> Element:
    head = (
        Piece(_("Stage {n}").format(n=index + 1), "stage"),
        Piece(f"  {stage.title}", "strong"),
    )
    cue = f"{_('CUE')}  {_(CUE_KIND[stage.cue.kind.value])}: {stage.cue.text}"
    terms = f"{_('terms')}: {', '.join(stage.cue.terms)}" if stage.cue.terms else ""
    body = [
        Paragraph(cue, indent=2),
        Paragraph(terms, "muted", indent=4),
        Paragraph(f"{_('LINE')}  {stage.line}", "strong", indent=2),
        Paragraph(f"{_('IF NOT')}  {stage.not_met}" if stage.not_met else "", "muted", indent=2),
    ]
    kept = tuple(paragraph for paragraph in body if paragraph.text)
    return Element(f"persona.stages[{index}]", Entry("work", 0, head, kept))


def _gold(task: Task) -> Iterator[Element]:
    match task.gold:
        case Graph() as graph:
            yield from _graph(graph)
        case Table() as table:
            yield from _table(table)
        case CheckpointChain() as chain:
            yield from _chain(chain)
        case FactWorld() as world:
            yield from _world(world)


def _graph(graph: Graph) -> Iterator[Element]:
    for index, triple in enumerate(graph.triples):
        note = _("stage {n}").format(n=triple.stage) if triple.stage else ""
        head = (
            Piece(f"{index + 1:>4}  ", "muted"),
            Piece(" — ".join(graph.named(triple))),
            Piece(f"  {note}", "muted"),
        )
        fold = tuple(Paragraph(url, "muted", indent=6) for url in triple.sources)
        yield Element(f"gold.triples[{index}]", Entry("work", 0, head, fold=fold))
    for index, node in enumerate(graph.nodes):
        if node.aliases:
            text = f"{node.name or node.id} = {', '.join(node.aliases)}"
            yield Element(
                f"gold.nodes[{index}]",
                Entry("work", 0, (Piece(f"  {_('aliases')}  ", "muted"), Piece(text))),
            )


def _table(table: Table) -> Iterator[Element]:
    for index, column in enumerate(table.columns):
        rules = [*column.preprocess, *column.metric, *filter(None, [column.criterion])]
        note = _("key") if column.name in table.unique_columns else ""
        head = (
            Piece(_("Column"), "stage"),
            Piece(f"  {column.name}", "strong"),
            Piece(f"  {note}  {', '.join(rules)}", "muted"),
        )
        yield Element(f"gold.columns[{index}]", Entry("work", 0, head))
    for index, row in enumerate(table.rows):
        head = (Piece(f"{index + 1:>4}  ", "muted"), Piece(" | ".join(row)))
        yield Element(f"gold.rows[{index}]", Entry("work", 0, head))


def _chain(chain: CheckpointChain) -> Iterator[Element]:
    for index, step in enumerate(chain.steps):
        target = " = ".join(step.names)
        lines = [step.question, f"→ {target}", *(_ambiguous(step.ambiguity))]
        yield _element(
            f"gold.steps[{index}]",
            _("Step {n}").format(n=index + 1),
            *lines,
            note=_("ambiguous: {kind}").format(kind=_(AMBIGUITY[step.ambiguity.type]))
            if step.ambiguity
            else "",
        )
    answers = " = ".join((chain.final_answer, *chain.final_aliases))
    yield _element("gold.final_answer", _("Final answer"), answers)
    if chain.forbidden:
        yield _element("gold.forbidden", _("Never to be said"), ", ".join(chain.forbidden))


def _ambiguous(ambiguity: Ambiguity | None) -> Iterator[str]:
    if ambiguity:
        yield f"{_('logic')}: {ambiguity.logic}"
        yield f"{_('candidates')}: {', '.join(ambiguity.candidates)}"
        yield f"{_('clue')}: {ambiguity.clue}"


def _world(world: FactWorld) -> Iterator[Element]:
    for index, fact in enumerate(world.facts):
        kind = _("rule") if fact.kind is FactKind.RULE else _("fact")
        about = " · ".join(filter(None, (fact.entity, fact.attribute, fact.unit)))
        yield _element(f"gold.facts[{index}]", kind, f"{fact.key}: {fact.value}", note=about)
    yield _element("gold.answer", _("Answer"), " = ".join((world.answer, *world.answer_aliases)))
    if world.derivation:
        yield _element("gold.derivation", _("Derivation"), world.derivation)
