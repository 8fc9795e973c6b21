"""Detection, CE-A and CE-B are pooled over checkpoints, and the same number wherever they are told (METHODS 11.1)."""

from __future__ import annotations

import pytest

from cuecard.annotate.agreement.linearisation import standard_error
from cuecard.annotate.labelling.effect_figures import figure_over
from cuecard.annotate.results.comparisons import compare
from cuecard.annotate.results.designs import design_tables, designs_in
from cuecard.annotate.results.papers import main_tables
from cuecard.annotate.results.plots.series import averages
from cuecard.annotate.results.pool import gather
from cuecard.annotate.results.scores import interval_groups, score_table, tables_by_family
from cuecard.core.evaluation.scores import judged_trials, stamp_of
from cuecard.core.families.checkpoints.score import DETECTION_MEASURES, StepRecord, score_detection
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.aggregate import TrialScore, aggregate, by_task
from cuecard.core.scoring.measures import mean_name
from cuecard.core.scoring.trial_score import SCHEME
from cuecard.core.verdicts import Measure
from cuecard.store.workspace import Workspace
from planted_results import GUIDED, plant
from result_rows import pool, row

SIX = (
    (1, 0, 0, 1, 1, 1, 1),
    (0, 1, 0, 1, 0, 0, 0),
    (1, 0, 1, 1, 2, 1, 0),
    (2, 0, 0, 1, 2, 2, 2),
    (0, 2, 1, 1, 1, 0, 0),
    (1, 1, 0, 2, 2, 1, 1),
)
"""METHODS 11.1: by question TP, FN, FP, TN, asked, right, right and advanced."""
POOLED = {"det_accuracy": 2 / 3, "det_f1": 0.625, "ce_a": 0.625, "ce_b": 0.5}
ERRORS = {"det_accuracy": 0.1283, "det_f1": 0.177878, "ce_a": 0.151167, "ce_b": 0.216506}
MEANS = {"det_accuracy": 0.694444, "det_f1": 0.555556, "ce_a": 0.6, "ce_b": 0.5}


def steps(counts: tuple[int, ...]) -> list[StepRecord]:
    """Checkpoints with these counts; of the ambiguities that are missed as many are asked about wrongly as there
    are asks left over.
    """
    tp, fn, fp, tn, asked, _right, advanced = counts
    wrong = asked - tp - fp
    kinds = [(True, 1, 1, n < advanced) for n in range(tp)]
    kinds += [(True, int(n < wrong), 0, False) for n in range(fn)]
    kinds += [(False, 1, 0, True)] * fp + [(False, 0, 0, True)] * tn
    return [
        StepRecord(at, ambiguous, 0, asks, right, None, done)
        for at, (ambiguous, asks, right, done) in enumerate(kinds)
    ]


def measures(counts: tuple[int, ...]) -> dict[str, Measure | float]:
    own: dict[str, Measure | float] = {m.name: m for m in score_detection(steps(counts))}
    return {"acc": 1.0, "cp": 0.5, **own, "asks": 1.0}


def of(agent: str, counts: tuple[int, ...], n: int, sample: int = 0, **more: object):
    return row(agent, f"q{n}", measures(counts), sample, family="checkpoints", **more)


def six(agent: str = "alpha"):
    return [of(agent, counts, n) for n, counts in enumerate(SIX)]


def test_the_six_questions_have_the_known_values_and_standard_errors():
    scores = [TrialScore(f"q{n}", 0, score_detection(steps(c))) for n, c in enumerate(SIX)]
    got = {(one.name, one.statistic): one.value for one in aggregate(scores)}
    assert {name: got[name, Taken.POOLED] for name in POOLED} == pytest.approx(POOLED)
    means = {name: got[mean_name(name), Taken.AVG] for name in MEANS}
    assert means == pytest.approx(MEANS, abs=1e-6)
    parts = by_task(scores)
    tasks = [f"q{n}" for n in range(6)]
    for name, error in ERRORS.items():
        key = name, Taken.POOLED
        # A question at which nothing was asked is one of those that are drawn.
        found = standard_error(figure_over(key, parts[key], tasks))
        assert found == pytest.approx(error, abs=1e-6)


