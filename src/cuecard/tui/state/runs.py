"""Runs and the states of their trials as words, counts and a bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum

from cuecard.core.i18n import N_, NP_, _, ngettext
from cuecard.core.tasks import Family
from cuecard.core.text import one_line
from cuecard.store.records import RunLease, RunRecord, RunState, TrialRecord
from cuecard.tui.state.transcript import Piece, Tone

MAIN_MEASURE: dict[Family, str] = {
    "graph": "triplet_f1",
    "table": "row_f1",
    "checkpoints": "acc",
    "facts": "pass_at_1",
}


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


def counts(trials: Iterable[TrialRecord], playing: Mapping[int, int]) -> list[Piece]:
    """How many trials are in which state, those that there are."""
    found = Counter(trial_state(trial, playing) for trial in trials)
    pieces: list[Piece] = []
    for state, (glyph, tone, label) in STATE_LOOK.items():
        if found[state]:
            pieces.append(Piece(("   " if pieces else "") + f"{glyph} {found[state]} ", tone))
            pieces.append(Piece(_(label), "muted"))
    return pieces


def progress(run: RunRecord, width: int = 24) -> list[Piece]:
    """A bar of finished trials with the numbers behind it."""
    share = run.finished / run.trials if run.trials else 0.0
    full = int(share * width)
    numbers = _("{done} of {all} trials").format(done=run.finished, all=run.trials)
    return [
        Piece("█" * full, "good"),
        Piece("░" * (width - full), "muted"),
        Piece(f" {numbers}", "plain"),
    ]


def heading(run: RunRecord) -> list[Piece]:
    samples = ngettext("{n} sample", "{n} samples", run.samples).format(n=run.samples)
    limit = _("at most {n} turns").format(n=run.limits.max_turns)
    about = f"{run.created_by} · {when(run.created_at)} · {samples} · {limit}"
    return [
        Piece(one_line(run.name, 60), "strong"),
        Piece("  " + run.state.told, run.state.tone),
        Piece("  " + one_line(about), "muted"),
    ]


def played_by(lease: RunLease) -> str:
    """`Ben plays it on host, process 12, since 21:03`."""
    text = _("{person} plays it on {host}, process {pid}, since {time}.")
    return text.format(
        person=one_line(lease.person, 40) or _("Somebody"),
        host=one_line(lease.host, 40),
        pid=lease.pid,
        time=when(lease.since),
    )


def why_it_stands(run: RunRecord, *, here: bool) -> list[list[Piece]]:
    """Who plays it elsewhere, or why it is paused, in a line; nothing for one that is played here."""
    if here:
        return []
    if run.state is RunState.RUNNING and run.lease is not None:
        return [[Piece(played_by(run.lease), "stage")]]
    if run.state is RunState.PAUSED and run.reason:
        return [[Piece(one_line(run.reason, 200), "bad")]]
    return []
