"""From the list of runs to a judge's exam, the misses of a probe, and both inputs of one beside each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.widgets import Static

from cuecard.core.config import EMBEDDED
from cuecard.core.engine.events import RunState
from cuecard.core.evaluation.exam import enter_exam, plan_exam, run_exam
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.llm.hub import ModelHub
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.exam import ExamDialog, ExamScreen, InputsScreen, MissesScreen
from tui_rooms import shown, until

AppMaker = Callable[..., CuecardApp]


async def test_a_miss_is_read_side_by_side(database: Path, make_app: AppMaker) -> None:
    judge = LexicalJudge("lexical:lenient")
    with Workspace.open(database) as workspace:
        plan = plan_exam(workspace, judge, ["espresso", "facts-night-train"], config=EMBEDDED)
        await run_exam(workspace, plan, judge, ModelHub(EMBEDDED), config=EMBEDDED, by="Ana")
    app = make_app(database)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: "exam: lexical:lenient" in shown(app.screen))
        await pilot.press("enter")
        await until(
            pilot, lambda: isinstance(app.screen, ExamScreen) and "K01" in shown(app.screen)
        )
        exam = app.screen
        assert isinstance(exam, ExamScreen)
        assert "Exam · lexical:lenient" in shown(exam)
        await app.workers.wait_for_complete()
        assert not app._notifications
        # What was missed stands first, by its name.
        assert [bool(row.misses) for row in exam.view.rows] == sorted(
            (bool(row.misses) for row in exam.view.rows), reverse=True
        )
        line = next(line for line in shown(exam).splitlines() if "K26" in line)
        assert line.index("negated") < line.index("K26")
        exam.view.go_to("K26")
        await until(pilot, lambda: "blind to negation" in shown(exam))
        await pilot.press("enter")
        await until(
            pilot, lambda: isinstance(app.screen, MissesScreen) and "not " in shown(app.screen)
        )
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, InputsScreen))
        inputs = app.screen
        await until(
            pilot, lambda: "negated (K26) · " in str(inputs.query_one("#title", Static).content)
        )
        await pilot.press("n")
        await until(pilot, lambda: "2/" in str(inputs.query_one("#title", Static).content))
        await pilot.press("escape")
        misses = app.screen
        await until(pilot, lambda: isinstance(app.screen, MissesScreen))
        assert isinstance(misses, MissesScreen)
        assert misses.view.grid.cursor_row == 1
        await pilot.press("escape", "escape")
        await until(pilot, lambda: "exam: lexical:lenient" in shown(app.screen))


async def test_an_exam_is_begun_from_the_verdicts_and_gone_on_with(
    database: Path, make_app: AppMaker
) -> None:
    app = make_app(database)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: "No verdicts yet" in shown(app.screen))
        await pilot.press("full_stop", "e")
        await until(pilot, lambda: isinstance(app.screen, ExamDialog))
        await until(pilot, lambda: "inputs are to be judged, without a model." in shown(app.screen))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ExamScreen))
        exam = app.screen
        await until(pilot, lambda: "sensitivity " in shown(exam))
        assert "Judging with" not in shown(exam)
        with Workspace.open(database) as workspace:
            [run] = workspace.runs.all("probe")
            assert (run.name, run.created_by, run.state) == ("exam: lexical", "Ana", RunState.DONE)
            before = len(workspace.verdicts.of_run(run.id))
        # Nothing is left of it: it is told, and nothing is asked again.
        await until(pilot, lambda: "Sit again" in shown(exam))
        await pilot.press("p")
        await until(pilot, lambda: "Every input is judged" in shown(app.screen))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is exam)
        with Workspace.open(database) as workspace:
            assert len(workspace.verdicts.of_run(run.id)) == before


async def test_an_exam_that_goes_on_elsewhere_is_followed(
    database: Path, make_app: AppMaker
) -> None:
    judge = LexicalJudge("lexical:lenient")
    with Workspace.open(database) as workspace:
        plan = plan_exam(workspace, judge, ["espresso"], config=EMBEDDED)
        plan = enter_exam(workspace, plan, EMBEDDED, "Ben")
        app = make_app(database)
        async with app.run_test(size=(80, 24)) as pilot:
            assert plan.run is not None
            await app.push_screen(exam := ExamScreen(plan.run.id))
            await until(
                pilot, lambda: "are not judged yet. p plays on what is open." in shown(exam)
            )
            assert "sensitivity – ·" in shown(exam)
            await run_exam(workspace, plan, judge, ModelHub(EMBEDDED), config=EMBEDDED, by="Ben")
            await until(pilot, lambda: "not judged yet" not in shown(exam))
            assert "sensitivity – ·" not in shown(exam)
