"""Two golds side by side for the screen: the brief, both versions of each element, and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.independent_gold.building import COVER
from cuecard.annotate.independent_gold.comparison import LevelAgreement
from cuecard.annotate.independent_gold.matching import (
    Element,
    ElementKind,
    LevelName,
    Status,
    Take,
    take_of,
    undecided,
)
from cuecard.annotate.independent_gold.tables import in_columns_of
from cuecard.core.families.checkpoints.gold import AMBIGUITY_WORDS, Checkpoint, CheckpointChain
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.families.table.gold import METRIC_WORDS, STEP_WORDS, Table
from cuecard.core.i18n import N_, _, headed, joined, listed, ngettext
from cuecard.core.text import normalise
from cuecard.tui.families import TUI, Side, Versions, each_by
from cuecard.tui.present.entries import Entry, Paragraph, Piece, Tone

if TYPE_CHECKING:
    from cuecard.annotate.independent_gold.comparison import Comparison
    from cuecard.core.tables.table import Statistic


def brief_entries(data: Mapping[str, Any]) -> list[Entry]:
    """What is asked, in reading order; what is empty is left out."""
    return list(_entries(data))


def _entries(data: Mapping[str, Any]) -> Iterator[Entry]:
    gold, persona = data["gold"], data["persona"]
    yield _entry(_("What to build"), _(TUI[gold["family"]].build), _how(COVER in str(data)))
    yield _entry(_("Full query"), data["query"])
    if opening := ANNOTATE[gold["family"]].written(gold).opens_with:
        yield _entry(_("What the user says first"), opening)
    if persona:
        if persona["initial_query"] != data["query"]:
            yield _entry(_("What the user says first"), persona["initial_query"])
        yield _entry(_("Identity"), persona["identity"], note=persona["name"])
        for number, stage in enumerate(persona["stages"], start=1):
            label = _("Stage {n}").format(n=number)
            yield _entry(label, f"{_('LINE')}  {stage['line']}", note=stage["title"])
    if data["sub_queries"]:
        yield _entry(_("Sub-queries"), *data["sub_queries"])
    yield from TUI[gold["family"]].given(gold)


def given_columns(table: Mapping[str, Any]) -> Iterator[Entry]:
    """The columns of a table, with their rules."""
    keys = table["unique_columns"]
    for column in table["columns"]:
        steps = [STEP_WORDS[step] for step in column["preprocess"]]
        rules = [_(rule) for rule in (*steps, *(METRIC_WORDS[way] for way in column["metric"]))]
        lines = [listed(rules), *filter(None, [column["criterion"]])]
        note = _("key") if column["name"] in keys else ""
        yield _entry(_("Column"), *lines, note=f"{column['name']}  {note}".strip())


def _entry(label: str, *texts: str, note: str = "") -> Entry:
    head = (Piece(label, "stage"), *((Piece(f"  {note}", "strong"),) if note else ()))
    return Entry("work", 0, head, tuple(Paragraph(text, indent=2) for text in texts if text))


def _how(covered: bool) -> str:
    alone = _("Work from this page alone, as if nobody had done it before; look at no other gold.")
    if not covered:
        return alone
    cover = _("{cover} stands where the author's brief names what is to be found.")
    return joined((alone, cover.format(cover=COVER)))


_BETWEEN = " — "


_LABEL: dict[ElementKind, str] = {
    "triple": N_("Triple {n}"),
    "node": N_("Names of a node"),
    "row": N_("Row {n}"),
    "cell": "",
    "step": N_("Checkpoint {n}"),
    "fact": N_("Fact {n}"),
    "answer": N_("Answer"),
}


def versions_of(comparison: Comparison, element: Element) -> Versions:
    """Both versions of an element of a comparison."""
    author, second = comparison.task.gold, comparison.second.gold
    found = TUI[author.family].versions(author, second, element)
    number = (element.author if element.author is not None else element.second or 0) + 1
    label = found.label or _(_LABEL[element.kind]).format(n=number)
    return replace(found, label=label)


def in_one_line(told: Versions) -> tuple[str, str, str]:
    """What it is and both versions: what they share is said once."""
    if told.parts is None:
        return told.label, told.author.text, told.second.text
    pairs = list(zip(*told.parts, strict=True))
    same = [one if _alike(one, other) else "…" for one, other in pairs]
    apart = [pair for pair, shared in zip(pairs, same, strict=True) if shared == "…"]
    author, second = (_BETWEEN.join(side) for side in zip(*apart, strict=True))
    return _BETWEEN.join(same), author, second


def graph_versions(author: Graph, second: Graph, element: Element) -> Versions:
    """A node, or a triple; parts of triples that differ."""
    found = each_by(_graph_side)(author, second, element)
    i, j = element.author, element.second
    if element.kind != "triple" or element.status != "differ" or i is None or j is None:
        return found
    parts = author.named(author.triples[i]), second.named(second.triples[j])
    return found if all(map(_alike, *parts)) else replace(found, parts=parts)


def _graph_side(graph: Graph, element: Element, index: int) -> Side:
    if element.kind == "node":
        return Side(" = ".join(graph.names_of(graph.node_ids[index])))
    return _triple(graph, graph.triples[index])


def table_versions(author: Table, second: Table, element: Element) -> Versions:
    """A row, or a cell; both in the author's columns."""
    i, j, column = element.author, element.second, element.column
    mine = () if i is None else author.rows[i]
    theirs = () if j is None else in_columns_of(author, _only_row(second, j))[0]
    if column is None:
        return Versions(Side(" | ".join(mine)), Side(" | ".join(theirs)))
    if not mine or not theirs:
        return Versions(Side(), Side())
    one, two = (Side(row[column] or _("(empty)"), (" | ".join(row),)) for row in (mine, theirs))
    label = f"{' | '.join(author.key_of(mine))} · {author.column_names[column]}"
    return Versions(one, two, label=label)


