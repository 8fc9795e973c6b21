"""Behaviour profiles at ambiguous checkpoints (DiscoBench): how often, and how often they pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import N_, _
from cuecard.core.parts import CheckpointStatus
from cuecard.core.scoring.labels import PROFILE_LABELS
from cuecard.core.scoring.profiles import Profile
from cuecard.results.cells import ResultCell
from cuecard.results.errors.chains import ChainErrors, ProfileRate
from cuecard.results.errors.groups import BY, By
from cuecard.results.errors.laying import across, arm_heading, number, share, share_of, text, title
from cuecard.results.errors.report import ArmErrors, error_report
from cuecard.results.pool import Pool
from cuecard.results.words import dimension_word, value_word

AMBIGUITY_WORDS = {
    "entity": N_("entity"),
    "version": N_("version"),
    "criteria": N_("criteria"),
    "factual": N_("factual"),
}
STATUS_WORDS: dict[CheckpointStatus, str] = {
    CheckpointStatus.AMBIGUITY_DETECTED: N_("asked about the ambiguity"),
    CheckpointStatus.WRONG_AMBIGUITY_DETECTED: N_("asked about something else"),
    CheckpointStatus.CORRECT_ANSWER: N_("right answer"),
    CheckpointStatus.WRONG_ANSWER: N_("wrong answer"),
    CheckpointStatus.MISSED_AMBIGUITY_CORRECT: N_("missed the ambiguity, right answer"),
    CheckpointStatus.MISSED_AMBIGUITY_WRONG: N_("missed the ambiguity, wrong answer"),
    CheckpointStatus.SEARCH_ONLY: N_("searched only"),
    CheckpointStatus.TASK_COMPLETED: N_("task completed"),
}
_Of = Callable[[ProfileRate], ResultCell]


def profile_sheets(pool: Pool, by: By = BY) -> tuple[Sheet, ...]:
    """Shares of the profiles, their pass rates, those by ambiguity and by difficulty, and how the agents' turns were
    read. Nothing without checkpoint tasks.
    """
    report = error_report(pool, by, families=("checkpoints",))
    arms = [(arm, arm.chain) for arm in report.arms if arm.chain]
    return tuple(_sheets(arms, report.by, report.notes.get("checkpoints", ()))) if arms else ()


def _sheets(
    arms: Sequence[tuple[ArmErrors, ChainErrors]], by: By, notes: tuple[str, ...]
) -> Iterator[Sheet]:
    heading = arm_heading(by)
    limits = ", ".join(f"{arm.name} {chain.k:g}" for arm, chain in arms)
    divide = _("Guesses after more than K searches are long ones; K: {limits}.").format(
        limits=limits
    )
    yield _sheet(
        _("how ambiguities are met"),
        heading,
        [(arm.name, chain.profiles) for arm, chain in arms],
        lambda each: share(each.share),
        (_("Percent of reached ambiguous checkpoints, intervals 95%, by task."), divide, *notes),
    )
    passes = _("Percent of the checkpoints with this profile that were advanced, and their number.")
    yield _sheet(
        _("pass rate by profile"),
        heading,
        [(arm.name, chain.profiles) for arm, chain in arms],
        lambda each: share_of(each.passed),
        (passes, divide),
    )
    kinds: tuple[tuple[str, str, Mapping[str, Mapping[str, tuple[ProfileRate, ...]]]], ...] = (
        (
            _("pass rate by kind of ambiguity"),
            _("Ambiguity"),
            {
                arm.name: {_(AMBIGUITY_WORDS.get(n, n)): p for n, p in chain.by_ambiguity.items()}
                for arm, chain in arms
            },
        ),
        (
            _("pass rate by difficulty"),
            dimension_word("difficulty"),
            {
                arm.name: {value_word("difficulty", n): p for n, p in chain.by_difficulty.items()}
                for arm, chain in arms
            },
        ),
    )
    for words, second, found in kinds:
        lines = [
            (f"{name} · {kind}", profiles)
            for name, by_kind in found.items()
            for kind, profiles in by_kind.items()
        ]
        if lines:
            yield _sheet(
                words, f"{heading} · {second}", lines, lambda each: share_of(each.passed), (passes,)
            )
    if any(status.rate.of for _arm, chain in arms for status in chain.statuses):
        yield _read(arms)


def _sheet(
    words: str,
    heading: str,
    lines: Sequence[tuple[str, tuple[ProfileRate, ...]]],
    of: _Of,
    notes: Sequence[str],
) -> Sheet:
    found: list[Line] = []
    for name, profiles in lines:
        whole = profiles[0].share
        trials = dict.fromkeys(trial for each in profiles for trial in each.share.trials)
        found.append((text(name), number(whole.of, tuple(trials)), *map(of, profiles)))
    labels = [_(PROFILE_LABELS[profile]) for profile in Profile]
    return Sheet(
        view="results",
        title=title("checkpoints", words),
        headings=(heading, _("Ambiguities"), *labels),
        lines=tuple(found),
        notes=tuple(notes),
    )


def _read(arms: Sequence[tuple[ArmErrors, ChainErrors]]) -> Sheet:
    by_name = [(arm.name, {s.status: s.rate for s in chain.statuses}) for arm, chain in arms]
    present = [
        status for status in CheckpointStatus if any(rates[status].count for _n, rates in by_name)
    ]
    return across(
        title("checkpoints", _("how turns were read")),
        _("Status"),
        by_name,
        [
            (_("turns"), lambda rates: number(next(iter(rates.values())).of)),
            *(
                (_(STATUS_WORDS[status]), lambda rates, status=status: share(rates[status]))
                for status in present
            ),
        ],
        (_("Percent of the agent's turns that the responder read so, intervals 95%, by task."),),
    )
