"""The agreement screen: the figures of the command line, and from a figure to its items."""

from __future__ import annotations

from pathlib import Path

from cuecard.annotate.labelling.calibrating import calibrate
from cuecard.annotate.labelling.comparison import compare
from cuecard.annotate.labelling.comparison_inputs import Scope, gather
from cuecard.core.config import EMBEDDED
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.evaluation.exam import plan_exam, run_exam
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.label_records import LabelValue
from cuecard.core.llm.hub import ModelHub
from cuecard.core.verdicts import Decision, Judgement
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.commands.agree_output import comparison_json
from cuecard.tui.screens.agreement import AgreementItemsScreen, AgreementScreen
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.screens.exam import ExamScreen
from cuecard.tui.screens.labelling.screen import LabelScreen
from effect_runs import JUDGE as STRICT
from effect_runs import judged_run, label
from tui_rooms import shown, until

JUDGE = "quillfeather"


def labelled(path: Path) -> None:
    """A second judge that says yes throughout; Ben labels six items, Chen four of them and two others."""
    with Workspace.open(path) as workspace:
        for record in workspace.verdicts.of_run(1):
            verdicts = tuple(
                verdict.model_copy(update={"decision": Decision.YES})
                for verdict in record.judgement.verdicts
            )
            ref = PlayerRef(name=JUDGE, kind="llm", model="m-1")
            workspace.verdicts.add(record.trial_id, Judgement(judge=ref, verdicts=verdicts))
        items = workspace.verdicts.queue("Chen", limit=8)
        for number, item in enumerate(items):
            value = LabelValue.NO if number % 3 == 0 else LabelValue.YES
            for person, theirs in (("Ben", items[:6]), ("Chen", items[2:])):
                if item in theirs:
                    workspace.verdicts.label(item.verdict_id, person, value)


async def test_from_the_figures_to_an_item(judged: Path, make_app) -> None:
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(AgreementScreen(1, "first run"))
        await until(pilot, lambda: "Nobody has labelled these verdicts yet" in shown(app.screen))
        await pilot.press("t", "enter", "n")
        assert isinstance(app.screen, AgreementScreen)
        labelled(judged)
        with Workspace.open(judged) as workspace:
            found = compare(gather(workspace, Scope(runs=(1,))), resamples=20)
        pairs = comparison_json(found, Scope(runs=(1,)))["pairs"]
        [percent] = [
            pair["figures"]["percent"]["value"]
            for pair in pairs
            if (pair["left"]["name"], pair["right"]["role"]) == (JUDGE, "majority")
        ]

        await pilot.press("r")
        await until(pilot, lambda: "Judges against most people" in shown(app.screen))
        assert "(base" in shown(app.screen)
        screen = app.screen
        assert "Sensitivity" in shown(screen)
        # Every other figure is one key away.
        await pilot.press("n")
        await until(pilot, lambda: "Every figure" in shown(screen))
        await pilot.press("right", "down")
        pair = found.against(found.references[0])[1]
        statistic = pair.statistic("percent")
        assert pair.left.name == JUDGE
        assert statistic is not None
        assert statistic.value == percent
        await until(pilot, lambda: f"agreement · judge {JUDGE}: {percent:.1%}" in shown(screen))
        assert f"{percent:.1%}" in shown(screen).split("percent agree")[1].splitlines()[0]

        for key, words in (
            ("g", "Groups"),
            ("j", "Two judges on the same"),
            ("i", "●"),
            ("m", "(down) and"),
        ):
            await pilot.press(*(() if key == "i" else ("v",)), key)
            await until(pilot, lambda words=words: words in shown(screen))
        await pilot.press("v", "w")
        await until(pilot, lambda: "Versions on held-out labels" in shown(screen))
        await pilot.press("v", "m")
        # The matrix of the other judge; its first cell is covered by both.
        while f"judge {JUDGE} (down) and most people" not in shown(screen):
            await pilot.press("n")
        await pilot.press("right", "enter")
        await until(pilot, lambda: isinstance(app.screen, AgreementItemsScreen))
        await until(pilot, lambda: "more item" in shown(app.screen))
        # Ben has labelled two of the three items that the judge has as covered and people have not.
        assert shown(app.screen).count("not covered") >= 2
        await pilot.press("h")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: "more item" not in shown(app.screen))
        await pilot.press("ctrl+a", "enter")
        await until(pilot, lambda: isinstance(app.screen, LabelScreen) and app.screen.step)
        assert app.screen.step.total == 3
    with Workspace.open(judged) as workspace:
        seen = workspace.adjudications.seen("Ben")
        assert len(seen) == 3
        mine = {
            (x.trial_id, x.item_key) for x in workspace.verdicts.item_labels() if x.person == "Ben"
        }
        [(trial, key)] = seen - mine
        verdict = next(
            r for r in workspace.verdicts.records(1) if (r.trial_id, r.item.key) == (trial, key)
        )
        # Who has looked is not blind any more.
        assert (
            workspace.verdicts.label(verdict.verdict_id, "Ben", LabelValue.NO).phase == "revealed"
        )


