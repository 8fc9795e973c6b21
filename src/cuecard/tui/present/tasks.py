"""Tasks for the screen: lines and filters of the list, and a task as a document."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from cuecard.annotate.authoring.task_data import parse_place
from cuecard.core.families.checkpoints.gold import Ambiguity, CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.i18n import _, headed, listed, plural
from cuecard.core.tasks.gold import FAMILIES
from cuecard.core.tasks.models import Persona, Stage, Task
from cuecard.core.text import normalise
from cuecard.core.validation import format_place
from cuecard.tui.families import TUI, Element
from cuecard.tui.present.entries import Entry, Paragraph, Piece
from cuecard.tui.present.keyboard import after
from cuecard.tui.present.labels import AMBIGUITY, CUE_KIND

if TYPE_CHECKING:
    from cuecard.core.records import Draft, TaskSummary, ThrownDraft


LANGUAGES = ("en", "zh")
STATES = ("draft", "in_review", "returned", "approved", "retired")


@dataclass(frozen=True)
class TaskLine:
    """One line; revision 0 is a task of mine that was never saved. `draft`: I have unsaved edits.
    `thrown`: the id of the draft that I threw away, where that is all there is. `comments`: how many
    are open on a task of mine that was returned. `forks`: newest revisions beside this one. `building`: I
    am building its gold independently.
    """

    id: str
    title: str
    family: str
    language: str
    domain: str
    difficulty: str
    revision: int
    state: str
    author: str
    updated_at: datetime
    draft: bool = False
    thrown: int = 0
    forks: int = 0
    comments: int = 0
    building: bool = False
    tags: tuple[str, ...] = ()

    @property
    def archived(self) -> bool:
        """Out of use, and to be had back."""
        return self.state == "retired"


@dataclass(frozen=True)
class TaskFilter:
    """What must hold of a line to be shown. Archived tasks show only when asked for by state."""

    text: str = ""
    family: str = ""
    language: str = ""
    state: str = ""

    @property
    def active(self) -> bool:
        return self != TaskFilter()

    def next_family(self) -> TaskFilter:
        return replace(self, family=after(self.family, ("", *FAMILIES)))

    def next_language(self) -> TaskFilter:
        return replace(self, language=after(self.language, ("", *LANGUAGES)))

    def next_state(self) -> TaskFilter:
        return replace(self, state=after(self.state, ("", *STATES)))

    def turned_to_archived(self) -> TaskFilter:
        """Only what is archived, or what is in use again."""
        return replace(self, state="" if self.state == "retired" else "retired")

    def keeps(self, line: TaskLine) -> bool:
        """Every word typed must occur in the line's id, title, domain, author or tags."""
        if line.archived and self.state != "retired":
            return False
        wanted = (
            (self.family, line.family),
            (self.language, line.language),
            (self.state, line.state),
        )
        if any(want and want != has for want, has in wanted):
            return False
        text = normalise(" ".join((line.id, line.title, line.domain, line.author, *line.tags)))
        return all(word in text for word in normalise(self.text).split())


def task_lines(
    summaries: Iterable[TaskSummary],
    drafts: Iterable[Draft],
    thrown: Iterable[ThrownDraft] = (),
    comments: Mapping[str, int] | None = None,
    building: Collection[str] = (),
    tags: Mapping[str, tuple[str, ...]] | None = None,
) -> list[TaskLine]:
    """All tasks, mine that were never saved first; `drafts` are one person's, `thrown` those of tasks
    that were never saved, the last first, `comments` those that are open, by task, `building` tasks whose gold they
    build a second time.
    """
    own = {draft.task_id: draft for draft in drafts}
    lines: list[TaskLine] = []
    for task in summaries:
        lines.append(
            TaskLine(
                id=task.id,
                title=task.title,
                family=task.family,
                language=task.language,
                domain=task.domain,
                difficulty=task.difficulty or "",
                revision=task.revision,
                state=task.state.value,
                author=task.author,
                updated_at=task.updated_at,
                draft=own.pop(task.id, None) is not None,
                forks=task.forks,
                comments=(comments or {}).get(task.id, 0),
                building=task.id in building,
                tags=(tags or {}).get(task.id, ()),
            )
        )
    last: dict[str, ThrownDraft] = {}
    for draft in thrown:
        last.setdefault(draft.task_id, draft)
    return [
        *(_unsaved(draft) for draft in own.values()),
        *lines,
        *(_unsaved(draft, draft.id) for draft in last.values()),
    ]


