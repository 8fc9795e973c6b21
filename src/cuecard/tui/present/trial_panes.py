"""Panes beside a trial's transcript: stages and steps, context size by model call, and the world's hit log."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from cuecard.annotate.results.trial_disclosure import (
    CueEvidence,
    Reading,
    StageSeen,
    StepSeen,
    UnmetTurn,
)
from cuecard.annotate.results.trial_record import (
    CallSize,
    ContextCut,
    ContextSize,
    HitEntry,
    HitLog,
)
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef
from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.i18n import _, headed, ngettext, plural
from cuecard.core.tasks.models import Stage, Task
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision, Item
from cuecard.tui.families import TUI
from cuecard.tui.present.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.present.labels import (
    AMBIGUITY,
    CUE_KIND,
    player_name,
    short_tokens_label,
    status_label,
)
from cuecard.tui.present.transcript import flag_label

DECISION: dict[Decision, tuple[str, Tone]] = {
    Decision.YES: ("✓", "good"),
    Decision.NO: ("✗", "bad"),
    Decision.UNJUDGED: ("?", "muted"),
}


@dataclass(frozen=True)
class PaneLine:
    """Enter goes to event `seq`, or to where `item` was first named. `place`: where a note on this line is
    pinned. `note`: the note that the line shows, by its uid.
    """

    entry: Entry
    seq: int | None = None
    item: Item | None = None
    place: str = ""
    note: str = ""


@dataclass(frozen=True)
class PaneText:
    """What a pane shows: a line or two above, and its lines."""

    note: str
    lines: Sequence[PaneLine] = ()


def work_entry(head: Sequence[Piece], *fold: Paragraph, turn: int = -1) -> Entry:
    return Entry("work", turn, tuple(head), fold=fold)


def turn_piece(turn: int) -> Piece:
    """` · turn 3`; `turn` counts from 0."""
    return Piece(" · " + _("turn {n}").format(n=turn + 1), "muted")


def quoted(text: str, limit: int = 160) -> str:
    return f"“{one_line(text, limit)}”"


WIDTH = 16
"""Cells of the longest bar."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, width: int = WIDTH) -> str:
    """A bar for a share from 0 to 1, to an eighth of a cell, filled up with blanks; never empty above 0."""
    eighths = min(round(max(share, 0.0) * width * 8), width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def context_text(sizes: ContextSize) -> PaneText:
    if not sizes.calls and not sizes.cuts:
        return PaneText(_("No model was called: this agent has no context to fill."))
    largest = max((call.prompt for call in sizes.calls), default=0)
    return PaneText(_note(sizes, largest), list(_lines(sizes, largest)))


def _note(sizes: ContextSize, largest: int) -> str:
    n = len(sizes.calls)
    said = [ngettext("{n} model call", "{n} model calls", n).format(n=n)]
    if largest:
        said.append(_("at most {tokens} read").format(tokens=short_tokens_label(largest)))
    else:
        said.append(_("the server counted no tokens"))
    if sizes.cuts:
        said.append(plural("{n} compaction", "{n} compactions", len(sizes.cuts)))
    if sizes.limit:
        said.append(_("to stay under {tokens}").format(tokens=short_tokens_label(sizes.limit)))
    return " · ".join(said)


def _lines(sizes: ContextSize, largest: int) -> Iterator[PaneLine]:
    """Calls and cuts in the order of the log, by turn."""
    every = sorted((*sizes.calls, *sizes.cuts), key=lambda each: each.seq)
    for (turn, last), group in groupby(every, key=_part):
        each = list(group)
        name = _("conclusion") if last else _("turn {n}").format(n=turn + 1)
        calls = sum(isinstance(one, CallSize) for one in each)
        told = ngettext("{n} model call", "{n} model calls", calls).format(n=calls)
        head = [Piece(name, "strong"), Piece(f" · {told}", "muted")]
        place = "" if last else f"turn/{turn}"
        yield PaneLine(work_entry(head, turn=turn), seq=each[0].seq, place=place)
        for one in each:
            yield _cut(one) if isinstance(one, ContextCut) else _call(one, largest)


def _part(each: CallSize | ContextCut) -> tuple[int, bool]:
    return each.turn, isinstance(each, CallSize) and each.part == "conclusion"


def _call(call: CallSize, largest: int) -> PaneLine:
    share = call.prompt / largest if largest else 0.0
    head = [
        Piece(f"{call.number:>4} ", "muted"),
        Piece(bar(share), "agent"),
        Piece(f" {call.prompt:>9,}"),
    ]
    if call.scope:
        head.append(Piece(f" · {one_line(call.scope.replace('/', ' '), 24)}", "muted"))
    told = _(
        "{model}: {prompt} read ({cached} cached), {completion} written ({reasoning} thinking)"
    )
    fold = Paragraph(
        told.format(
            model=one_line(call.model, 60),
            prompt=f"{call.prompt:,}",
            cached=f"{call.cached:,}",
            completion=f"{call.completion:,}",
            reasoning=f"{call.reasoning:,}",
        ),
        "muted",
        5,
    )
    entry = work_entry(head, fold, turn=call.turn)
    return PaneLine(entry, seq=call.seq, place=f"event/{call.seq}")


def _cut(cut: ContextCut) -> PaneLine:
    if cut.strategy == "summary":
        told = _("summed up at {before}")
    else:
        told = ngettext(
            "the oldest message left out at {before}",
            "the oldest {dropped} messages left out at {before}",
            cut.dropped,
        )
    text = told.format(before=f"{cut.before:,}", dropped=cut.dropped)
    if cut.after is not None:
        text += " → " + f"{cut.after:,}"
    head = [Piece("   ✂ ", "stage"), Piece(text, "stage")]
    if cut.scope:
        head.append(Piece(f" · {one_line(cut.scope.replace('/', ' '), 24)}", "muted"))
    limit = _("to stay under {tokens}").format(tokens=f"{cut.limit:,}")
    entry = work_entry(head, Paragraph(limit, "muted", 5), turn=cut.turn)
    return PaneLine(entry, seq=cut.seq, place=f"event/{cut.seq}")


def hits_text(task: Task, log: HitLog) -> PaneText:
    if not log.entries:
        return PaneText(_("The agent called no tool."))
    values = _values(task)
    turns = len({entry.turn for entry in log.entries}) > 1
    lines: list[PaneLine] = []
    for turn, group in groupby(log.entries, key=lambda entry: entry.turn):
        entries = list(group)
        if turns:
            lines.append(_heading(turn, entries))
        lines += [_line(log, entry, values) for entry in entries]
    return PaneText(_trial_hits_note(log), lines)


def _values(task: Task) -> dict[str, str]:
    """What stands behind a key that worlds log: a fact's value, a gold triple."""
    return TUI[task.family].values(task.gold)


def _name(key: str) -> str:
    """A fact's own key; numbers of gold triples, rows and checkpoints as they stand elsewhere, from 1."""
    kind, _slash, rest = key.partition("/")
    number, _slash, more = rest.partition("/")
    if number.isdecimal():
        n = int(number) + 1
        match kind:
            case "triple" if not more:
                return _("triple {n}").format(n=n)
            case "cell" if more:
                return _("row {n}, {column}").format(n=n, column=one_line(more, 40))
            case "checkpoint" if not more:
                return _("step {n}").format(n=n)
            case "checkpoint" if more == "readings":
                return _("step {n}, its readings").format(n=n)
            case _:
                pass
    return one_line(key, 60)


def _heading(turn: int, entries: Sequence[HitEntry]) -> PaneLine:
    n, hits = len(entries), sum(bool(entry.hit) for entry in entries)
    told = [
        ngettext("{n} tool call", "{n} tool calls", n).format(n=n),
        ngettext("{n} hit", "{n} hits", hits).format(n=hits),
    ]
    head = [
        Piece(_("turn {n}").format(n=turn + 1), "strong"),
        Piece(" · " + " · ".join(told), "muted"),
    ]
    return PaneLine(work_entry(head, turn=turn), seq=entries[0].seq, place=f"turn/{turn}")


def _trial_hits_note(log: HitLog) -> str:
    n = len(log.entries)
    said = [ngettext("{n} tool call", "{n} tool calls", n).format(n=n)]
    if any(entry.hit is not None for entry in log.entries):
        said.append(ngettext("{n} hit", "{n} hits", log.hits).format(n=log.hits))
    else:
        said.append(_("this world keeps no hit log"))
    if log.facts:
        share = f"{log.found / log.facts:.2f}"
        said.append(plural("{found} of {n} fact found (FCR {share})", "{found} of {n} facts found (FCR {share})", log.facts, found=log.found, share=share))  # fmt: skip
    return " · ".join(said)


def _line(log: HitLog, entry: HitEntry, values: Mapping[str, str]) -> PaneLine:
    mark = "✓" if entry.hit else "✗" if entry.hit is False or not entry.ok else "·"
    tone = "good" if entry.hit else "bad" if mark == "✗" else "muted"
    head = [
        Piece(f"{mark} ", tone),
        Piece(f"{entry.call}. ", "muted"),
        Piece(one_line(entry.query or entry.tool, 160), "plain" if entry.hit else "muted"),
    ]
    if not entry.ok:
        head.append(Piece(" · " + _("refused"), "bad"))
    if entry.compound:
        head.append(Piece(" · " + _("compound"), "bad"))
    for match in entry.matched:
        key = _name(match.key)
        if match.first:
            head.append(Piece(f" · + {key}", "good"))
        else:
            again = _("{key} again") if match.known else _("{key}: no fact of this task")
            head.append(Piece(" · " + again.format(key=key), "muted"))
    share = log.coverage(entry)
    if share is not None and entry.fresh:
        head.append(Piece(f" · {entry.found}/{log.facts} = {share:.2f}", "strong"))
    fold = [Paragraph(_("tool: {name}").format(name=one_line(entry.tool, 60)), "muted", 4)]
    for match in entry.matched:
        value = values.get(match.key, "")
        fold.append(Paragraph(headed(match.key, value), "good", 4))
    if entry.reason:
        reason = _("the world's reason: {reason}").format(reason=entry.reason)
        fold.append(Paragraph(reason, "muted", 4))
    if share is not None:
        by_then = _("facts found by then: {n} of {all}")
        fold.append(Paragraph(by_then.format(n=entry.found, all=log.facts), "muted", 4))
    entry_ = work_entry(head, *fold, turn=entry.turn)
    return PaneLine(entry_, seq=entry.seq, place=f"event/{entry.seq}")


def stages_text(
    stages: Sequence[Stage], seen: Sequence[StageSeen], user: PlayerRef | None
) -> PaneText:
    """`user`: who decided."""
    if not stages:
        return PaneText(_("This task has no stages: the user asks once."))
    said = sum(stage.turn is not None for stage in seen)
    note = plural("{said} of {n} stage disclosed", "{said} of {n} stages disclosed", len(stages), said=said)  # fmt: skip
    if user:
        note += " · " + _("decided by {name}").format(name=player_name(user))
    lines: list[PaneLine] = []
    for stage, found in zip(stages, seen, strict=False):
        lines += _stage(stage, found)
    return PaneText(note, lines)


def _stage(stage: Stage, seen: StageSeen) -> Iterator[PaneLine]:
    told = seen.turn is not None
    place = f"stage/{seen.number}"
    head = [
        Piece("✓ " if told else "· ", "good" if told else "muted"),
        Piece(f"{seen.number} {one_line(stage.title, 60)}", "plain" if told else "muted"),
    ]
    if seen.turn is not None:
        head.append(turn_piece(seen.turn))
    if seen.cue_met is False:
        head.append(Piece(" · " + _("✗ cue not met"), "bad"))
    elif seen.unsure:
        head.append(Piece(" · " + _("~ cue left open"), "muted"))
    if seen.edited:
        head.append(Piece(" · " + _("line edited"), "muted"))
    if seen.pushes:
        n = len(seen.pushes)
        pushed = ngettext("{n} push before", "{n} pushes before", n).format(n=n)
        head.append(Piece(" · " + pushed, "stage"))
    head += [Piece(f" · ⚑ {flag_label(flag)}", "bad") for flag in seen.flags]
    body = [Paragraph(text, "muted", 4) for text in _why(seen.met, seen.reason)]
    fold = [
        Paragraph(f"{_('CUE')} · {_(CUE_KIND[stage.cue.kind.value])}", "agent", 2),
        Paragraph(stage.cue.text, indent=4),
        Paragraph(_("LINE"), "agent", 2),
        Paragraph(stage.line, indent=4),
    ]
    if stage.not_met:
        fold += [Paragraph(_("IF NOT"), "agent", 2), Paragraph(stage.not_met, indent=4)]
    turn = -1 if seen.turn is None else seen.turn
    entry = Entry("work", turn, tuple(head), tuple(body), tuple(fold))
    seq = seen.seq if seen.seq is not None else seen.pushes[0].seq if seen.pushes else None
    yield PaneLine(entry, seq=seq, place=place)
    for push in seen.pushes:
        yield _push(push, place)


def _push(push: UnmetTurn, place: str) -> PaneLine:
    head = [Piece("    ✗ ", "bad"), Piece(_("pushed"), "muted"), turn_piece(push.turn)]
    if push.reason:
        head.append(Piece(f": {one_line(push.reason, 200)}", "muted"))
    return PaneLine(work_entry(head, turn=push.turn), seq=push.seq, place=place)


def steps_text(
    chain: CheckpointChain, seen: Sequence[StepSeen], user: PlayerRef | None
) -> PaneText:
    """`user`: who read the agent's turns."""
    done = sum(step.advanced_seq is not None for step in seen)
    note = plural("{done} of {n} checkpoint passed", "{done} of {n} checkpoints passed", len(chain.steps), done=done)  # fmt: skip
    if user:
        note += " · " + _("read by {name}").format(name=player_name(user))
    lines: list[PaneLine] = []
    for step, found in zip(chain.steps, seen, strict=False):
        lines += _step(step, found)
    return PaneText(note, lines)


def _step(step: Checkpoint, seen: StepSeen) -> Iterator[PaneLine]:
    passed = seen.advanced_seq is not None
    tone: Tone = "good" if passed else "bad" if seen.readings else "muted"
    mark = "✓ " if passed else "✗ " if seen.readings else "· "
    reached = bool(seen.readings)
    head = [
        Piece(mark, tone),
        Piece(f"{seen.index + 1} {one_line(step.question, 80)}", "plain" if reached else "muted"),
    ]
    fold = [Paragraph(_("TARGET"), "agent", 2), Paragraph(" / ".join(step.names), indent=4)]
    if step.ambiguity:
        kind = _(AMBIGUITY[step.ambiguity.type])
        head.append(Piece(" · " + _("ambiguous: {kind}").format(kind=kind), "stage"))
        fold += [
            Paragraph(_("CLUE"), "agent", 2),
            Paragraph(step.ambiguity.clue, indent=4),
            Paragraph(_("WHY AMBIGUOUS"), "agent", 2),
            Paragraph(step.ambiguity.logic, indent=4),
        ]
    place = f"step/{seen.index}"
    first = seen.readings[0] if seen.readings else None
    entry = work_entry(head, *fold, turn=first.turn if first else -1)
    yield PaneLine(entry, seq=first.seq if first else None, place=place)
    for reading in seen.readings:
        yield _reading(reading, place, clue=reading.seq == seen.clue_seq)


def _reading(reading: Reading, place: str, *, clue: bool) -> PaneLine:
    head = [Piece("    " + status_label(reading.status), _tone(reading)), turn_piece(reading.turn)]
    if reading.searches:
        n = ngettext("{n} search", "{n} searches", reading.searches).format(n=reading.searches)
        head.append(Piece(f" · {n}", "muted"))
    if clue:
        head.append(Piece(" · " + _("clue released"), "stage"))
    body = tuple(Paragraph(text, "muted", 6) for text in _why(reading.met, reading.reason))
    entry = Entry("work", reading.turn, tuple(head), body)
    return PaneLine(entry, seq=reading.seq, place=place)


def _tone(reading: Reading) -> Tone:
    if reading.status is CheckpointStatus.SEARCH_ONLY:
        return "muted"
    return "good" if status_label(reading.status)[0] in "✓●" else "bad"


def _why(met: CueEvidence, reason: str) -> Iterator[str]:
    """The agent's words that a decision follows, and the reason that was given for it."""
    if met.text:
        words = quoted(met.text, 140)
        match met.how:
            case "evidence":
                yield _("pointed at: {words}").format(words=words)
            case "terms":
                yield _("met by: {words}").format(words=words)
            case _:
                yield _("after: {words}").format(words=words)
    if reason:
        yield _("reason: {reason}").format(reason=one_line(reason, 300))
