"""The example study: its file opens, says what it is, and holds what the screens are to show; building it is repeatable."""

from __future__ import annotations

import contextlib
import lzma
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

import example_study
from cuecard.annotate.fidelity.inputs import Scope as FidelityScope
from cuecard.annotate.fidelity.report import fidelity_of
from cuecard.annotate.labelling.comparison import compare
from cuecard.annotate.labelling.comparison_inputs import Scope, gather
from cuecard.annotate.quality.datasheet import as_markdown, datasheet_of
from cuecard.annotate.results.corrected import corrected_board, corrected_figures, corrections_in
from cuecard.annotate.results.leaderboard import leaderboard
from cuecard.annotate.results.pool import gather as results_of
from cuecard.annotate.results.scores import tables_by_family
from cuecard.annotate.study import STUDY, STUDY_FILE, is_study, write_study
from cuecard.core.evaluation.scores import score_run
from cuecard.core.scoring.aggregate import Statistic
from cuecard.core.tasks.models import Family
from cuecard.core.tasks.yaml_io import load_task
from cuecard.store.workspace import Workspace


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("study") / "example-study.db")


def main_run(workspace: Workspace) -> int:
    return next(run.id for run in workspace.runs.all("grid") if run.trials == 180)


def test_it_holds_twenty_tasks_three_agents_and_two_simulators(study: Path) -> None:
    with Workspace.open(study) as workspace:
        tasks = workspace.tasks.summaries()
        assert Counter(t.family for t in tasks) == dict.fromkeys(
            ("graph", "table", "checkpoints", "facts"), 5
        )
        assert len({str(t.language) for t in tasks}) == 2
        runs = workspace.runs.all("grid")
        assert all(run.name.endswith(STUDY) for run in runs)
        assert is_study(workspace)
        trials = workspace.runs.trials(main_run(workspace))
        assert len({t.agent.name for t in trials}) == 3
        assert {t.sample for t in trials} == {0, 1, 2}
        assert all(t.agent.baseline for run in runs for t in workspace.runs.trials(run.id))
        users = {t.user.name for run in runs for t in workspace.runs.trials(run.id)}
        assert {"scripted", "scripted:hasty"} <= users
        played = workspace.runs.all("play")
        assert len(played) == 2
        assert all(run.trials == run.finished == 1 for run in played)
        states = Counter(str(t.state) for t in tasks)
        assert len(states) >= 4, states
        assert STUDY.strip("()") in as_markdown(datasheet_of(workspace))


def test_agents_are_ranked_apart_and_the_judge_is_not_right_everywhere(study: Path) -> None:
    with Workspace.open(study) as workspace:
        run = main_run(workspace)
        groups = {
            g.agent: next(m.value for m in g.measures if m.name == "triplet_f1")
            for g in score_run(workspace, run, "lexical:noisy").groups
            if g.family == "graph"
        }
        assert groups["offline:wordy"] > groups["offline:forgetful"] + 0.05
        assert groups["offline:forgetful"] > groups["offline:hasty"] + 0.1
        drawn = workspace.label_sets.get(1)
        found = compare(gather(workspace, Scope(set_id=drawn.id)), resamples=20)
        kappa = {
            (pair.left.name or pair.left.role, pair.right.name or pair.right.role): value.value
            for pair in found.pairs
            if (value := pair.statistic("cohen_kappa"))
        }
        assert 0.3 < kappa["Cem", "Dana"] < 0.9
        assert 0.5 < kappa["lexical:noisy", "majority"] < kappa["lexical", "majority"]
        disputed = {(case.trial_id, case.item.key) for case in drawn_disputes(workspace, drawn.id)}
        adjudicated = {(one.trial_id, one.item_key) for one in workspace.adjudications.newest()}
        assert 0 < len(adjudicated & disputed) < len(disputed)


@pytest.mark.parametrize(
    ("family", "measure"), [("graph", "triplet_f1"), ("checkpoints", "acc"), ("facts", "pass_at_1")]
)
def test_labels_of_whole_trials_correct_the_scores(
    study: Path, family: Family, measure: str
) -> None:
    with Workspace.open(study) as workspace:
        run = main_run(workspace)
        pool = results_of(workspace, [run], [example_study.JUDGE])
        corrections = corrections_in(workspace, pool)
        (table,) = tables_by_family(pool.of_family(family))
        told = {
            one.line.value("agent"): one.correction
            for one in corrected_figures(table, pool, corrections)
            if (one.column.measure, one.column.taken) == (measure, Statistic.AVG)
        }
        assert set(told) == set(example_study.AGENTS)
        right = results_of(workspace, [run], ["lexical"])
        (truth,) = tables_by_family(right.of_family(family))
        assert all(one.labelled >= 10 and one.labelled_tasks == 5 for one in told.values())
        assert all(one.corrected.low is not None for one in told.values() if one.people.low)
        off: dict[str, list[float]] = {"judge": [], "corrected": []}
        for line in truth.lines:
            mine = told[line.value("agent")]
            real = line.figures[f"{measure}.avg"].value
            off["judge"].append(abs(mine.judge.value - real))
            off["corrected"].append(abs(mine.corrected.value - real))
        # The planted mistakes of the judge are far more than those of people; but one alone among answers at checkpoints.
        assert family == "checkpoints" or sum(off["corrected"]) < sum(off["judge"])
        board = corrected_board(leaderboard(pool, family), pool, corrections)
        assert board is not None
        assert set(board.people) == set(board.judge) == set(told)


def test_its_file_needs_no_upgrade_to_be_opened(tmp_path: Path) -> None:
    file = tmp_path / "packed.db"
    file.write_bytes(
        lzma.decompress((example_study.ROOT / "src/cuecard" / STUDY_FILE).read_bytes())
    )
    with contextlib.closing(sqlite3.connect(file)) as connection:
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    with Workspace.open(tmp_path / "new.db", create=True):
        pass
    with contextlib.closing(sqlite3.connect(tmp_path / "new.db")) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (
            version,
        )


def drawn_disputes(workspace: Workspace, set_id: int) -> list[object]:
    """Items of the set on which the two people differ."""
    found = gather(workspace, Scope(set_id=set_id))
    return [case for case in found.cases if len(set(case.labels.values())) > 1]


def test_a_simulator_that_hurries_is_less_like_people(study: Path) -> None:
    with Workspace.open(study) as workspace:
        found = fidelity_of(workspace, FidelityScope())
        told = {
            each.simulator.name: each.cohen_kappa.value
            for each in found.agreements
            if each.by is None and each.subject == "cue"
        }
        assert told["scripted:hasty"] < told["scripted"] < 1


def test_building_it_twice_gives_the_same_rows(tmp_path: Path) -> None:
    tasks = [
        load_task(example_study.TASKS / f"{name}.yaml")
        for name in ("graph-new-planets", "table-noble-gases", "facts-two-comets")
    ]
    for name in ("one.db", "two.db"):
        example_study.build(tmp_path / name, tasks=tasks, samples=1)
    one, two = (example_study.content(tmp_path / name) for name in ("one.db", "two.db"))
    assert one == two
    assert len(one["trials"]) == 3 * 3 + 3 + 1 if "trials" in one else any(one.values())


def test_it_is_small_and_what_is_there_stays(tmp_path: Path) -> None:
    assert (example_study.ROOT / "src" / "cuecard" / STUDY_FILE).stat().st_size < 3_000_000
    mine = tmp_path / "mine.db"
    mine.write_bytes(b"mine")
    assert write_study(mine).read_bytes() == b"mine"
