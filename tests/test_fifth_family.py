"""A family that does not ship with us, made of one module for each part of the program (`tests/fifth_family`): it is authored,
linted, played, judged, scored, shown and exported as ours are, and what it leaves out is refused by name.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from cuecard.annotate.authoring.task_data import blank_task
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.independent_gold.building import obstacle, open_blank
from cuecard.annotate.independent_gold.comparison import align
from cuecard.annotate.lint.rules import lint, loosely
from cuecard.annotate.results.pool import gather
from cuecard.annotate.results.scores import tables_by_family
from cuecard.annotate.results.trial_record import open_trial
from cuecard.annotate.task_files import export_tasks, import_path
from cuecard.core.errors import FileProblems, NotAllowed
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.run_exports import export_runs
from cuecard.core.evaluation.runs import start_run
from cuecard.core.families.registry import CORE, CoreFamily, MissingPart, register
from cuecard.core.judges.lexical import judge_lexically
from cuecard.core.predictions import TablePrediction
from cuecard.core.rescoring import item_changes
from cuecard.core.scoring.trial_score import score_prediction
from cuecard.core.tasks import SHIPPED
from cuecard.core.tasks.gold import FAMILIES, forget_gold
from cuecard.core.tasks.models import Task, content_hash
from cuecard.core.tasks.yaml_io import dump_task, parse_task
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.families import TUI
from cuecard.tui.preferences import Preferences
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.trial.screen import TrialScreen
from cuecard.tui.services import Services
from fifth_family import annotate, core, tui
from fifth_family.core import RANKING, ndcg
from tui_rooms import shown, until

TEXT = """\
id: peaks
title: Peaks of the Alps
family: ranking
language: en
query: Rank Dom, Weisshorn and Mont Blanc by height.
gold:
  by: height
  ranked:
  - name: Mont Blanc
    figure: 4806 m
    grade: 3
  - name: Dom
    figure: 4545 m
    grade: 2
  - name: Weisshorn
    figure: 4506 m
    grade: 1