def test_a_table_tells_them_with_intervals_by_question_and_says_what_they_are():
    table = score_table(pool(*six()), ("agent",), (*DETECTION_MEASURES, "ce_a_mean", "acc"))
    (line,) = table.lines
    for name, value in POOLED.items():
        one = line.figures[f"{name}.pooled"]
        assert one.value == pytest.approx(value)
        low, high = one.interval
        assert low < value < high
    assert line.figures["ce_a.pooled"].n == 5
    assert line.figures["ce_a_mean.avg"].value == pytest.approx(0.6)
    assert "ce_b_mean.avg" not in line.figures
    assert [column.label for column in table.columns][3:6] == [
        "Detection F1",
        "Right asks (CE-A)",
        "Fruitful asks (CE-B)",
    ]
    assert "pooled, after eq. 6-13" in table.notes[0]
    assert not any("pooled" in n for n in score_table(pool(*six()), ("agent",), ("acc",)).notes)


def test_fewer_than_five_questions_that_were_asked_at_have_no_interval():
    few = pool(*(of("alpha", counts, n) for n, counts in enumerate((*SIX[:4], SIX[1]))))
    (line,) = score_table(few, ("agent",), DETECTION_MEASURES).lines
    found = line.figures["ce_a.pooled"]
    assert (found.n, found.interval, found.no_interval) == (3, None, "fewer than 5 groups")
    # Nor one from the number of questions, though all of these are alike.
    same = pool(*(of("alpha", SIX[0], n) for n in range(4)))
    (line,) = score_table(same, ("agent",), DETECTION_MEASURES).lines
    assert line.figures["det_f1.pooled"].interval is None
    (line,) = score_table(
        pool(*(of("alpha", SIX[0], n) for n in range(6))), ("agent",), DETECTION_MEASURES
    ).lines
    low, high = line.figures["det_f1.pooled"].interval
    assert 0.5 < low < high == 1


def test_the_main_table_has_detection_accuracy_and_the_note_below():
    table = main_tables(pool(*six()))[0]
    assert table.headings[3:11] == (
        "Accuracy",
        "Checkpoint progress",
        "Detection accuracy",
        "Detection precision",
        "Detection recall",
        "Detection F1",
        "Right asks (CE-A)",
        "Fruitful asks (CE-B)",
    )
    assert table.lines[0][5].text.startswith("66.7 [")
    assert table.lines[0][9].key == "groups/alpha/checkpoints/measures/ce_a/pooled"
    assert any("pooled, after eq. 6-13" in note for note in table.notes)


def test_arms_are_compared_by_their_pooled_ratios():
    """Over shared questions, of which one is in no win or loss since nothing was asked there."""
    other = [of("beta", SIX[(n + 1) % 6], n) for n in range(6)]
    every = pool(*six(), *other)
    found = compare(every, "agent", family="checkpoints", measure="ce_a")
    (one,) = found.contrasts
    # Beta has the same counts on other questions.
    assert (found.taken, one.base_mean.value, one.arm_mean.value) == (
        Taken.POOLED,
        pytest.approx(0.625),
        pytest.approx(0.625),
    )
    assert one.difference.value == 0
    low, high = one.difference.interval
    assert low < 0 < high
    told = {
        line.value("agent"): line.figures["ce_a.pooled"]
        for line in score_table(every, ("agent",), ("ce_a",)).lines
    }
    assert (one.base_mean, one.arm_mean) == (told["alpha"], told["beta"])
    # Both have an own ratio on the questions 2 to 5: 0.5 and 1, 1 and 0, 0 and 0.5, 0.5 and 1.
    assert (one.wins, one.ties, one.losses, len(one.tasks)) == (3, 0, 1, 4)
    assert len(one.base_trials) == 6
    turned = compare(every, "agent", "beta", family="checkpoints", measure="ce_a").contrasts[0]
    assert turned.difference.low == -one.difference.high
    assert any("pooled, after eq. 6-13" in note for note in found.notes)


def test_a_gain_costs_what_the_pooled_ratios_differ_by():
    left = [of("alpha", SIX[4], n, cost=0.1) for n in range(5)]
    right = [of("beta", SIX[5], n, cost=0.3) for n in range(5)]
    (one,) = compare(pool(*left, *right), "agent", family="checkpoints", measure="ce_a").contrasts
    assert one.difference.value == pytest.approx(0.5)
    assert one.spending.cost_per_point.value == pytest.approx(0.2 / 50)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    with Workspace.open(tmp_path_factory.mktemp("ratios") / "w.db") as workspace:
        yield workspace, plant(workspace, copies=3, samples=2, families=("checkpoints",))


