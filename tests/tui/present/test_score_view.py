"""How scores are looked at: figures by hand, two agents on three graph tasks and a chain of checkpoints."""

from __future__ import annotations

import pytest

from cuecard.annotate.results.pool import Pool
from cuecard.core.engine.events import Termination
from cuecard.core.tables.table import Table
from cuecard.core.verdicts import Measure
from cuecard.tui.present.scores import ALL_MEASURES, Cut, Only, ScoreView, count, scores_by_trial
from result_rows import pool, row

F1 = {
    ("a", "t1"): (0.2, 0.4),
    ("a", "t2"): (0.6, 0.8),
    ("b", "t1"): (1.0, 0.6),
    ("b", "t2"): (0.8, 0.8),
}


@pytest.fixture(scope="module")
def rows() -> Pool:
    graphs = [
        row(agent, task, {"triplet_f1": value}, sample, language="en" if task == "t1" else "zh")
        for (agent, task), values in F1.items()
        for sample, value in enumerate(values)
    ]
    failed = row("a", "t3", {"triplet_f1": 0.0}, termination=Termination.API_ERROR, language="en")
    unjudged = row("b", "t3", None, language="en")
    still_open = row("b", "t3", None, 1, termination=None, language="en")
    chains = [
        row("a", "c1", {"acc": 1.0}, family="checkpoints"),
        row("b", "c1", {"acc": 0.0}, family="checkpoints"),
    ]
    return pool(*graphs, failed, unjudged, still_open, *chains)


ALL = Cut()


def looked_at(rows: Pool, cut: Cut = ALL) -> ScoreView:
    view = ScoreView(rows)
    view.load(rows, cut, count(rows, cut, 200))
    return view


def texts(table: Table) -> list[list[str]]:
    """Texts of the cells, without intervals."""
    return [[cell.text.partition(" [")[0] for cell in line] for line in table.lines]


def column(view: ScoreView, heading: str) -> list[str]:
    at = view.table.headings.index(heading)
    return [line[at] for line in texts(view.table)]


def test_an_overview_has_each_familys_main_measure_and_counts_what_is_in_no_score(
    rows: Pool,
) -> None:
    view = looked_at(rows)
    assert view.sections == ("overview", "graph", "checkpoints")
    assert view.table.headings == (
        *("Agent", "Measure", "Tasks", "Trials", "Failed", "Not judged", "Open"),
        *("Mean", "Best or pass"),
    )
    # Means over tasks of means over samples: a (0.3 + 0.7 + 0) / 3, b (0.8 + 0.8) / 2.
    assert texts(view.table) == [
        ["a", "◆ Triplet F1", "3", "5", "1", "0", "0", "0.333", "0.400"],
        ["a", "≡ Accuracy", "1", "1", "0", "0", "0", "1.000", ""],
        ["b", "◆ Triplet F1", "3", "6", "0", "1", "1", "0.800", "0.900"],
        ["b", "≡ Accuracy", "1", "1", "0", "0", "0", "0.000", ""],
    ]
    assert "offline baselines" in "".join(piece.text for piece in view.heading())


def test_figures_and_counts_lead_to_their_trials(rows: Pool) -> None:
    view = looked_at(rows)
    ids = {(r.trial.agent.name, r.trial.task_id, r.trial.sample): r.trial.id for r in rows.rows}
    mean = view.behind(2, view.table.headings.index("Mean"))
    assert mean is not None
    assert mean.title == "b · ◆ Triplet F1 · Mean"
    assert mean.trials == {ids["b", task, sample] for task in ("t1", "t2") for sample in (0, 1)}
    for heading, wanted in (("Not judged", ("b", "t3", 0)), ("Open", ("b", "t3", 1))):
        behind = view.behind(2, view.table.headings.index(heading))
        assert behind is not None
        assert behind.trials == {ids[wanted]}
    failed = view.behind(0, view.table.headings.index("Failed"))
    assert failed is not None
    assert failed.trials == {ids["a", "t3", 0]}
    assert view.behind(1, view.table.headings.index("Failed")) is None
    assert view.behind(0, 0) is not None
    first = view.details(2, view.table.headings.index("Mean"))[0]
    assert first.startswith("b · ◆ Triplet F1 · Mean: 0.800 [")
    assert first.endswith("] · 2 tasks · 4 judged trials")
    second = view.details(2, view.table.headings.index("Mean"))[1]
    assert second.startswith("Tasks of this kind: [")
    assert second.endswith("these tasks, other samples: [0.000, 1.000]")


def test_lines_are_sorted_by_the_column_the_other_way_and_as_they_were(rows: Pool) -> None:
    view = looked_at(rows)
    mean = view.table.headings.index("Mean")
    view.sort(mean)
    assert column(view, "Mean") == ["1.000", "0.800", "0.333", "0.000"]
    assert "Mean ↓" in "".join(piece.text for piece in view.heading())
    view.sort(mean)
    assert column(view, "Mean") == ["0.000", "0.333", "0.800", "1.000"]
    view.sort(mean)
    assert column(view, "Agent") == ["a", "a", "b", "b"]
    best = view.table.headings.index("Best or pass")
    for _time in range(2):
        view.sort(best)
        assert column(view, "Best or pass")[2:] == ["", ""]
    view.sort(0)
    assert column(view, "Agent") == ["a", "a", "b", "b"]
    view.sort(0)
    assert column(view, "Agent") == ["b", "b", "a", "a"]


