"""Runs and their trials as rows, counts and a bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.scoring.aggregate import AggregateMeasure, Statistic
from cuecard.core.scoring.labels import PROFILE_LABELS, measure_label, statistic_label
from cuecard.core.scoring.profiles import ProfileCount
from cuecard.core.tasks import Family
from cuecard.core.text import one_line
from cuecard.lab.scores import GroupScores, RunScores
from cuecard.store.records import RunRecord, RunState, TrialRecord, UsageRecord
from cuecard.tui.glyphs import FAMILY, TERMINATION
from cuecard.tui.state.transcript import Piece, Tone
from cuecard.tui.state.trial import measure_value

MAIN_MEASURE: dict[Family, str] = {
    "graph": "triplet_f1",
    "table": "row_f1",
    "checkpoints": "acc",
    "facts": "pass_at_1",
}
RUN_STATE: dict[RunState, tuple[str, str]] = {
    RunState.RUNNING: ("▸", N_("running")),
    RunState.DONE: ("●", N_("done")),
    RunState.CANCELLED: ("–", N_("stopped")),
    RunState.PAUSED: ("‖", N_("paused")),
}
MOSAIC = 240
"""Runs of more trials than this show counts only."""


class TrialState(StrEnum):
    WAITING = "waiting"
    PLAYING = "playing"
    ENDED = "ended"
    FAILED = "failed"


STATE_LOOK: dict[TrialState, tuple[str, Tone, str]] = {
    TrialState.ENDED: ("●", "good", N_("ended")),
    TrialState.FAILED: ("✗", "bad", N_("failed")),
    TrialState.PLAYING: ("▸", "user", N_("playing")),
    TrialState.WAITING: ("○", "muted", N_("waiting")),
}


@dataclass(frozen=True)
class TrialRow:
    """One line of a run's trials. `badge`: glyph, words and their tone."""

    trial_id: int
    task: str
    agent: str
    sample: str
    badge: Piece
    turns: str
    score: str


def when(moment: datetime) -> str:
    """In the reader's time zone, to the minute; the year only when it is another one."""
    local = moment.astimezone()
    this_year = local.year == datetime.now().astimezone().year
    return local.strftime("%m-%d %H:%M" if this_year else "%Y-%m-%d")


def run_state_label(run: RunRecord, *, here: bool) -> str:
    """`here`: it is going on in this app. A run that nobody finished may be going on elsewhere, or
    have been killed; nobody can tell, so it is called open.
    """
    if run.state is RunState.RUNNING and not here:
        return f"◌ {_('open')}"
    glyph, label = RUN_STATE[run.state]
    return f"{glyph} {_(label)}"


def trial_state(trial: TrialRecord, playing: Mapping[int, int]) -> TrialState:
    if trial.termination is not None:
        return TrialState.FAILED if trial.termination.is_failure else TrialState.ENDED
    return TrialState.PLAYING if trial.id in playing else TrialState.WAITING


def trial_row(
    trial: TrialRecord, playing: Mapping[int, int], scores: Mapping[str, float | None] | None
) -> TrialRow:
    """`scores`: the trial's measures by name, None while it is not judged."""
    state = trial_state(trial, playing)
    if trial.termination is not None:
        glyph, _variable, label = TERMINATION[trial.termination.value]
        tone = STATE_LOOK[state][1]
    else:
        glyph, tone, label = STATE_LOOK[state]
    turns, score = "", ""
    if trial.id in playing:
        turns = str(playing[trial.id])
    elif scores and scores.get("agent_turns") is not None:
        turns = measure_value("agent_turns", scores["agent_turns"])
    main = MAIN_MEASURE[trial.family]
    if scores:
        score = f"{measure_label(main)} {measure_value(main, scores.get(main))}"
    return TrialRow(
        trial_id=trial.id,
        task=trial.title,
        agent=one_line(trial.agent.name, 40),
        sample=str(trial.sample + 1),
        badge=Piece(f"{glyph} {_(label)}", tone),
        turns=turns,
        score=score,
    )


def counts(trials: Iterable[TrialRecord], playing: Mapping[int, int]) -> list[Piece]:
    """How many trials are in which state, those that there are."""
    found = Counter(trial_state(trial, playing) for trial in trials)
    pieces: list[Piece] = []
    for state, (glyph, tone, label) in STATE_LOOK.items():
        if found[state]:
            pieces.append(Piece(("   " if pieces else "") + f"{glyph} {found[state]} ", tone))
            pieces.append(Piece(_(label), "muted"))
    return pieces


