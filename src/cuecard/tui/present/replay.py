"""Texts of re-play: the question of a turn, the recorded decision, and the comparison at the end."""

from collections.abc import Iterable, Sequence

from cuecard.annotate.fidelity.replay_turns import (
    Nothing,
    OriginalTurn,
    Passed,
    ReplaySummary,
    ReplayView,
)
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef
from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.label_records import LabelValue
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line
from cuecard.core.verdicts import ItemKind
from cuecard.tui.present.entries import Paragraph, Piece, Tone, named
from cuecard.tui.present.labelling import STATUS_KEYS, question, value_label
from cuecard.tui.present.labels import player_label, player_name, status_label
from cuecard.tui.present.play import PlayState

PASSED: dict[Nothing, str] = {
    "start": N_("its stage belongs to the start of the conversation"),
    "all_said": N_("every stage had been said"),
    "not_decided": N_("the record holds no decision on it"),
    "broke_off": N_("there was no reply of the agent before it"),
}
_LETTER = {status: letter for letter, status in STATUS_KEYS.items()}


def play_state(task: Task, events: Iterable[Event]) -> PlayState:
    """The card as who played the user had it, after these events."""
    state = PlayState(task)
    for event in events:
        state.follow(event)
    return state


def heading(title: str, by: PlayerRef, room: int = 0) -> list[Piece]:
    """What is re-played, and whose part. Whose agent it was is left out: nobody should read its replies
    with that in mind.
    """
    return named(
        one_line(title), [Piece("  " + _("user") + " ", "muted"), Piece(player_label(by))], room
    )


def progress(view: ReplayView | None, total: int, decided: int) -> str:
    """`turn 6 · 4 of 11 · 3 decided`; never how many of them agree."""
    if view is None:
        return _("{decided} of {all} decided").format(all=total, decided=decided)
    told = _("turn {turn} · {n} of {all} · {decided} decided")
    return told.format(turn=view.turn + 1, n=view.number, all=total, decided=decided)


def question_lines(view: ReplayView, width: int) -> list[str]:
    """What is asked, and the keys that answer it in as few lines of `width` as they take."""
    if view.item.kind is ItemKind.CUE:
        said = (("y", _("cue met")), ("n", _("cue not met")), ("u", _("cannot tell")))
    else:
        said = (
            *((_LETTER[each], status_label(each)) for each in _statuses(view)),
            ("u", f"~ {_('cannot tell')}"),
        )
    asked = question(view.item.kind)
    return [asked, *_filled([f"{key} {label}" for key, label in said], width)]


def _statuses(view: ReplayView) -> list[CheckpointStatus]:
    return [value for value in view.choices if isinstance(value, CheckpointStatus)]


def _filled(parts: Sequence[str], width: int) -> list[str]:
    from rich.cells import cell_len

    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else ""
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def passed_line(passed: Sequence[Passed]) -> str:
    """A word for each turn that was passed over; "" where none was."""
    if not passed:
        return ""
    told: list[str] = []
    reasons: list[Nothing] = [each.why for each in passed]
    for why in dict.fromkeys(reasons):
        turns = [str(each.turn + 1) for each in passed if each.why == why]
        text = ngettext(
            "turn {turns} passed over: {why}", "turns {turns} passed over: {why}", len(turns)
        )
        told.append(text.format(turns=listed(turns), why=_(PASSED[why])))
    return " · ".join(told)


def original_paragraphs(view: ReplayView, told: OriginalTurn) -> list[Paragraph]:
    """Both decisions below each other, and why the user part decided so; the dialogue has its words."""
    kind, mine = view.item.kind, view.mine
    lines: list[Paragraph] = []
    if mine is not None:
        said = _("You: {label}").format(label=value_label(kind, mine.value.value))
        if mine.phase == "revealed":
            said += " · " + _("you had seen what was decided")
        lines.append(Paragraph(said, "strong"))
        if mine.comment:
            lines.append(Paragraph(mine.comment, "muted", 2))
    tone: Tone = "good" if told.agrees else "bad" if told.agrees is False else "plain"
    value = told.value.value if told.value else LabelValue.UNSURE.value
    parts = [_("{user}: {label}").format(user=player_name(told.by), label=value_label(kind, value))]
    if told.agrees is not None:
        parts.append(_("the same") if told.agrees else _("≠ different"))
    lines.append(Paragraph(" · ".join(parts), tone))
    if reason := told.spoken.reply.reason:
        lines.append(Paragraph(_("why: {reason}").format(reason=reason), "muted", 2))
    return lines


def summary_lines(summary: ReplaySummary, by: PlayerRef) -> list[Paragraph]:
    """How the decisions compare, in sentences."""
    if not summary.total:
        return [Paragraph(passed_line(summary.passed), "muted")] if summary.passed else []
    lines = [
        Paragraph(
            _("You and {user} agree on {agreed} of {compared} turns.").format(
                user=player_name(by), agreed=summary.agreed, compared=summary.compared
            ),
            "strong",
        )
    ]
    left = summary.decided - summary.compared
    if left:
        text = ngettext(
            "In {n} turn one of you could not tell.",
            "In {n} turns one of you could not tell.",
            left,
        )
        lines.append(Paragraph(text.format(n=left), "muted"))
    if summary.seen:
        text = ngettext(
            "{n} decision is not blind: you had seen what was decided.",
            "{n} decisions are not blind: you had seen what was decided.",
            summary.seen,
        )
        lines.append(Paragraph(text.format(n=summary.seen), "muted"))
    if passed := passed_line(summary.passed):
        lines.append(Paragraph(passed, "muted"))
    return lines