def test_a_dimension_stands_across_for_the_figure_under_the_cursor(rows: Pool) -> None:
    view = looked_at(rows, Cut(by=("agent", "language")))
    view.next_across(view.table.headings.index("Best or pass"))
    assert view.across == "agent"
    assert view.table.headings == ("Language", "Measure", "a", "b")
    # Best of a in English: 0.4 of t1 and 0 of t3; nobody judged b's t3.
    assert texts(view.table)[0] == ["English", "◆ Triplet F1", "0.200", "1.000"]
    assert "a · Best@2" in view.name(0, 2)
    view.next_across(2)
    assert view.across == "language"
    assert view.table.headings == ("Agent", "Measure", "English", "Chinese")
    view.next_across(2)
    assert view.across == "family"
    assert view.table.headings == ("Agent", "Language", "◆ Triplet F1", "≡ Accuracy")
    view.step(1)
    assert (view.section, view.across) == ("graph", None)
    view.step(-1)
    view.next_across(0)
    view.load(rows, Cut(), count(rows, Cut(), 200))
    assert view.across == "agent"
    view.load(rows, Cut(by=("judge",)), count(rows, Cut(by=("judge",)), 200))
    assert view.across is None


def test_filters_say_what_they_leave_out(rows: Pool) -> None:
    without = looked_at(rows, Cut(only=Only.WITHOUT_FAILED))
    assert column(without, "Mean")[0] == "0.500"
    assert without.narrowed == ["without failed trials"]
    chinese = looked_at(rows, Cut(where=(("language", ("zh",)),)))
    assert chinese.sections == ("overview", "graph")
    assert column(chinese, "Mean") == ["0.700", "0.800"]
    assert chinese.narrowed == ["Language: Chinese"]
    nothing = looked_at(rows, Cut(where=(("language", ("fr",)),)))
    assert nothing.table.lines == ()
    assert nothing.sections == ("overview",)
    assert nothing.behind(0, 0) is None
    nothing.sort(0)
    unjudged = looked_at(rows, Cut(only=Only.UNJUDGED))
    assert texts(unjudged.table) == [["b", "◆ Triplet F1", "1", "1", "1", "–"]]
    failed = looked_at(rows, Cut(only=Only.FAILED))
    assert column(failed, "Failed") == ["1"]
    assert set(without.choices()) == {"agent", "model", "family", "language", "compacted"}


def test_a_measure_of_all_families_stands_in_the_overview(rows: Pool) -> None:
    view = looked_at(rows, Cut(measure="cost"))
    assert column(view, "Measure") == ["◆ Cost", "≡ Cost", "◆ Cost", "≡ Cost"]
    assert column(view, "Mean") == ["–"] * 4
    every = looked_at(rows, Cut(measure=ALL_MEASURES))
    every.step(1)
    assert "Triplet F1 Avg@2" in every.table.headings
    assert "Cost" in " ".join(every.table.headings)


def test_scores_by_trial_are_those_of_judged_trials(rows: Pool) -> None:
    found = scores_by_trial(rows)
    assert len(found) == sum(r.figures is not None for r in rows.rows)
    assert found[rows.rows[0].trial.id].value("triplet_f1") == 0.2


def test_a_line_of_the_overview_is_told_with_the_notes_on_its_family(rows: Pool) -> None:
    view = looked_at(rows)
    by_measure = {line[1].text: at for at, line in reversed([*enumerate(view.table.lines)])}
    failure = "1 trial ended by a failure; it counts as what it scored."
    assert failure in view.details(by_measure["◆ Triplet F1"], 3)
    assert failure not in view.details(by_measure["≡ Accuracy"], 3)
    assert failure not in view.table.notes
    # The count is the line's, not the family's: it was agent a's trial that failed.
    lines = {(line[0].text, line[1].text): at for at, line in enumerate(view.table.lines)}
    of_graphs = {agent: view.details(lines[agent, "◆ Triplet F1"], 3) for agent in ("a", "b")}
    assert [agent for agent, told in of_graphs.items() if failure in told] == ["a"]
    missing = "No interval: fewer than 5 groups."
    assert missing in view.details(0, view.table.headings.index("Mean"))
    view.step(1)
    by_agent = {line[0].text: view.details(at, 1) for at, line in enumerate(view.table.lines)}
    assert [agent for agent, told in by_agent.items() if failure in told] == ["a"]


def test_pooled_ratios_are_told_of_where_they_stand() -> None:
    chains = pool(
        *(
            row(
                "a",
                f"c{n}",
                {"acc": 1.0, "det_f1": Measure("det_f1", asked / (asked + 1), asked + 1)},
                family="checkpoints",
            )
            for n, asked in enumerate((1, 3))
        )
    )
    view = looked_at(chains)
    assert not any("pooled" in note for note in view.table.notes)
    assert not any("pooled" in told for told in view.details(0, 3))
    one = looked_at(chains, Cut(measure="det_f1"))
    # 1 of 2 and 3 of 4 are 4 of 6.
    assert column(one, "Mean") == ["0.667"]
    assert any("pooled" in note for note in one.table.notes)
    view.step(1)
    assert any("pooled" in note for note in view.table.notes)


def test_the_only_line_beside_what_stands_across_is_named_by_its_figure(rows: Pool) -> None:
    view = looked_at(rows)
    view.step(1)
    view.next_across(0)
    assert view.table.headings == ("Measure", "a", "b")
    name = view.table.lines[0][0].text
    assert name.startswith("Triplet F1")
    assert f" · {name} · " in "".join(piece.text for piece in view.heading())
    assert view.name(0, 1).startswith(f"{name} · a")
