"""Score tables: values by hand, the same as `aggregate`, nothing dropped, nothing mixed in silence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.results.papers import main_tables
from cuecard.annotate.results.pool import gather
from cuecard.annotate.results.score_tables import pivoted, table_of_scores
from cuecard.annotate.results.scores import filtered, score_table, sorted_by, tables_by_family
from cuecard.core.engine.events import Termination
from cuecard.core.errors import NotFound
from cuecard.core.scoring.aggregate import TrialScore, aggregate
from planted_results import Planted, plant
from result_rows import pool, row, run


def graph(
    agent: str, task: str, triplet: float | None, node: float | None = 0.5, sample: int = 0, **more
):
    return row(agent, task, {"triplet_f1": triplet, "node_f1": node}, sample, **more)


def values(table, at: int = 0) -> dict[str, float | None]:
    return {key: one.value for key, one in table.lines[at].figures.items()}


def test_samples_then_tasks():
    found = score_table(
        pool(
            graph("alpha", "t1", 0.2, 0.5),
            graph("alpha", "t1", 0.6, 0.1, 1),
            graph("alpha", "t2", 1.0, 0.4),
            graph("alpha", "t3", None, None),
            graph("beta", "t1", 0.3, 0.3),
        )
    )
    assert [column.key for column in found.columns] == [
        *("triplet_f1.avg", "triplet_f1.best"),
        *("node_f1.avg", "node_f1.best"),
    ]
    # t1: mean of 0.2 and 0.6; the best sample is the one with triplet F1 0.6, whose nodes are 0.1.
    assert values(found) == {
        "triplet_f1.avg": pytest.approx((0.4 + 1.0) / 2),
        "triplet_f1.best": pytest.approx((0.6 + 1.0) / 2),
        "node_f1.avg": pytest.approx((0.3 + 0.4) / 2),
        "node_f1.best": pytest.approx((0.1 + 0.4) / 2),
    }
    line = found.lines[0]
    assert line.group == (("agent", "alpha"), ("family", "graph"))
    assert line.figures["triplet_f1.avg"].n == 2
    assert (line.counts.trials, line.counts.tasks, line.counts.samples) == (4, 3, 2)
    assert line.figures["triplet_f1.avg"].no_interval
    assert found.columns[1].label == "Triplet F1 Best@1–2"
    assert [one.label for one in score_table(pool(graph("a", "t", 1.0))).columns] == [
        "Triplet F1",
        "Node F1",
    ]


def test_nothing_is_dropped_in_silence():
    found = score_table(
        pool(
            row("alpha", "t1", {"pass_at_1": 1.0, "unjudged": 2.0}, family="facts"),
            row(
                "alpha",
                "t2",
                {"pass_at_1": 0.0, "unjudged": 0.0},
                family="facts",
                termination=Termination.API_ERROR,
            ),
            row("alpha", "t3", None, family="facts"),
            row("alpha", "t4", None, family="facts", termination=None),
        )
    )
    (line,) = found.lines
    counts = line.counts
    assert (counts.trials, counts.ended, counts.open) == (4, 3, 1)
    assert (counts.failed, counts.judged, counts.unjudged) == (1, 2, 1)
    assert (counts.items_unjudged, counts.tasks, counts.baseline) == (2, 4, True)
    assert line.figures["pass_at_1.avg"].value == 0.5
    said = " ".join(found.notes)
    for part in ("ended by a failure", "still open", "is not judged", "2 items", "world closed"):
        assert part in said
    table = table_of_scores(found)
    assert table.headings[3:7] == ("failed", "not judged", "open", "items not judged")
    assert [cell.text for cell in table.lines[0][:7]] == [
        "alpha",
        "2 / 4",
        "2 / 4",
        "1",
        "1",
        "1",
        "2",
    ]
    assert table.title == "Fact tasks"


def test_a_task_is_one_observation_however_many_samples_it_has():
    each = [0.1, 0.9, 0.4, 0.5, 0.7, 0.2, 0.8]
    once = score_table(pool(*(graph("alpha", f"t{n}", v) for n, v in enumerate(each))))
    thrice = score_table(
        pool(*(graph("alpha", f"t{n}", v, 0.5, s) for n, v in enumerate(each) for s in range(3)))
    )
    intervals = [table.lines[0].figures["triplet_f1.avg"].interval for table in (once, thrice)]
    assert intervals[0]
    assert intervals[0] == intervals[1]
    low, high = intervals[0]
    assert 0.1 < low < sum(each) / 7 < high < 0.9


def test_runs_are_pooled_and_what_that_mixes_is_said():
    first, second = run(1, "first"), run(2, "second")
    rows = pool(
        graph("alpha", "t1", 0.0, of=first, setting="direct"),
        graph("alpha", "t1", 1.0, of=second, setting="staged", revision=2),
    )
    together = score_table(rows)
    assert values(together)["triplet_f1.avg"] == 0.5
    assert values(together)["triplet_f1.best"] == 1.0
    said = " ".join(together.notes)
    assert "different values of run are taken together: first, second" in said
    assert "different values of setting are taken together: direct, staged" in said
    assert "1 task was played in several revisions, taken together: t1" in said
    apart = score_table(rows, ("run",))
    assert [apart.word(line) for line in apart.lines] == ["first", "second"]
    assert "taken together" not in " ".join(apart.notes)
    assert [
        one.counts.trials for one in score_table(filtered(rows, {"run": ["second"]})).lines
    ] == [1]


def test_the_same_trials_in_two_runs_are_told():
    first, other = run(1, "main"), run(2, "other")
    again = run(3, "corrected").model_copy(update={"plan": {"rescored": first.uid}})
    anew = run(4, "anew").model_copy(update={"plan": {"rescored": again.uid}})
    replay = run(5, "replay").model_copy(update={"plan": {"replay": other.id}})
    rows = {r.id: graph("alpha", "t0", 0.5, of=r) for r in (first, other, again, anew, replay)}

    def told(*ids: int, by: str = "agent"):
        notes = score_table(pool(*(rows[id] for id in ids)), (by,)).notes
        return [note for note in notes if "same trials" in note]

    assert told(1, 2) == []
    assert "main, corrected, anew hold" in told(1, 2, 3, 4)[0]
    assert "other, replay hold" in told(2, 5)[0]
    # By its number it replays the second run here, by its trials it does not.
    rows[5] = graph("alpha", "t1", 0.5, of=replay)
    assert told(2, 5) == told(1, 3, by="run") == []


def test_judges_are_never_mixed():
    rows = pool(graph("alpha", "t1", 0.0, judge="owl"), graph("alpha", "t1", 1.0, judge="sage"))
    assert "several agents are taken together: alpha, beta" in " ".join(
        score_table(pool(graph("alpha", "t", 1.0), graph("beta", "t", 0.0)), ("family",)).notes
    )
    found = score_table(rows, ("agent",))
    assert found.by == ("agent", "judge")
    assert [line.figures["triplet_f1.avg"].value for line in found.lines] == [0.0, 1.0]


def test_sorted_filtered_pivoted():
    rows = pool(
        graph("alpha", "t1", 0.2, language="en"),
        graph("alpha", "t2", 0.4, language="zh"),
        graph("beta", "t1", 0.9, language="en"),
        graph("gamma", "t1", None, None, language="en"),
    )
    table = score_table(rows, ("agent",))

    def agents(key: str, *, descending: bool = True) -> str:
        found = sorted_by(table, key, descending=descending)
        return " ".join(line.value("agent") for line in found.lines)

    assert agents("triplet_f1.avg") == "beta alpha gamma"
    assert agents("triplet_f1.avg", descending=False) == "alpha beta gamma"
    assert agents("agent") == "gamma beta alpha"
    assert agents("trials") == "alpha beta gamma"
    with pytest.raises(NotFound, match=r"speed.*triplet_f1.avg"):
        agents("speed")
    english = score_table(filtered(rows, {"language": ["en"]}), ("agent",))
    assert values(english)["triplet_f1.avg"] == 0.2
    with pytest.raises(NotFound, match=r"fr.*en, zh"):
        filtered(rows, {"language": ["fr"]})
    across = pivoted(score_table(rows, ("agent", "language")), "language", "triplet_f1.avg")
    assert across.headings == ("Agent", "English", "Chinese")
    assert [[cell.text.partition(" ")[0] for cell in line] for line in across.lines] == [
        ["alpha", "0.200", "0.400"],
        ["beta", "0.900", ""],
        ["gamma", "–", ""],
    ]
    with pytest.raises(NotFound):
        pivoted(table, "language", "triplet_f1.avg")


def test_spending_is_a_figure_and_a_missing_price_a_reason():
    rows = pool(
        graph("alpha", "t1", 1.0, cost=0.02, tokens=100),
        graph("alpha", "t1", 1.0, sample=1, cost=0.04, tokens=300),
        graph("beta", "t1", 1.0, tokens=50),
    )
    found = score_table(rows, ("agent",), ("cost", "tokens"))
    assert values(found) == {"cost.avg": pytest.approx(0.03), "tokens.avg": 200}
    assert found.lines[1].figures["cost.avg"].reason
    assert [c.text for c in table_of_scores(found).lines[0]][3:] == ["0.0300", "200.0"]


def test_cells_know_their_trials_and_their_place_in_the_json():
    rows = pool(graph("alpha", "t1", 0.25), graph("beta", "t1", 0.5))
    (table,) = tables_by_family(rows)
    cell = table_of_scores(table, percent=True).lines[1][3]
    # One task tells nothing of how tasks differ.
    assert (cell.text, cell.key) == (
        "50.0",
        "groups/beta/graph/measures/triplet_f1/avg",
    )
    assert cell.trials == (rows.rows[1].trial.id,)


def test_main_tables_have_the_papers_shapes():
    rows = pool(
        *(
            row(
                agent,
                f"chain-{difficulty}",
                {"acc": acc, "cp": 0.5, "ce_a": None, "asks": 2.0},
                family="checkpoints",
                difficulty=difficulty,
            )
            for agent, acc in (("alpha", 1.0), ("beta", 0.0))
            for difficulty in ("hard", "easy")
        ),
        *(
            row("alpha", f"w{n}", {"pass_at_1": 1.0}, family="facts", facts=n, setting=s)
            for n, s in ((3, "oracle"), (12, "end_to_end"))
        ),
        row("alpha", "g", None),
    )
    tables = {table.title: table for table in main_tables(rows)}
    assert list(tables) == [
        *("Checkpoint tasks", "Checkpoint tasks, easy", "Checkpoint tasks, hard"),
        *("Fact tasks", "Fact tasks, easy", "Fact tasks, hard"),
    ]
    whole = tables["Checkpoint tasks"]
    assert whole.headings[:6] == (
        "Agent",
        "trials",
        "tasks",
        "Accuracy",
        "Checkpoint progress",
        "Right asks (CE-A)",
    )
    assert [cell.text for cell in whole.lines[0][:7]] == [
        "alpha",
        "2",
        "2",
        "100.0 [34.2, 100.0]",
        "50.0 [9.5, 90.5]",
        "–",
        "2.0",
    ]
    assert [line[0].text for line in tables["Fact tasks"].lines] == [
        "oracle facts · alpha",
        "end to end · alpha",
    ]
    assert not any(getattr(cell, "key", "") for cell in tables["Fact tasks, easy"].lines[0])


measures = st.one_of(st.none(), st.floats(0, 1))
drawn_rows = st.lists(
    st.tuples(
        st.sampled_from(("alpha", "beta")), st.sampled_from(("t1", "t2", "t3")), measures, measures
    ),
    min_size=1,
    max_size=12,
)


@given(drawn=drawn_rows, seed=st.randoms(use_true_random=False))
@settings(max_examples=examples(20), deadline=None)
def test_values_are_those_of_aggregate_in_any_order_of_rows(drawn, seed):
    rows = [graph(agent, task, one, other, n) for n, (agent, task, one, other) in enumerate(drawn)]
    found = score_table(pool(*rows), ("agent",), resamples=50)
    for line in found.lines:
        mine = [each for each in rows if each.trial.agent.name == line.value("agent")]
        scores = [
            TrialScore(each.trial.task_id, each.trial.sample, each.figures.measures)
            for each in mine
            if each.figures
        ]
        for total in aggregate(scores):
            one = line.figures[f"{total.name}.{total.statistic.value}"]
            assert (one.value, one.n, one.reason) == (total.value, total.n, total.reason)
    seed.shuffle(rows)
    again = score_table(pool(*rows), ("agent",), resamples=50)
    assert [(x.group, x.figures) for x in again.lines] == [
        (x.group, x.figures) for x in found.lines
    ]


def test_a_table_of_several_families_tells_what_passes_leave_out(workspace):
    """A family without passes has no such figure in its line."""
    agents = (Planted("alpha", 0.9, 0.004), Planted("beta", 0.5, 0.001))
    found = gather(workspace, [plant(workspace, agents=agents)])
    table = score_table(found, ("agent", "family"))
    assert {line.value("family") for line in table.lines} == set(found.families)