def _only_row(table: Table, index: int) -> Table:
    return table.model_copy(update={"rows": (table.rows[index],)})


def chain_side(chain: CheckpointChain, element: Element, index: int) -> Side:
    """The final answer, or a checkpoint."""
    if element.kind == "answer":
        return Side(" = ".join(chain.answers))
    return _step(chain.steps[index])


def world_side(world: FactWorld, element: Element, index: int) -> Side:
    """The answer and how it follows, or a fact."""
    if element.kind == "answer":
        return Side(" = ".join(world.answers), _kept(world.derivation))
    return _fact(world.facts[index])


def _triple(graph: Graph, triple: Triple) -> Side:
    stage = _("stage {n}").format(n=triple.stage) if triple.stage else ""
    return Side(_BETWEEN.join(graph.named(triple)), _kept(stage, triple.note), triple.sources)


def _step(step: Checkpoint) -> Side:
    lines: Sequence[str] = ()
    if step.ambiguity is not None:
        found = step.ambiguity
        lines = (
            _("ambiguous: {kind}").format(kind=_(AMBIGUITY_WORDS[found.type])),
            headed(_("candidates"), listed(found.candidates)),
            headed(_("clue"), found.clue),
        )
    return Side(f"{' = '.join(step.names)}", (step.question, *lines), step.sources)


def _fact(fact: Fact) -> Side:
    values = " = ".join((fact.value, *fact.aliases))
    return Side(headed(fact.key, values), _kept(fact.unit, fact.kind.label), fact.sources)


def _alike(one: str, other: str) -> bool:
    return normalise(one) == normalise(other)


def _kept(*texts: str) -> tuple[str, ...]:
    return tuple(filter(None, texts))


Shown = Literal["all", "open", "differ", "author", "second", "agreed"]
SHOWN: tuple[Shown, ...] = ("all", "open", "differ", "author", "second", "agreed")
SHOWN_LABEL: dict[Shown, str] = {
    "all": N_("all"),
    "open": N_("undecided"),
    "differ": N_("differ"),
    "author": N_("only the author"),
    "second": N_("only the second"),
    "agreed": N_("agreed"),
}
TAKE_LABEL: dict[Take, str] = {
    "author": N_("author"),
    "second": N_("second"),
    "both": N_("both"),
    "neither": N_("neither"),
}
MARK: dict[Status, tuple[str, str]] = {
    "differ": ("≠", N_("differ")),
    "author": ("‹", N_("only the author")),
    "second": ("›", N_("only the second")),
    "agreed": ("=", N_("agreed")),
}
LEVEL_LABEL: dict[LevelName, str] = {
    "triple": N_("Triples"),
    "node": N_("Nodes"),
    "row": N_("Whole rows"),
    "key": N_("Rows by key"),
    "cell": N_("Cells"),
    "step": N_("Checkpoints"),
    "ambiguity": N_("Ambiguities"),
    "fact": N_("Facts"),
    "answer": N_("Answer"),
}
_ORDER: tuple[Status, ...] = ("differ", "author", "second", "agreed")


