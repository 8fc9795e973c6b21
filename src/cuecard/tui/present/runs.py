"""Runs in words: counts of trials by state, progress, cost, and errors."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_, NP_, _, joined, listed, ngettext, plural, spaced
from cuecard.core.records import OrderKind, RunLease, RunOrder, RunRecord, RunState, TrialRecord
from cuecard.core.text import one_line
from cuecard.core.worker_archive import AlreadyPlayed
from cuecard.tui.present.entries import Piece, Tone, named
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import TERMINATION, short_tokens_label
from cuecard.tui.present.review import minutes

if TYPE_CHECKING:
    from cuecard.annotate.results.forecast import Forecast


MAIN_MEASURE = CORE.each(lambda family: family.main)


class TrialState(StrEnum):
    WAITING = "waiting"
    BEGUN = "begun"
    PLAYING = "playing"
    ENDED = "ended"
    FAILED = "failed"


STATE_LOOK: dict[TrialState, tuple[str, Tone, str]] = {
    TrialState.ENDED: ("●", "good", N_("ended")),
    TrialState.FAILED: ("✗", "bad", N_("failed")),
    TrialState.PLAYING: ("▸", "user", N_("playing")),
    TrialState.BEGUN: ("◌", "muted", NP_("state", "begun")),
    TrialState.WAITING: ("○", "muted", N_("waiting")),
}


def when(moment: datetime) -> str:
    """In the reader's time zone, to the minute; the year only when it is another one."""
    local = moment.astimezone()
    this_year = local.year == datetime.now().astimezone().year
    return local.strftime("%m-%d %H:%M" if this_year else "%Y-%m-%d")


def trial_state(trial: TrialRecord, playing: Mapping[int, int]) -> TrialState:
    if trial.termination is not None:
        return TrialState.FAILED if trial.termination.is_failure else TrialState.ENDED
    if trial.id in playing:
        return TrialState.PLAYING
    return TrialState.BEGUN if trial.events else TrialState.WAITING


def state_words(trial: TrialRecord, state: TrialState) -> tuple[str, Tone]:
    """With its glyph, how a trial in this state ended, or how it stands."""
    glyph, tone, label = STATE_LOOK[state]
    if trial.termination is not None:
        glyph, _variable, label = TERMINATION[trial.termination.value]
    return f"{glyph} {_(label)}", tone


def counts(found: Mapping[TrialState, int]) -> list[Piece]:
    """How many trials are in which state, those that there are."""
    pieces: list[Piece] = []
    for state, (glyph, tone, label) in STATE_LOOK.items():
        if n := found.get(state):
            pieces.append(Piece(("   " if pieces else "") + f"{glyph} {n:,} ", tone))
            pieces.append(Piece(_(label), "muted"))
    return pieces


def done_of(done: int, every: int) -> str:
    """So many of all trials."""
    told = ngettext("{done} of {all} trial", "{done} of {all} trials", every)
    return told.format(done=f"{done:,}", all=f"{every:,}")


def progress(run: RunRecord, width: int = 24) -> list[Piece]:
    """A bar of finished trials with the numbers behind it."""
    share = run.finished / run.trials if run.trials else 0.0
    full = int(share * width)
    numbers = done_of(run.finished, run.trials)
    return [
        Piece("█" * full, "good"),
        Piece("░" * (width - full), "muted"),
        Piece(f" {numbers}", "plain"),
    ]


def heading(run: RunRecord, room: int = 0) -> list[Piece]:
    """In `room` cells, if any are named."""
    samples = ngettext("{n} sample", "{n} samples", run.samples).format(n=run.samples)
    limit = plural("at most {n} turn", "at most {n} turns", run.limits.max_turns)
    about = f"{run.created_by} · {when(run.created_at)} · {samples} · {limit}"
    state = Piece("  " + run.shown.badge, run.shown.tone)
    return named(one_line(run.name), [state, Piece("  " + one_line(about), "muted")], room)


