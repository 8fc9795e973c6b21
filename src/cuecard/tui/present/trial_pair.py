"""Two trials side by side as rows, and what stands behind a row on each side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from cuecard.annotate.results.trial_pairs import (
    Amount,
    PairedEvent,
    PairLine,
    Side,
    TrialPair,
    VerdictPair,
)
from cuecard.core.evaluation.items import VerdictView
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.scoring.measures import measure_label
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision
from cuecard.tui.grid.cells import NOTHING, GridCell
from cuecard.tui.grid.cells import Tone as CellTone
from cuecard.tui.present.changes import in_words
from cuecard.tui.present.entries import Entry, Paragraph, Piece
from cuecard.tui.present.keyboard import Means, after, key_name
from cuecard.tui.present.labels import TERMINATION, status_label
from cuecard.tui.present.trial_panes import DECISION
from cuecard.tui.present.trial_summary import measure_value

Section = Literal["dialogue", "verdicts", "numbers"]
SECTIONS: Final[dict[Section, str]] = {
    "dialogue": N_("Dialogue"),
    "verdicts": N_("Verdicts"),
    "numbers": N_("Measures and cost"),
}
_PART: Final = {
    "user": N_("user"),
    "call": N_("tool"),
    "agent": N_("agent"),
    "handed": N_("handed in"),
    "end": N_("end"),
    "conclusion": N_("conclusion"),
    "world": N_("world"),
    "judge": N_("judge"),
}
_SPENT: Final = {
    "calls": N_("Model calls"),
    "prompt": N_("Prompt tokens"),
    "completion": N_("Completion tokens"),
    "cost": N_("Cost"),
    "seconds": N_("Seconds"),
}
_MOST, _ANSWER = 400, 6_000
DECIDED: Final[Mapping[Decision, str]] = {
    Decision.YES: N_("covered"),
    Decision.NO: N_("not covered"),
    Decision.UNJUDGED: N_("not judged"),
}


@dataclass(frozen=True)
class PairRow:
    """`what`: what it is made of; `events`: where the trials have it."""

    key: str
    place: str
    left: GridCell
    right: GridCell
    differs: bool
    what: PairLine | VerdictPair | Amount
    events: tuple[int | None, int | None] = (None, None)


@dataclass
class PairView:
    """Which section is shown, and by which judges; `rows` are kept."""

    pair: TrialPair
    section: Section = "dialogue"
    judge: int = 0
    _rows: dict[tuple[Section, int], tuple[PairRow, ...]] = field(
        default_factory=dict["tuple[Section, int]", "tuple[PairRow, ...]"]
    )

    @property
    def sections(self) -> tuple[Section, ...]:
        return ("verdicts", "numbers") if self.pair.same_trial else tuple(SECTIONS)

    @property
    def judges(self) -> tuple[str, str] | None:
        every = self.pair.judges
        return every[self.judge % len(every)] if every else None

    @property
    def names(self) -> tuple[str, str]:
        """What the sides are called: by what they differ in first."""
        pair, judges = self.pair, self.judges
        if pair.same_trial:
            return judges or ("", "")
        sides = [pair.left.opened, pair.right.opened]
        found = [one_line(side.trial.agent.name, 30) for side in sides]
        more = (
            [side.trial.user.name for side in sides],
            [_("sample {n}").format(n=side.trial.sample + 1) for side in sides],
            [one_line(side.run.name, 30) for side in sides],
            [_("trial {n}").format(n=side.trial.id) for side in sides],
        )
        for words in more:
            if found[0] != found[1]:
                break
            if words[0] != words[1]:
                found = [f"{name} · {word}" for name, word in zip(found, words, strict=True)]
        return found[0], found[1]

    def rows(self, section: Section | None = None) -> tuple[PairRow, ...]:
        key = (section or self.section, self.judge)
        if key not in self._rows:
            self._rows[key] = tuple(self._made(key[0]))
        return self._rows[key]

    def _made(self, section: Section) -> list[PairRow]:
        if section == "dialogue":
            return [_line_row(at, line, self.pair) for at, line in enumerate(self.pair.lines)]
        if self.pair.hides_verdicts:
            return []
        if section == "verdicts":
            return [_verdict_row(each) for each in self.verdicts]
        return [_amount_row(each) for each in self.pair.amounts(self.judges)]

    @property
    def verdicts(self) -> tuple[VerdictPair, ...]:
        return self.pair.verdicts(self.judges) if self.judges else ()

    def next_section(self) -> None:
        self.section = after(self.section, self.sections)

    def tabs(self) -> list[Piece]:
        """The sections, each with how many of its rows differ."""
        pieces = [Piece(f"{key_name(Means.VIEW.keys[0])} ", "muted")]
        here = self.sections.index(self.section)
        for at, section in enumerate(self.sections):
            name = f"{_(SECTIONS[section])} ≠{sum(row.differs for row in self.rows(section))}"
            told, tone = (f"[{name}]", "strong") if at == here else (f" {name} ", "muted")
            click = f"app.do('pair.view', {(at - here) % len(self.sections)})"
            pieces += [Piece(told, tone, click), Piece(" ")]
        if self.judges and len(self.pair.judges) > 1 and not self.pair.same_trial:
            told = _("judge {n} of {all}").format(n=self.judge % len(self.pair.judges) + 1, all=len(self.pair.judges))  # fmt: skip
            pieces.append(Piece(f" · {self.judges[0]} · {told}", "muted"))
        return pieces

    def why_empty(self) -> str:
        if self.pair.hides_verdicts:
            return _("You are still to label items of these trials: what was decided stays covered until then.")  # fmt: skip
        return _("Nothing here is judged by the same judge on both sides.")

    def side(self, row: PairRow, place: int) -> list[Entry]:
        """One side (0 or 1) of a row in full, with the words marked that the other does not have."""
        head = Piece(self.names[place], "user" if place == 0 else "agent")
        match row.what:
            case PairLine():
                return _line_told(row.what, place, head)
            case VerdictPair():
                side = (self.pair.left, self.pair.right)[place]
                return _verdict_told(row.what, place, head, side)
            case Amount():
                return []


def _line_row(at: int, line: PairLine, pair: TrialPair) -> PairRow:
    turns = dict.fromkeys(str(each.turn + 1) for each in line[1:] if each)
    place = f"{'/'.join(turns)} {_(_PART[line.part])}"
    stages = {each.stage for each in line[1:] if each and each.stage is not None}
    if line.part == "user" and stages and pair.left.opened.task.stages:
        place += " ▸" + "/".join(map(str, sorted(stages)))
    cells = [_said_cell(line, each) for each in line[1:]]
    events = [each.seq if each else None for each in line[1:]]
    return PairRow(f"line/{at}", place, cells[0], cells[1], line.differs, line, (events[0], events[1]))  # fmt: skip


def _said_cell(line: PairLine, said: PairedEvent | None) -> GridCell:
    if said is None:
        return GridCell("–", "muted")
    return GridCell(one_line(_words(line, said), _MOST), "plain" if line.differs else "muted")


def _words(line: PairLine, said: PairedEvent) -> str:
    if line.part != "end":
        return said.text
    return " · ".join(filter(None, (_(TERMINATION[said.text][2]), said.answer)))


def _line_told(line: PairLine, place: int, head: Piece) -> list[Entry]:
    said, other = line[1:][place], line[1:][1 - place]
    if said is None:
        return [Entry("work", 0, (head, Piece(f"  {_('nothing here')}", "muted")))]
    heads = [head, Piece(" · " + _("turn {n}").format(n=said.turn + 1), "muted")]
    reply = said.reply
    if reply is not None and reply.cue_met is not None:
        met = _("✓ cue met") if reply.cue_met else _("✗ cue not met")
        heads.append(Piece(f" · {met}", "good" if reply.cue_met else "bad"))
    if reply is not None and reply.stage is not None:
        heads.append(Piece(" · " + _("stage {n}").format(n=reply.stage), "stage"))
    if reply is not None and reply.status is not None:
        heads.append(Piece(f" · {status_label(reply.status)}", "stage"))
    text, its = _words(line, said), _words(line, other) if other else ""
    body = [_marked(text, its, place, markdown=line.part == "agent")]
    if reply is not None and reply.reason:
        body.append(Paragraph(reply.reason, "muted", 2))
    if line.part == "call":
        answer = said.answer
        cut = f"{answer[:_ANSWER]}…" if len(answer) > _ANSWER else answer
        body.append(Paragraph(cut, "work", 2))
    return [Entry("work", said.turn, tuple(heads), tuple(body))]


def _marked(text: str, other: str, place: int, *, markdown: bool = False) -> Paragraph:
    """One text; where it shares words with the other, those that it does not share are marked."""
    both = in_words(other, text) if place else in_words(text, other)
    pieces = both[place]
    if not other or text == other or len({piece.tone for piece in pieces}) < 2:
        return Paragraph(text, markdown=markdown)
    return Paragraph(text, pieces=pieces)


def _verdict_row(pair: VerdictPair) -> PairRow:
    view = pair.view
    place = f"{view.verdict.item.index + 1:>2}. {one_line(view.gold.text, _MOST)}"
    cells = [_decided(each) for each in pair]
    return PairRow(f"verdict/{view.verdict.item.key}/{view.gold.text}", place, cells[0], cells[1], pair.differs, pair)  # fmt: skip


def _decided(view: VerdictView | None) -> GridCell:
    if view is None:
        return GridCell("–", "muted")
    decision = view.verdict.decision
    tone: CellTone = "muted"
    if decision is not Decision.UNJUDGED:
        tone = "good" if decision is Decision.YES else "bad"
    why = view.verdict.rationale or (view.supporting[0].text if view.supporting else "")
    told = " · ".join(filter(None, (_(DECIDED[decision]), why)))
    return GridCell(one_line(f"{DECISION[decision][0]} {told}", _MOST), tone)


def _verdict_told(pair: VerdictPair, place: int, head: Piece, side: Side) -> list[Entry]:
    view, other = pair[place], pair[1 - place]
    if view is None:
        return [Entry("work", 0, (head, Piece(f"  {_('not judged')}", "muted")))]
    mark, tone = DECISION[view.verdict.decision]
    heads = (head, Piece(f"  {mark} {_(DECIDED[view.verdict.decision])}", tone))
    body = [Paragraph(view.gold.text, "strong", 2)]
    body += [Paragraph(f"← {each.cell or each.text}", "work", 2) for each in view.supporting]
    if not view.supporting:
        body.append(Paragraph(side.opened.prediction.reported(80), "muted", 2))
    its = other.verdict.rationale if other else ""
    body.append(_marked(view.verdict.rationale or _("no reason was given"), its, place))
    return [Entry("work", 0, heads, tuple(body))]


def _amount_row(amount: Amount) -> PairRow:
    label = _(_SPENT[amount.name]) if amount.name in _SPENT else measure_label(amount.name)
    place = f"{label} · {_(_PART[amount.payer])}" if amount.payer else label
    cells = [GridCell(_number(amount.name, value)) for value in (amount.left, amount.right)]
    if amount.differs and amount.left is not None and amount.right is not None:
        more = amount.right - amount.left
        sign = "+" if more > 0 else "−"
        cells[1] = GridCell(f"{cells[1].text}  ({sign}{_number(amount.name, abs(more))})", "strong")
    return PairRow(f"amount/{amount.payer}/{amount.name}", place, cells[0], cells[1], amount.differs, amount)  # fmt: skip


def _number(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    if name in ("cost", "seconds"):
        return f"{value:,.4f}" if name == "cost" else f"{value:,.1f}"
    return f"{value:,.0f}" if name in _SPENT else measure_value(name, value)


def summary(view: PairView) -> str:
    """Where the dialogues part, and on how many items decisions differ."""
    parts: list[str] = []
    if not view.pair.same_trial:
        first = next((line for line in view.pair.lines if line.differs), None)
        said = (first.left or first.right) if first else None
        parts.append(
            _("the same dialogue")
            if first is None or said is None
            else _("apart from turn {n} on ({part})").format(
                n=said.turn + 1, part=_(_PART[first.part])
            )
        )
    if not view.pair.hides_verdicts and view.judges:
        rows = view.rows("verdicts")
        n = sum(row.differs for row in rows)
        told = ngettext("{n} of {all} verdict differs", "{n} of {all} verdicts differ", len(rows))
        parts.append(told.format(n=n, all=len(rows)))
    return " · ".join(parts)


def mark_cell(row: PairRow) -> GridCell:
    return GridCell("≠", "bad") if row.differs else NOTHING


def next_different(rows: Sequence[PairRow], at: int, step: int) -> int | None:
    """The next row that differs, from row `at` on or back; None where there is none."""
    places = [place for place, row in enumerate(rows) if row.differs]
    after = [place for place in places if (place - at) * step > 0]
    return (after[0] if step > 0 else after[-1]) if after else None