def mosaic(trials: Sequence[TrialRecord], playing: Mapping[int, int]) -> list[Piece]:
    """One glyph per trial in the order of the grid; nothing for a very large one."""
    if not 1 < len(trials) <= MOSAIC:
        return []
    looks = [STATE_LOOK[trial_state(trial, playing)] for trial in trials]
    return [Piece(glyph, tone) for glyph, tone, _label in looks]


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


def heading(run: RunRecord, *, here: bool) -> list[Piece]:
    samples = ngettext("{n} sample", "{n} samples", run.samples).format(n=run.samples)
    limit = _("at most {n} turns").format(n=run.limits.max_turns)
    about = f"{run.created_by} · {when(run.created_at)} · {samples} · {limit}"
    return [
        Piece(one_line(run.name, 60), "strong"),
        Piece("  " + run_state_label(run, here=here), "stage"),
        Piece("  " + one_line(about), "muted"),
    ]


def spending(usage: Sequence[UsageRecord]) -> list[list[Piece]]:
    """A line with calls, tokens and cost; none where no model was called."""
    calls = sum(used.calls for used in usage)
    if not calls:
        return []
    prompt = sum(used.usage.prompt for used in usage)
    completion = sum(used.usage.completion for used in usage)
    parts = [
        ngettext("{n} model call", "{n} model calls", calls).format(n=f"{calls:,}"),
        _("{prompt} + {completion} tokens").format(
            prompt=f"{prompt:,}", completion=f"{completion:,}"
        ),
    ]
    costs = [used.cost for used in usage if used.cost is not None]
    if costs:
        parts.append(_("cost {n}").format(n=f"{sum(costs):.4f}"))
    return [[Piece(" · ".join(parts), "muted")]]


def pause_reason(run: RunRecord, *, here: bool) -> list[list[Piece]]:
    if here or run.state is not RunState.PAUSED or not run.reason:
        return []
    return [[Piece(one_line(run.reason, 200), "bad")]]


ScoreRow = tuple[Piece, str, str, str]
"""A measure or a group's name, its value, n tasks, and samples."""


def score_rows(scores: RunScores) -> list[ScoreRow]:
    """Per agent and family: a line with what was judged, then every measure."""
    rows: list[ScoreRow] = []
    for group in scores.groups:
        if rows:
            rows.append((Piece(""), "", "", ""))
        rows.append((Piece(_group_title(group), "agent"), "", "", ""))
        rows.append((Piece("  " + _judged(group), "muted"), "", "", ""))
        for measure in group.measures:
            name = measure_label(measure.name)
            if measure.samples > 1:
                name += f" · {statistic_label(measure.statistic, measure.samples)}"
            elif measure.statistic is not Statistic.AVG:
                # Of one sample the average, the best and the highest are the same.
                continue
            value = measure_value(measure.name, measure.value)
            rows.append((Piece(f"  {name}"), value, str(measure.n), _samples(measure)))
        for profile in group.profiles:
            rows += _profile(profile)
    return rows


def _samples(measure: AggregateMeasure) -> str:
    if measure.undefined:
        return _("{n}, {undefined} without").format(n=measure.trials, undefined=measure.undefined)
    return str(measure.trials)


def _group_title(group: GroupScores) -> str:
    glyph, _variable, label = FAMILY[group.family]
    title = f"{one_line(group.agent, 40)} · {glyph} {_(label)}"
    return f"{title} · {_('offline baselines')}" if group.baseline else title


def _judged(group: GroupScores) -> str:
    text = _("{judged} judged of {ended} ended of {all} trials").format(
        judged=group.judged, ended=group.ended, all=group.trials
    )
    if group.failed:
        failed = ngettext("{n} failed", "{n} failed", group.failed).format(n=group.failed)
        text += f" · {failed}"
    return text


def _profile(profile: ProfileCount) -> list[ScoreRow]:
    """The share of a way to meet ambiguities, and how often it led on; nothing if nobody took it."""
    if not profile.count:
        return []
    label = _(PROFILE_LABELS[profile.profile])
    passed = profile.pass_rate
    return [
        (
            Piece(f"  {label}"),
            measure_value("share", profile.share.value),
            str(profile.share.n),
            "",
        ),
        (
            Piece("    " + _("of these advanced"), "muted"),
            measure_value("share", passed.value),
            str(passed.n),
            "",
        ),
    ]
