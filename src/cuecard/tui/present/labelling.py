"""The contents of the labelling screens: sets and progress, one item as paragraphs, and searchable lists beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from rich.cells import cell_len

from cuecard.annotate.authoring.graph_view import Branch
from cuecard.annotate.labelling.views import CLOSEST, GoldAround, LabelView, Pace, Revealed
from cuecard.annotate.labelling.wording import WORDING, predicted_line, stratum_words
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.evaluation.items import PredictedItem
from cuecard.core.i18n import N_, _, listed
from cuecard.core.label_records import LabelSet, RunLabels, SetParts, SetProgress
from cuecard.core.text import normalise, one_line
from cuecard.core.verdicts import ItemKind
from cuecard.tui.grid.cells import GridCell
from cuecard.tui.present.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.present.labels import DECISION, player_label, status_label

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


STATUS_KEYS: dict[str, CheckpointStatus] = dict(zip("delmopqw", CheckpointStatus, strict=True))
"""Letters that choose a status; none of them means anything else here."""


_PACED = 5
"""Items from which on it is told how fast the walk goes: the first ones say little."""
_STATUSES = frozenset(status.value for status in CheckpointStatus)


def value_label(kind: ItemKind, value: str) -> str:
    """`✓ cue met`: a decision or a label in the words of the question."""
    if value in _STATUSES:
        return status_label(CheckpointStatus(value))
    glyph, _colour, label = DECISION[value]
    wording = WORDING[kind]
    own = {"yes": wording.yes, "no": wording.no}.get(value, "")
    return f"{glyph} {_(own or label)}"


def question(kind: ItemKind) -> str:
    return _(WORDING[kind].question)


def answers(kind: ItemKind) -> list[str]:
    """The keys that answer, a line each, or a line for the short ones."""
    if kind is not ItemKind.STATUS:
        wording = WORDING[kind]
        said = (("y", wording.yes), ("n", wording.no), ("u", N_("cannot tell")))
        return [" · ".join(f"{key} {_(label)}" for key, label in said)]
    shown = [f"{key} {status_label(status)}" for key, status in STATUS_KEYS.items()]
    shown.append(f"u ~ {_('cannot tell')}")
    half = (len(shown) + 1) // 2
    rights = [*shown[half:], ""]
    width = max(cell_len(text) for text in shown) + 4
    return [
        (left + " " * (width - cell_len(left)) + right).rstrip()
        for left, right in zip(shown, rights, strict=False)
    ]


def progress_line(position: int, total: int, labelled: int, pace: Pace) -> str:
    """Where the walk stands, and how fast it goes once there is something to say."""
    said = _("item {n} of {all} · {labelled} labelled now").format(
        n=f"{min(position + 1, total):,}", all=f"{total:,}", labelled=f"{labelled:,}"
    )
    if pace.timed >= _PACED and pace.per_hour is not None and pace.each is not None:
        said += " · " + _("{n} an hour · {seconds} s each").format(
            n=f"{pace.per_hour:,.0f}", seconds=f"{pace.each:.1f}"
        )
    return said


def gold_paragraphs(view: LabelView, *, whole: bool = False) -> list[Paragraph]:
    """The item, its other names, where it belongs, and what the user asked, as a `whole` or its beginning."""
    gold = view.gold
    lines = [Paragraph(gold.text, "strong")]
    if gold.also:
        lines.append(Paragraph(_("also: {names}").format(names=listed(gold.also)), "muted"))
    if gold.context and gold.item.kind is not ItemKind.ANSWER:
        if sum(map(len, gold.context)) < 70:
            lines.append(Paragraph(" · ".join(gold.context), "stage"))
        else:
            lines += [Paragraph(text, "stage") for text in gold.context]
    lines += [Paragraph(url, "muted") for url in gold.sources]
    # Whether something was asked for can only be told from the whole question.
    limit = 0 if whole or gold.item.kind is ItemKind.PREDICTED else 120
    query = one_line(view.query, limit)
    lines.append(Paragraph(_("asked: {query}").format(query=query), "muted"))
    return lines


def evidence_paragraphs(
    view: LabelView, most: int = CLOSEST, *, all_by: str = ""
) -> list[Paragraph]:
    """What lies beside the item: the `most` of what the agent handed in that look most like it, or what was said.
    `all_by`: the key that shows all of it.
    """
    if view.said:
        lines: list[Paragraph] = []
        for said in view.said:
            agent = said.role == "agent"
            who = _("Agent") if agent else _("User")
            turn = _("turn {n}").format(n=said.turn + 1)
            lines.append(Paragraph(f"{who} · {turn}", "agent" if agent else "user"))
            lines.append(Paragraph(said.text if agent else one_line(said.text, 160), indent=2))
        return lines
    if view.gold.item.kind is ItemKind.PREDICTED:
        return [predicted_paragraph(item) for item in view.closest]
    if view.unusable:
        return [
            Paragraph(_("Nothing usable was handed in: {why}").format(why=view.unusable), "bad")
        ]
    if not view.closest:
        return [Paragraph(_("The agent handed in nothing."), "muted")]
    shown = view.closest[:most]
    lines = [predicted_paragraph(item) for item in shown]
    rest = view.predicted - len(shown)
    if rest > 0:
        told = _("… and {n} more").format(n=f"{rest:,}")
        if all_by:
            told = _("{more} ({key} shows all)").format(more=told, key=all_by)
        lines.append(Paragraph(told, "muted"))
    return lines


def mine_paragraphs(view: LabelView) -> list[Paragraph]:
    """The person's own label, or what they have noted for it."""
    lines: list[Paragraph] = []
    comment, flagged = view.draft.comment, view.draft.gold_wrong
    if view.mine is not None:
        comment, flagged = view.mine.comment, view.mine.gold_wrong
        label = value_label(view.gold.item.kind, view.mine.value.value)
        said = _("You said: {label}").format(label=label)
        if view.mine.phase == "revealed":
            said += " · " + _("after the reveal")
        lines.append(Paragraph(said, "strong"))
    elif comment or flagged:
        lines.append(Paragraph(_("Goes with your label:"), "muted"))
    if flagged:
        lines.append(Paragraph(_("⚑ gold is wrong"), "bad"))
    if comment:
        lines.append(Paragraph(comment, indent=2))
    return lines


