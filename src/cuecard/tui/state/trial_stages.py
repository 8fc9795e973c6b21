"""The stage timeline of a persona and the ladder of checkpoints: what was disclosed where, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuecard.core.i18n import _, ngettext
from cuecard.core.parts import CheckpointStatus, PlayerRef
from cuecard.core.tasks import Checkpoint, CheckpointChain, Stage
from cuecard.core.text import one_line
from cuecard.results.trial.disclosure import Met, Push, Reading, StageSeen, StepSeen
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.state.labels import AMBIGUITY, CUE_KIND, player_name, status_label
from cuecard.tui.state.marks import flag_label
from cuecard.tui.state.trial_lines import PaneLine, PaneText, quoted, turn_piece, work_entry


def stages_text(
    stages: Sequence[Stage], seen: Sequence[StageSeen], user: PlayerRef | None
) -> PaneText:
    """`user`: who decided."""
    if not stages:
        return PaneText(_("This task has no stages: the user asks once."))
    said = sum(stage.turn is not None for stage in seen)
    note = _("{n} of {all} stages disclosed").format(n=said, all=len(stages))
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


def _push(push: Push, place: str) -> PaneLine:
    head = [Piece("    ✗ ", "bad"), Piece(_("pushed"), "muted"), turn_piece(push.turn)]
    if push.reason:
        head.append(Piece(f": {one_line(push.reason, 200)}", "muted"))
    return PaneLine(work_entry(head, turn=push.turn), seq=push.seq, place=place)


def steps_text(
    chain: CheckpointChain, seen: Sequence[StepSeen], user: PlayerRef | None
) -> PaneText:
    """`user`: who read the agent's turns."""
    done = sum(step.advanced_seq is not None for step in seen)
    note = _("{n} of {all} checkpoints passed").format(n=done, all=len(chain.steps))
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


def _why(met: Met, reason: str) -> Iterator[str]:
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