def by_hand(workspace: Workspace, run: int, agent: str) -> dict[str, float]:
    """From the kept steps, each trial weighing one half."""
    sums = dict.fromkeys(("tp", "fn", "fp", "tn", "asked", "right", "both"), 0.0)
    for one in judged_trials(workspace, run):
        if one.trial.agent.name != agent:
            continue
        for step in one.figures.steps or ():
            found = step.record
            right = found.ambiguous and found.right_asks > 0
            kind = ("tp" if right else "fn") if found.ambiguous else ("fp" if found.asks else "tn")
            sums[kind] += 0.5
            sums["asked"] += (found.asks > 0) / 2
            sums["right"] += right / 2
            sums["both"] += (right and found.advanced) / 2
    tp, fn, fp, tn = (sums[kind] for kind in ("tp", "fn", "fp", "tn"))
    return {
        "det_accuracy": (tp + tn) / (tp + fn + fp + tn),
        "det_precision": tp / (tp + fp),
        "det_recall": tp / (tp + fn),
        "det_f1": 2 * tp / (2 * tp + fp + fn),
        "ce_a": sums["right"] / sums["asked"],
        "ce_b": sums["both"] / sums["asked"],
    }


def test_every_place_tells_the_number_that_the_steps_give(played):
    workspace, run = played
    rows = gather(workspace, [run])
    (table,) = [
        table
        for table in tables_by_family(rows, ("agent",), DETECTION_MEASURES)
        if table.by and table.lines and table.lines[0].value("family") == "checkpoints"
    ]
    groups = {
        group.scores.agent: group
        for group in interval_groups(rows)
        if group.scores.family == "checkpoints"
    }
    main = next(table for table in main_tables(rows) if table.title == "Checkpoint tasks")
    first = main.headings.index("Detection accuracy")
    for at, line in enumerate(table.lines):
        agent = line.value("agent")
        want = by_hand(workspace, run, agent)
        figures = {name: line.figures[f"{name}.pooled"] for name in want}
        assert {name: one.value for name, one in figures.items()} == pytest.approx(want)
        told = {(m.name, m.statistic): m.value for m in groups[agent].scores.measures}
        mine = [row for row in rows.rows if row.trial.agent.name == agent]
        for place, (name, one) in enumerate(figures.items()):
            assert groups[agent].figures[name, Taken.POOLED] == one
            assert told[name, Taken.POOLED] == one.value
            assert main.lines[at][first + place].statistic == one
            assert averages(mine, name) == (one,)
        for other in table.lines:
            if other.value("agent") == agent:
                continue
            (contrast,) = compare(
                rows,
                "agent",
                agent,
                family="checkpoints",
                measure="det_f1",
                arms=[agent, other.value("agent")],
            ).contrasts
            assert contrast.base_mean == figures["det_f1"]


def test_ready_made_comparisons_tell_them_too(played):
    workspace, run = played
    guided = plant(workspace, "guided", GUIDED, samples=2, copies=3, families=("checkpoints",))
    rows = gather(workspace, [run, guided])
    found = next(one for one in designs_in(rows) if one.design.name == "checkpoint_settings")
    table, differences, *_others = design_tables(rows, found)
    lines = score_table(found.pool, ("agent", "setting"), ("det_accuracy", "ce_a")).lines
    for label, key in (
        ("Detection accuracy", "det_accuracy.pooled"),
        ("Right asks (CE-A)", "ce_a.pooled"),
    ):
        at = table.headings.index(label)
        assert [line[at].statistic for line in table.lines] == [each.figures[key] for each in lines]
    whole = compare(found.pool, "setting", family="checkpoints", measure="det_f1").contrasts[0]
    (line,) = [each for each in differences.lines if each[0].text.startswith("Detection F1")]
    assert line[1].statistic == whole.difference


def test_figures_kept_by_an_older_count_are_counted_again(played):
    """An old workspace keeps ratios of turns under other names, stamped with the scheme before."""
    workspace, run = played
    assert SCHEME >= 3
    before = {one.head.id: one.figures for one in judged_trials(workspace, run)}
    kept = workspace.figures.of_run(run, "en").values()
    old = [
        each._replace(
            stamp=each.stamp.replace(f"/{SCHEME}/", "/2/"),
            body=each.body.replace("det_f1", "detection_f1").replace(
                '"advanced"', '"fruitful_asks":0,"advanced"'
            ),
        )
        for each in kept
    ]
    assert all("/2/" in each.stamp for each in old)
    workspace.figures.keep(old, "en")
    assert {one.head.id: one.figures for one in judged_trials(workspace, run)} == before
    trials = {trial.id: trial for trial in workspace.runs.trials(run)}
    for each in workspace.figures.of_run(run, "en").values():
        assert each.stamp == stamp_of(trials[each.trial_id].events)