def revealed_paragraphs(view: LabelView, revealed: Revealed) -> list[Paragraph]:
    """The decision, what it rests on, and whether it is the labeller's."""
    if revealed.judge is None:
        return [Paragraph(_("No machine has decided on this."), "muted")]
    tone: Tone = "good" if revealed.agrees else "bad" if revealed.agrees is False else "plain"
    said = _("{judge}: {label}").format(
        judge=player_label(revealed.judge),
        label=value_label(view.gold.item.kind, revealed.decision.value),
    )
    lines = [Paragraph(said, tone)]
    if revealed.rationale:
        lines.append(Paragraph(revealed.rationale, "muted", indent=2))
    lines += [predicted_paragraph(item) for item in revealed.supporting]
    return lines


def predicted_paragraph(item: PredictedItem) -> Paragraph:
    """An item by its number, a table's cell before its row."""
    return Paragraph(predicted_line(item), indent=2)


class SearchableLines:
    """Lines of which those are shown that hold every word typed; read for comparing only once."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = tuple(entries)
        self._texts = [
            normalise("".join(piece.text for piece in entry.head)) for entry in self._entries
        ]

    def __len__(self) -> int:
        return len(self._entries)

    def found(self, typed: str) -> list[Entry]:
        """All entries while nothing is typed."""
        words = normalise(typed).split()
        return [
            entry
            for entry, text in zip(self._entries, self._texts, strict=True)
            if all(word in text for word in words)
        ]


def predicted_entries(items: Sequence[PredictedItem]) -> list[Entry]:
    """A line for each item that was handed in."""
    return [_line(predicted_paragraph(item)) for item in items]


def gold_entries(gold: GoldAround) -> list[Entry]:
    """The neighbourhoods as trees, then all of the gold."""
    entries: list[Entry] = []
    for tree in gold.around:
        entries.append(Entry("work", -1, (Piece(tree.entity, "strong"),)))
        entries += [Entry("work", -1, (Piece(text, "work"),)) for text in _below(tree.branches, 1)]
    if gold.around:
        entries.append(Entry("work", -1, (Piece(_("All of the gold"), "strong"),)))
    return [*entries, *(_line(predicted_paragraph(item)) for item in gold.items)]


def _below(branches: Sequence[Branch], depth: int) -> Iterator[str]:
    for branch in branches:
        arrow = "←" if branch.inward else "→"
        again = " ↑" if branch.again else ""
        yield f"{'  ' * depth}{arrow} {branch.relation} {arrow} {branch.entity}{again}"
        yield from _below(branch.branches, depth + 1)


def _line(paragraph: Paragraph) -> Entry:
    return Entry("work", -1, (Piece(paragraph.text),))


class SetLine(NamedTuple):
    """A set and how far it is for one person."""

    set: LabelSet
    progress: SetProgress
    parts: SetParts


class VerdictsSnapshot(NamedTuple):
    """The contents of the Verdicts screen. `probes`: which of `runs` are quality probes, which nobody is asked to label
    unless they choose them.
    """

    runs: tuple[RunLabels, ...] = ()
    sets: tuple[SetLine, ...] = ()
    probes: frozenset[int] = frozenset()


def verdicts_snapshot(workspace: Workspace, person: str) -> VerdictsSnapshot:
    """Runs with verdicts and sets, the newest first; probes last."""
    probes = frozenset(run.id for run in workspace.runs.all() if run.kind == "probe")
    runs = sorted(workspace.verdicts.progress(person), key=lambda run: run.run_id in probes)
    progress, parts = workspace.label_sets.progress(person), workspace.label_sets.parts()
    return VerdictsSnapshot(
        runs=tuple(runs),
        sets=tuple(
            SetLine(s, progress.get(s.id, SetProgress()), parts.get(s.id, SetParts()))
            for s in workspace.label_sets.all()
        ),
        probes=probes,
    )


_BAR = 20
"""Cells of a bar of progress."""


def set_paragraphs(line: SetLine) -> list[Paragraph]:
    """How far a set is, by person and by stratum."""
    people, strata = line.parts.people, line.parts.strata
    told = " · ".join(f"{one_line(name)} {n:,}" for name, n in people.items())
    lines = [
        Paragraph(line.set.name, "strong"),
        Paragraph(
            _("Labels by {people}").format(people=told)
            if told
            else _("Nobody has labelled anything yet.")
        ),
    ]
    by = cast(list[str], line.set.plan.get("strata") or [])
    names = {name: one_line(stratum_words(name, by)) or _("all items") for name in strata}
    wide = max((cell_len(name) for name in names.values()), default=0)
    for stratum, (items, done) in strata.items():
        filled = done * _BAR // items if items else 0
        bar = "█" * filled + "░" * (_BAR - filled)
        name = names[stratum] + " " * (wide - cell_len(names[stratum]))
        counts = _("{done} of {all}").format(done=f"{done:,}", all=f"{items:,}")
        lines.append(
            Paragraph(f"{name}  {bar}  {counts}", "good" if done >= items else "plain", indent=2)
        )
    return lines


def given(line: SetLine) -> GridCell:
    """Labels of a set that are there, of those that are wanted."""
    progress = line.progress
    full = progress.given >= progress.wanted
    return GridCell(f"{progress.given:,}/{progress.wanted:,}", "good" if full else "plain")


def left(line: SetLine) -> GridCell:
    """Items of a set that wait for this person."""
    n = line.progress.left
    return GridCell(f"{n:,}", "strong" if n else "muted")


def pace(progress: SetProgress) -> str:
    """Items an hour at work, of those whose time is known; a dash where none is."""
    if not progress.timed or not progress.seconds:
        return "–"
    return _("{n:,.0f}/h").format(n=progress.timed * 3600 / progress.seconds)