sources:
- url: https://example.org/alps
"""


@pytest.fixture
def ranking() -> Iterator[None]:
    """The family, known to all parts of the program for as long as a test takes."""
    register(core.RANKING)
    ANNOTATE.register("ranking", annotate.RANKING)
    TUI.register("ranking", tui.RANKING)
    yield
    for parts in (CORE, ANNOTATE, TUI):
        parts.forget("ranking")
    forget_gold("ranking")


@pytest.fixture
def peaks(ranking: None) -> Task:
    return parse_task(TEXT, "peaks.yaml")


def test_a_task_is_read_and_written_as_it_stands(peaks: Task) -> None:
    assert dump_task(peaks) == TEXT
    assert Task.model_validate_json(peaks.model_dump_json()) == peaks
    assert len(content_hash(peaks)) == 64
    assert list(FAMILIES) == [*SHIPPED, "ranking"]


def test_what_is_wrong_in_a_file_is_told_by_line(ranking: None) -> None:
    with pytest.raises(FileProblems) as found:
        parse_task(TEXT.replace("grade: 3", "grade: 0"), "peaks.yaml")
    (problem,) = found.value.problems
    assert (problem.place, problem.line) == ("gold.ranked[0].grade", 11)


def test_without_the_family_its_files_are_refused() -> None:
    with pytest.raises(FileProblems) as found:
        parse_task(TEXT, "peaks.yaml")
    assert found.value.problems[0].place == "family"


def test_a_new_task_begins_blank_and_a_draft_is_linted(ranking: None) -> None:
    data = blank_task("peaks", "Peaks", "ranking", "en")
    assert data["gold"]["ranked"]
    assert loosely(data) is not None
    wrong = parse_task(TEXT.replace("grade: 1", "grade: 3"), "peaks.yaml")
    assert "L090" in {finding.code for finding in lint(wrong)}
    assert "L090" not in {finding.code for finding in lint(parse_task(TEXT, "peaks.yaml"))}


def test_ndcg_is_what_the_paper_says(peaks: Task) -> None:
    assert ndcg([3, 2, 1], [1, 2, 3]) == 1
    # Gains 7, 3, 1; the second and the first changed places, the third left out.
    best = 7 + 3 / math.log2(3) + 1 / 2
    handed_in = TablePrediction(columns=("name",), rows=(("Dom",), ("mont blanc",)))
    judgement = judge_lexically(peaks, handed_in)
    measures = {m.name: m.value for m in score_prediction(peaks, handed_in, judgement)}
    assert measures["ndcg"] == pytest.approx((3 + 7 / math.log2(3)) / best)
    assert len(item_changes(peaks, peaks)) == 3


def test_a_part_that_is_left_out_is_refused_by_name(ranking: None) -> None:
    TUI.forget("ranking")
    with pytest.raises(MissingPart, match="'ranking' has no part in the screens"):
        list(TUI.values())
    TUI.register("ranking", tui.RANKING)
    given = {field.name: getattr(RANKING, field.name) for field in fields(RANKING)}
    del given["score"]
    with pytest.raises(TypeError, match="score"):
        CoreFamily(**given)
    with pytest.raises(ValueError, match="already"):
        register(RANKING)
    with pytest.raises(ValueError, match="gold of the family 'ranking'"):
        register(replace(RANKING, name="another"))


def test_its_gold_is_not_built_twice_and_who_asks_is_told(peaks: Task, tmp_path: Path) -> None:
    with Workspace.open(tmp_path / "cuecard.db", create=True) as workspace:
        workspace.tasks.save(peaks, author="Ana")
        assert "not built twice" in obstacle(workspace, "peaks", "Ben")
        with pytest.raises(NotAllowed, match="cannot build this gold"):
            open_blank(workspace, "peaks", "Ben")
    with pytest.raises(MissingPart, match="'ranking' is not built twice"):
        align(peaks.gold, peaks.gold)


@pytest.fixture
async def played(peaks: Task, tmp_path: Path) -> Path:
    """A workspace in which the task was imported, played by the offline agent and judged."""
    (tmp_path / "peaks.yaml").write_text(TEXT)
    database = tmp_path / "cuecard.db"
    with Workspace.open(database, create=True) as workspace:
        workspace.people.add("Ana")
        import_path(workspace, tmp_path / "peaks.yaml", by="Ana")
        await start_run(workspace, RunPlan(tasks=("peaks",), name="peaks"), by="Ana")
    return database


async def test_it_is_played_judged_scored_and_exported(played: Path, tmp_path: Path) -> None:
    with Workspace.open(played) as workspace:
        (run,) = workspace.runs.all()
        (trial,) = workspace.runs.trials(run.id)
        opened = open_trial(workspace, trial.id)
        assert opened.prediction == TablePrediction(
            columns=("name",), rows=(("Mont Blanc",), ("Dom",), ("Weisshorn",))
        )
        pool = gather(workspace, [run.id])
        assert [row.measure("ndcg") for row in pool.rows] == [1.0]
        (table,) = tables_by_family(pool)
        assert [column.measure for column in table.columns] == ["ndcg"]
        export_runs(workspace, [run.id], tmp_path / "out", "jsonl")
        export_tasks(workspace, tmp_path / "tasks")
    written = "".join(p.read_text() for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert "Weisshorn" in written
    assert json.loads(written.splitlines()[0])
    (file,) = (tmp_path / "tasks").rglob("*.yaml")
    comment, text = file.read_text().split("\n", 1)
    assert comment.startswith("# Benchmark data")
    assert text == TEXT


async def test_the_screens_show_the_task_and_its_trial(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    app = CuecardApp(Services(f"sqlite:///{played}"), "Ana", Preferences())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "Peaks of the Alps" in shown(pilot.app.screen))
        for word in ("▲ ranking", "3 ranked things"):
            assert word in shown(pilot.app.screen)
        await pilot.app.push_screen(TrialScreen(1))
        await until(pilot, lambda: "judge lexical" in shown(pilot.app.screen))
        await until(pilot, lambda: "Mont Blanc" in shown(pilot.app.screen))
        await pilot.app.push_screen(TaskScreen("peaks"))
        await until(pilot, lambda: "Rank Dom, Weisshorn" in shown(pilot.app.screen))


async def test_its_gold_is_edited_by_the_fields_that_it_names(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    app = CuecardApp(Services(f"sqlite:///{played}"), "Ana", Preferences())
    async with app.run_test(size=(120, 40)) as pilot:
        screen = TaskScreen("peaks", place="gold.ranked[1].figure", editing=True)
        await app.push_screen(screen)
        await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
        await until(pilot, lambda: "Weisshorn" in shown(screen))
        await pilot.press("end", "!", "tab", "backspace", "1")
        ranked = screen.edit.items(("gold", "ranked"))
        assert (ranked[1]["figure"], ranked[1]["grade"]) == ("4545 m!", 1)
        await screen.editor.open("gold")
        await until(pilot, lambda: "height" in shown(screen))
        screen.editor.commit()
        assert screen.edit.data["gold"]["by"] == "height"


FOUND = """
import sys
from cuecard.core.tasks.gold import FAMILIES, gold_class
from cuecard.core.tasks.yaml_io import parse_task
from cuecard.core.families.registry import CORE, family_of
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.tui.families import TUI
from cuecard.core.plugins import PluginError

text = sys.stdin.read()
assert list(FAMILIES)[-2:] == ["broken", "ranking"], list(FAMILIES)
assert "fifth_family" not in sys.modules
task = parse_task(text, "peaks.yaml")
assert type(task.gold) is gold_class("ranking")
assert family_of(task) is CORE["ranking"]
assert ANNOTATE["ranking"] and TUI["ranking"]
try:
    parse_task(text.replace("family: ranking", "family: broken"), "peaks.yaml")
except PluginError as error:
    print(error.message)
"""


def test_a_package_names_a_family_by_entry_points(tmp_path: Path) -> None:
    about = tmp_path / "ranking-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ranking\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[cuecard.families]\nbroken = fifth_family.nowhere:X\n"
        "ranking = fifth_family.core:RANKING\n"
        "[cuecard.families.annotate]\nranking = fifth_family.annotate:RANKING\n"
        "[cuecard.families.tui]\nranking = fifth_family.tui:RANKING\n"
    )
    path = os.pathsep.join((str(tmp_path), str(Path(__file__).parent)))
    done = subprocess.run(
        [sys.executable, "-c", FOUND],
        input=TEXT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "broken of the package ranking 1.0, registered in cuecard.families" in done.stdout
    assert "ModuleNotFoundError: No module named 'fifth_family.nowhere'" in done.stdout