def played_by(lease: RunLease) -> str:
    """`Ben plays it on host, process 12, since 21:03`, or how many workers do."""
    if lease.workers:
        return one_line(AlreadyPlayed(lease).message, 200)
    text = _("{person} plays it on {host}, process {pid}, since {time}.")
    return text.format(
        person=one_line(lease.person, 40) or _("Somebody"),
        host=one_line(lease.host, 40),
        pid=lease.pid,
        time=when(lease.since),
    )


def why_it_stands(
    run: RunRecord, *, here: bool, asked: RunOrder | None = None, waits: bool = False
) -> list[list[Piece]]:
    """Who plays it elsewhere and what was `asked` of them last, or why it is paused and how it goes on, in a line; nothing for one
    that is played here. `waits`: whether its trials wait for workers.
    """
    if here:
        return []
    if run.state is RunState.RUNNING and run.lease is not None:
        told = Piece(played_by(run.lease), "stage")
        if asked is None or asked.at < run.lease.since:
            return [[told]]
        return [[told, Piece(spaced(told.text, order_words(asked)), "stage")]]
    line: list[Piece] = []
    if waits:
        told = _("Its trials wait for workers: `cuecard worker` on any machine plays them.")
        line.append(Piece(told, "stage"))
    elif run.state is RunState.PAUSED and (asked is not None and asked.kind == "pause"):
        # In the words of whoever reads it, not of whoever obeyed.
        line.append(Piece(order_words(asked), "bad"))
    elif run.state is RunState.PAUSED and run.reason:
        line.append(Piece(one_line(run.reason, 200), "bad"))
    stopped = run.state is not RunState.DONE and (run.lease is None or waits)
    judged = waits and run.finished == run.trials  # Ended trials, of which none is played on.
    if run.kind != "play" and stopped and not judged:
        between = {".": " ", "。": ""}
        line += [Piece(between.get(line[-1].text[-1], " · "), "muted")] if line else []
        line.append(Piece(hint(_("{PLAY} plays on what is open.")), "stage"))
    return [line] if line else []


ORDERS: dict[OrderKind, str] = {
    "pause": N_("{person} asked for a pause at {time}."),
    "resume": N_("{person} asked to go on at {time}."),
    "cancel": N_("{person} asked to stop it at {time}."),
    "budget": N_("{person} set its budget at {time}: {value}."),
    "concurrency": N_("{person} set its concurrency at {time}: {value}."),
}


def order_words(order: RunOrder) -> str:
    """What somebody asked of whoever plays a run."""
    value = _("none") if order.value is None else f"{order.value:g}"
    return _(ORDERS[order.kind]).format(
        person=one_line(order.person, 40), time=when(order.at), value=value
    )


DISPUTED = "⚑"
"""Marks gold that somebody holds for wrong."""


def forecast_words(taken: Forecast, currency: str) -> str:
    """What a run is going to take, and on how many earlier trials that rests."""
    if not taken.trials:
        return _("No forecast: these agents have no earlier trials here.")
    parts = [
        ngettext("{n} call", "{n} calls", taken.calls).format(n=f"{taken.calls:,}"),
        short_tokens_label(taken.tokens),
        _("cost not known") if taken.cost is None else f"{taken.cost:.2f} {currency}",
    ]
    if not taken.calls:
        parts = [_("no model calls")]
    parts.append(minutes(taken.seconds) if taken.seconds >= 60 else _("less than a minute"))
    said = ngettext(
        "Forecast: {parts}, after {n} earlier trial.",
        "Forecast: {parts}, after {n} earlier trials.",
        taken.trials,
    ).format(parts=_(", ").join(parts), n=taken.trials)
    if not taken.unknown:
        return said
    none = _("Nothing is known of {agents}.").format(agents=listed(map(one_line, taken.unknown)))
    return joined((said, none))