class GoldView:
    """`rows` are the elements that are shown; decisions hold whatever is shown."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.takes: dict[str, Take] = dict(comparison.takes)
        self.shown: Shown = "all"
        found = comparison.alignment.elements
        self._all = sorted(found, key=lambda element: _ORDER.index(element.status))
        self.rows: list[Element] = list(self._all)

    @property
    def decides(self) -> bool:
        """Whether this person may decide."""
        return not self.comparison.obstacle

    @property
    def open(self) -> int:
        """How many elements nobody has decided."""
        return len(undecided(self.comparison.alignment, self.takes))

    @property
    def to_decide(self) -> int:
        return sum(element.status != "agreed" for element in self._all)

    def show(self, shown: Shown) -> None:
        """Only these; what is decided meanwhile stays in view until the next time."""
        self.shown = shown
        self.rows = [element for element in self._all if self._fits(element)]

    def show_next(self) -> None:
        """The next kind of which there are any."""
        at = SHOWN.index(self.shown)
        for step in range(1, len(SHOWN) + 1):
            self.show(SHOWN[(at + step) % len(SHOWN)])
            if self.rows:
                return

    def take(self, row: int) -> Take | None:
        """What is taken of the element in a line; None while it is open."""
        return take_of(self.rows[row], self.takes)

    def choose(self, row: int, take: Take) -> bool:
        """Decide; False for what cannot be taken of this element."""
        element = self.rows[row]
        settled = element.settled(take)
        if settled is None or not self.decides:
            return False
        self.takes[element.key] = settled
        return True

    def choose_for_open(self, take: Take) -> int:
        """Decide all open ones that are shown alike; how many there were."""
        rows = [row for row in range(len(self.rows)) if self.take(row) is None]
        return sum(self.choose(row, take) for row in rows)

    def next_open(self, row: int) -> int | None:
        """The first open element after `row`, or from the start; None where none is shown."""
        count = len(self.rows)
        order = [(row + step) % count for step in range(1, count + 1)] if count else []
        return next((at for at in order if self.take(at) is None), None)

    def versions_at(self, row: int) -> Versions:
        """What both sides say."""
        return versions_of(self.comparison, self.rows[row])

    def sources(self, row: int) -> list[str]:
        """The addresses that either side gives."""
        told = self.versions_at(row)
        return list(dict.fromkeys((*told.author.sources, *told.second.sources)))

    # In words

    def summary(self) -> str:
        """`3 differ · 2 only the author · 1 only the second · 73 agreed`."""
        count = self.comparison.alignment.by_status()
        return " · ".join(f"{count[status]} {_(MARK[status][1])}" for status in _ORDER)

    def progress(self) -> str:
        second = self.comparison.second
        if second.decided_by and not self.takes:
            told = _("decided by {person}: see revision {number}")
            return told.format(person=second.decided_by, number=second.settled)
        if not self.decides:
            return self.comparison.obstacle
        if not self.to_decide:
            return _("both golds say the same")
        return _("{done} of {n} decided").format(done=self.to_decide - self.open, n=self.to_decide)

    def who(self) -> str:
        """Whose independent gold, of which revision, and what it took."""
        second = self.comparison.second
        minutes = round(second.seconds / 60)
        parts = [
            _("independent gold by {person}").format(person=second.by),
            _("revision {number}").format(number=second.revision),
            ngettext("{n} minute", "{n} minutes", minutes).format(n=minutes),
        ]
        if len(self.comparison.others) > 1:
            at = [gold.uid for gold in self.comparison.others].index(second.uid)
            parts.append(_("{i} of {n}").format(i=at + 1, n=len(self.comparison.others)))
        if self.comparison.head != second.revision:
            parts.append(_("beside revision {number}").format(number=self.comparison.head))
        return " · ".join(parts)

    def figures(self) -> list[list[str]]:
        """A line a level: name, precision, recall and F1, each with its n; reasons where undefined."""
        return [_figures(level) for level in self.comparison.agreement.levels]

    def kappa(self) -> str:
        return _("No kappa: {reason}.").format(reason=self.comparison.agreement.kappa.reason)

    def cells(self, row: int) -> tuple[str, str, str, str]:
        """What it is, the author's version, the second's, and what is taken (in one line each)."""
        what, author, second = in_one_line(self.versions_at(row))
        take = self.take(row)
        taken = _(TAKE_LABEL[take]) if take else "?" if self.decides else ""
        return what, author, second, taken

    def heading(self, row: int) -> str:
        """What the element is, and how its versions stand to each other; "" where there is none."""
        if row >= len(self.rows):
            return ""
        element = self.rows[row]
        return " · ".join(
            filter(None, (self.versions_at(row).label, _(MARK[element.status][1]), element.why))
        )

    def both_sides(self, row: int) -> tuple[list[Entry], list[Entry]]:
        """The author's version and the second's in full, each with whether it is taken."""
        if row >= len(self.rows):
            return [], []
        told, take = self.versions_at(row), self.take(row)
        author = _version(_("Author"), "user", told.author, taken=take in ("author", "both"))
        second = _version(_("Second"), "agent", told.second, taken=take in ("second", "both"))
        if note := self.comparison.second.note:
            text = Paragraph(note, "muted")
            second.append(Entry("work", 0, (Piece(_("Their note"), "muted"),), (text,)))
        return author, second

    def _fits(self, element: Element) -> bool:
        match self.shown:
            case "all":
                return True
            case "open":
                return take_of(element, self.takes) is None
            case status:
                return element.status == status


def _version(name: str, tone: Tone, said: Side, *, taken: bool) -> list[Entry]:
    head = [Piece(name, tone), *([Piece(f" · ✓ {_('taken')}", "good")] if taken else [])]
    body = said.paragraphs or (Paragraph(_("nothing here"), "muted"),)
    return [Entry("work", 0, tuple(head), tuple(body))]


def _figures(level: LevelAgreement) -> list[str]:
    shares: Sequence[Statistic] = (level.precision, level.recall, level.f1)
    reason = next((share.reason for share in shares if share.value is None), "")
    cells = [
        f"{share.value:.2f} ({share.n})" if share.value is not None else "–" for share in shares
    ]
    return [_(LEVEL_LABEL[level.level]), *cells, reason]