def shown(lines: Sequence[TaskLine], chosen: TaskFilter) -> list[TaskLine]:
    return [line for line in lines if chosen.keeps(line)]


def _unsaved(draft: Draft, thrown: int = 0) -> TaskLine:
    data = draft.data
    gold = data.get("gold")
    family = gold.get("family") if isinstance(gold, dict) else ""
    return TaskLine(
        id=draft.task_id,
        title=str(data.get("title") or draft.task_id),
        family=str(family),
        language=str(data.get("language") or ""),
        domain=str(data.get("domain") or ""),
        difficulty=str(data.get("difficulty") or ""),
        revision=0,
        state="retired" if thrown else "draft",
        author=draft.person,
        updated_at=draft.updated_at,
        draft=not thrown,
        thrown=thrown,
    )


def moment(when: datetime) -> str:
    """A time as the person's clock shows it."""
    return when.astimezone().strftime("%Y-%m-%d %H:%M")


def counts_of(task: Task) -> str:
    """How much there is of what this family is made of."""
    parts = TUI[task.family].counts(task.gold)
    if task.stages:
        parts.append(plural("{n} stage", "{n} stages", len(task.stages)))
    return " · ".join(parts)


def sections_of(task: Task) -> list[tuple[str, str]]:
    """Heading and text of each part; empty parts are left out."""
    parts = [
        (_("Query"), task.query),
        (_("Opening"), task.opening if task.opening != task.query else ""),
        (_("Gold"), counts_of(task)),
        (_("Sources"), "\n".join(f"{s.url}  {s.note}".strip() for s in task.sources)),
        (_("Notes"), task.notes),
    ]
    return [(heading, text.strip()) for heading, text in parts if text.strip()]


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
    cue = f"{_('CUE')}  {headed(_(CUE_KIND[stage.cue.kind.value]), stage.cue.text)}"
    terms = headed(_("terms"), listed(stage.cue.terms)) if stage.cue.terms else ""
    body = [
        Paragraph(cue, indent=2),
        Paragraph(terms, "muted", indent=4),
        Paragraph(f"{_('LINE')}  {stage.line}", "strong", indent=2),
        Paragraph(f"{_('IF NOT')}  {stage.not_met}" if stage.not_met else "", "muted", indent=2),
    ]
    kept = tuple(paragraph for paragraph in body if paragraph.text)
    return Element(f"persona.stages[{index}]", Entry("work", 0, head, kept))


def _gold(task: Task) -> Iterator[Element]:
    yield from TUI[task.family].gold(task.gold)


def graph_elements(graph: Graph) -> Iterator[Element]:
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
            text = f"{node.name or node.id} = {listed(node.aliases)}"
            yield Element(
                f"gold.nodes[{index}]",
                Entry("work", 0, (Piece(f"  {_('aliases')}  ", "muted"), Piece(text))),
            )


def table_elements(table: Table) -> Iterator[Element]:
    for index, column in enumerate(table.columns):
        rules = [*column.preprocess, *column.metric, *filter(None, [column.criterion])]
        note = _("key") if column.name in table.unique_columns else ""
        head = (
            Piece(_("Column"), "stage"),
            Piece(f"  {column.name}", "strong"),
            Piece(f"  {note}  {listed(rules)}", "muted"),
        )
        yield Element(f"gold.columns[{index}]", Entry("work", 0, head))
    for index, row in enumerate(table.rows):
        head = (Piece(f"{index + 1:>4}  ", "muted"), Piece(" | ".join(row)))
        yield Element(f"gold.rows[{index}]", Entry("work", 0, head))


def chain_elements(chain: CheckpointChain) -> Iterator[Element]:
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
        yield _element("gold.forbidden", _("Never to be said"), listed(chain.forbidden))


def _ambiguous(ambiguity: Ambiguity | None) -> Iterator[str]:
    if ambiguity:
        yield headed(_("logic"), ambiguity.logic)
        yield headed(_("candidates"), listed(ambiguity.candidates))
        yield headed(_("clue"), ambiguity.clue)


def world_elements(world: FactWorld) -> Iterator[Element]:
    for index, fact in enumerate(world.facts):
        kind = fact.kind.label
        about = " · ".join(filter(None, (fact.entity, fact.attribute, fact.unit)))
        yield _element(f"gold.facts[{index}]", kind, headed(fact.key, fact.value), note=about)
    yield _element("gold.answer", _("Answer"), " = ".join((world.answer, *world.answer_aliases)))
    if world.derivation:
        yield _element("gold.derivation", _("Derivation"), world.derivation)