async def test_a_run_without_labels_is_corrected_by_those_of_another(
    database: Path, make_app
) -> None:
    with Workspace.open(database) as workspace:
        first, trials = judged_run(workspace, {"a": ["y" * 10 + "n" * 10] * 10})
        for trial in trials.values():
            label(workspace, trial, "y" * 6 + "n" * 4 + "y" + "n" * 9)
        second, _trials = judged_run(workspace, {"b": ["y" * 7 + "n" * 3] * 6})
        [rate] = calibrate(workspace, [second], STRICT.name, from_runs=[first]).rates
    corrected = rate.rate.corrected
    app: CuecardApp = make_app(database)
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(AgreementScreen(second, "second run"))
        await until(pilot, lambda: "Nobody has labelled these verdicts yet" in shown(app.screen))
        assert "Shares corrected by labels of other runs" in shown(app.screen)
        await pilot.press("v", "c")
        await until(pilot, lambda: "Shares of items that are right" in shown(app.screen))
        assert f"{corrected.value:.3f}" in shown(app.screen)
        assert f"errs here as often as on run {first}" in shown(app.screen)
        await pilot.press("i")
        await until(pilot, lambda: "●" in shown(app.screen))
        await pilot.press("v", "t")
        await until(pilot, lambda: "Nobody has labelled these verdicts yet" in shown(app.screen))

        # The other way round there is nothing to correct by, which is told.
        app.push_screen(AgreementScreen(first, "first run"))
        await until(pilot, lambda: "[t Table]" in shown(app.screen))
        await pilot.press("v", "c")
        await until(pilot, lambda: "nobody labelled on other runs" in shown(app.screen))


async def test_only_the_section_on_which_a_person_stays_is_counted(judged: Path, make_app) -> None:
    labelled(judged)
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(AgreementScreen(1, "first run"))
        await until(pilot, lambda: "Judges against most people" in shown(app.screen))
        screen = app.screen
        assert isinstance(screen, AgreementScreen)
        await pilot.press("v", "e", "v", "c", "v", "w")
        await until(pilot, lambda: "Versions on held-out labels" in shown(screen))
        assert screen.view is not None
        assert screen.view.computed == {"workshop"}
        await pilot.press("v", "t", "v", "e")
        await until(pilot, lambda: "effect" in ((screen.view and screen.view.computed) or ()))


async def test_from_a_version_in_the_workshop_to_its_exam(judged: Path, make_app) -> None:
    labelled(judged)
    with Workspace.open(judged) as workspace:
        judge = LexicalJudge()
        plan = plan_exam(workspace, judge, ["espresso", "facts-night-train"], config=EMBEDDED)
        await run_exam(workspace, plan, judge, ModelHub(EMBEDDED), config=EMBEDDED, by="Ana")
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=(120, 40)) as pilot:
        app.push_screen(AgreementScreen(1, "first run"))
        await until(pilot, lambda: "Judges against most people" in shown(app.screen))
        await pilot.press("v", "w")
        await until(pilot, lambda: "Versions on held-out labels" in shown(app.screen))
        assert "faults" in shown(app.screen)
        assert f"`cuecard exam {JUDGE}`" in shown(app.screen)
        await pilot.press("right", "right", "right", "enter")
        await until(pilot, lambda: isinstance(app.screen, ExamScreen))
        await until(pilot, lambda: "Exam · lexical" in shown(app.screen))
        await pilot.press("escape")
        assert isinstance(app.screen, AgreementScreen)
