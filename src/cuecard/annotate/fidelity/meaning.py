"""Does the score mean anything: what people said of their sessions, held against what the sessions scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.annotate.fidelity.correlation import rank_correlations
from cuecard.annotate.fidelity.model import Correlation, Meaning, Point
from cuecard.annotate.fidelity.power import design_effect
from cuecard.annotate.fidelity.scoring import (
    Scored,
    Scores,
    baselines_among,
    shown_measures,
)
from cuecard.core.config_play import FormQuestion
from cuecard.store.play_records import SessionForm

SATISFACTION = "satisfaction"


def meaning_of(
    forms: Sequence[SessionForm], scores: Scores, *, resamples: int = RESAMPLES
) -> Meaning | None:
    """Every scale of the forms against every measure of the sessions that have both; None without forms. The
    scale `satisfaction` comes first.
    """
    if not forms:
        return None
    scored = [form for form in forms if _score(form, scores) is not None]
    trials = [found for form in scored if (found := _score(form, scores)) is not None]
    return Meaning(
        judge=scores.judge,
        sessions=len(forms),
        scored=sum(found.judge is not None for found in trials),
        people=tuple(sorted({form.person for form in forms})),
        baselines=baselines_among(trials),
        correlations=tuple(_correlations(scored, scores, resamples)),
    )


def _correlations(
    forms: Sequence[SessionForm], scores: Scores, resamples: int
) -> Iterator[Correlation]:
    names = {name for form in forms for name in scores.trials[form.trial_id].measures}
    measures = shown_measures(names)
    for question in _scales(forms):
        for measure in measures:
            points = tuple(_points(forms, scores, question.key, measure))
            if points:
                yield _correlation(question, measure, points, resamples)


def _correlation(
    question: FormQuestion, measure: str, points: tuple[Point, ...], resamples: int
) -> Correlation:
    x, y = [point.x for point in points], [point.y for point in points]
    tasks = [point.task_id for point in points]
    found = rank_correlations(x, y, tasks, resamples=resamples)
    return Correlation(
        scale=question.key,
        label=question.label,
        measure=measure,
        sessions=len(points),
        tasks=len(set(tasks)),
        spearman=found.spearman,
        kendall=found.kendall,
        spearman_within=found.spearman_within,
        kendall_within=found.kendall_within,
        design_effect=design_effect(x, y, tasks),
        points=points,
    )


def _points(
    forms: Sequence[SessionForm], scores: Scores, scale: str, measure: str
) -> Iterator[Point]:
    for form in forms:
        answer = form.answers.get(scale)
        scored = scores.trials[form.trial_id]
        if isinstance(answer, int) and measure in scored.measures:
            yield Point(
                trial_id=form.trial_id,
                task_id=scored.trial.task_id,
                person=form.person,
                x=answer,
                y=scored.measures[measure],
            )


def _scales(forms: Sequence[SessionForm]) -> list[FormQuestion]:
    """Each scale that was asked, as it was asked last."""
    found = {
        question.key: question
        for form in sorted(forms, key=lambda form: form.at)
        for question in form.questions
        if question.kind == "scale"
    }
    return sorted(found.values(), key=lambda question: question.key != SATISFACTION)


def _score(form: SessionForm, scores: Scores) -> Scored | None:
    return scores.trials.get(form.trial_id)
