from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard.annotate.review.comments import threads_for
from cuecard.annotate.study import write_study
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    ModelReplied,
    RunState,
    Termination,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    AgentReply,
    Hit,
    ModelReply,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    UserReply,
)
from cuecard.core.evaluation.plans import RunPlan, settings_of
from cuecard.core.evaluation.runs import start_run
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.predictions import PredictedTriple, TriplesPrediction
from cuecard.core.records import TrialCell
from cuecard.core.text import storable
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import ChoiceDialog, TextDialog
from cuecard.tui.screens.play.screen import PlayScreen
from cuecard.tui.screens.play.sources import SourceScreen, SourcesDialog
from cuecard.tui.screens.trial.actions import TellDialog
from cuecard.tui.screens.trial.panes import LineList, LinesPane, MeasuresPane
from cuecard.tui.screens.trial.screen import TrialScreen
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.transcript import Transcript
from tui_rooms import HOSTILE, shown, transcript, until

AppMaker = Callable[..., CuecardApp]
WIDE = (120, 40)
NARROW = (80, 24)
BASELINE = PlayerRef(name="offline", kind="offline", baseline=True)
WORLD = PlayerRef(name="closed", kind="closed", baseline=True)
HUMAN = PlayerRef(name="Ana", kind="human")


def made_up(database: Path, *bodies: EventBody, kind: str = "grid") -> int:
    """A trial of the espresso task whose log is `bodies`; returns its id."""
    with Workspace.open(database) as workspace:
        run = workspace.runs.create(
            name="made up",
            kind="play" if kind == "play" else "grid",
            created_by="Ana",
            samples=1,
            limits=Limits(),
        )
        trial = workspace.runs.add_trials(
            run.id,
            [
                TrialCell(
                    task_id="espresso",
                    revision=1,
                    agent=BASELINE,
                    user=HUMAN,
                    world=WORLD,
                    sample=0,
                    seed=0,
                )
            ],
        )[0]
        log = [Event(seq=i, at=datetime.now(UTC), body=body) for i, body in enumerate(bodies)]
        workspace.runs.append_events([(trial.id, event) for event in log])
        if isinstance(bodies[-1], TrialEnded):
            # Otherwise the app would judge it when it starts, as a run that was left behind.
            workspace.runs.set_state(run.id, RunState.DONE)
        return trial.id


def hostile_log() -> list[EventBody]:
    nasty = storable(HOSTILE)
    return [
        UserSpoke(turn=0, reply=UserReply(text=nasty, stage=1, cue_met=True, reason=nasty)),
        ToolAnswered(
            part="agent",
            turn=0,
            step=0,
            call=ToolCall(name=nasty, arguments={nasty: nasty}),
            answer=ToolAnswer(
                text=nasty,
                hit=Hit(is_compound=True, hit=True, matched_fact_keys=(nasty,), reason=nasty),
                entries=(SearchEntry(id=nasty, title=nasty, content=nasty, date=nasty, url=nasty),),
            ),
        ),
        AgentSpoke(turn=0, reply=AgentReply(text=nasty)),
        UserSpoke(turn=1, reply=UserReply(text="That is all.", done=True)),
        Concluded(
            prediction=TriplesPrediction(
                triples=(PredictedTriple(head=nasty, relation=nasty, tail=nasty),), raw=nasty
            )
        ),
        TrialEnded(termination=Termination.API_ERROR, detail=nasty),
    ]


async def open_trial(pilot: object, screen: TrialScreen) -> None:
    from textual.pilot import Pilot

    assert isinstance(pilot, Pilot)
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.query_one(Transcript).entries)
    await until(pilot, lambda: screen.query_one(Transcript).lines)


@pytest.fixture(scope="module")
def played_once(database_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a judged trial of espresso (1) and one of a checkpoint task (2)."""
    path = tmp_path_factory.mktemp("played") / "cuecard.db"
    shutil.copy(database_once, path)
    tasks = ("espresso", "checkpoints-highest-mountain")
    with Workspace.open(path) as workspace:
        plan = RunPlan(tasks=tasks)
        asyncio.run(start_run(workspace, plan, by="Ana"))
        first = workspace.runs.trials(1)[0]
        assert first.task_id == "espresso"
    return path


@pytest.fixture
def played(home: Path, played_once: Path) -> Path:
    return Path(shutil.copy(played_once, home / "cuecard.db"))


def pane(screen: TrialScreen) -> LinesPane:
    found = screen._shown
    assert isinstance(found, LinesPane)
    return found


def in_pane(screen: TrialScreen, name: str) -> bool:
    """Whether a pane is shown, filled and has the focus."""
    found = screen._shown
    return screen._pane == name and found is not None and screen.focused in found.query("*")


def lines(screen: TrialScreen) -> str:
    return "\n".join(pane(screen).query_one(LineList).lines)


async def test_a_trial_reads_as_a_dialogue_and_its_panes_say_what_came_of_it(
    make_app: AppMaker, played: Path
) -> None:
    app = make_app(played)
    async with app.run_test(size=WIDE) as pilot:
        screen = TrialScreen(1)
        await open_trial(pilot, screen)
        await until(pilot, lambda: screen._shown and "judge lexical" in shown(screen))
        reader = screen.query_one(Transcript)
        assert "✓ cue met · ▸ stage 2/12 The man from the exposition" in transcript(screen)
        assert "The trial ended: user done" in transcript(screen)
        for word in ("agent offline*", "judge lexical*", "* baseline", "user done", "115 events"):
            assert word in shown(screen)

        # From a stage to its turn, and back.
        await pilot.press("v", "s")
        await until(pilot, lambda: in_pane(screen, "stages"))
        assert "✓ 2 The man from the exposition · turn 2" in " ".join(lines(screen).split())
        assert "met by:" in lines(screen)
        await pilot.press("down", "down", "down", "enter")
        await until(pilot, lambda: reader.entries[reader.cursor].turn == 3)
        await pilot.press("backspace")
        await until(pilot, lambda: reader.cursor == 0 and in_pane(screen, "stages"))

        # From a verdict to where its item was found, and from a turn to its verdicts.
        await pilot.press("v", "v")
        await until(
            pilot, lambda: in_pane(screen, "verdicts") and "same entities" not in shown(screen)
        )
        assert len(pane(screen).query_one(LineList).entries) == 79
        await pilot.press("space")
        assert "same entities, same relation" in lines(screen)
        await pilot.press("enter")
        await until(pilot, lambda: len(screen._jumps) == 1 and reader.spot_event is not None)
        assert "Moriondo" in transcript(screen)
        await pilot.press("v", "t", "i")
        await until(pilot, lambda: "only what this turn names" in shown(screen))
        for key, words in (("g", "covered"), ("m", "Triplet F1")):
            await pilot.press("v", key)
            await until(pilot, lambda words=words: words in shown(screen))

        # Event by event: panes show what there was by then.
        await pilot.press("v", "s", "v", "t", "home", "p")
        await until(pilot, lambda: "step 2 of 115" in shown(screen))
        assert "1 of 12 stages" in shown(screen)
        await pilot.press("right", "alt+right", "alt+right")
        assert "2 of 12 stages" in " ".join(shown(screen).split())
        await pilot.press("end")
        assert "step 115 of 115" in shown(screen)
        await pilot.press("escape")
        assert "step 115" not in shown(screen)
        assert app.screen is screen


async def test_at_80_by_24_transcript_and_panes_take_turns(
    make_app: AppMaker, played: Path
) -> None:
    app = make_app(played)
    async with app.run_test(size=NARROW) as pilot:
        screen = TrialScreen(2)
        await open_trial(pilot, screen)
        side, reader = screen.query_one("#side"), screen.query_one(Transcript)
        assert (reader.region.width, side.region.width) == (80, 0)
        await pilot.press("v")
        await until(pilot, lambda: "Transcript (shown)" in shown(app.screen))
        assert "s   Steps" in shown(app.screen)
        await pilot.press("s")
        await until(pilot, lambda: in_pane(screen, "stages") and side.region.width == 80)
        ladder = " ".join(lines(screen).split())
        assert "ambiguous: which criterion" in ladder
        assert "asked rightly · turn 2" in ladder
        assert "clue released" in ladder
        for word in ("Go", "Back", "[s Steps]", "g Gold"):
            await until(pilot, lambda word=word: word in shown(screen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: reader.region.width == 80 and reader.has_focus)
        assert reader.entries[reader.cursor].turn == 1
        await pilot.press("backspace")
        await until(pilot, lambda: side.region.width == 80 and in_pane(screen, "stages"))
        assert pane(screen).cursor == 1
        await pilot.press("v", "g")
        await until(pilot, lambda: "GOLD" in shown(screen) and "GIVEN" in shown(screen))


async def test_people_mark_comment_and_tell_the_authors(make_app: AppMaker, played: Path) -> None:
    with Workspace.open(played) as workspace:
        workspace.trial_notes.add(1, "Ben", "comment", "turn/2", "so it begins")
        item = Item(kind=ItemKind.TRIPLE, index=5)
        workspace.label_sets.create(
            name="blind",
            created_by="Ana",
            items=[SetItem(trial_id=1, item=item, people=("Chen",))],
        )
        assert workspace.label_sets.waiting("Chen", 1) == [item]
        assert workspace.label_sets.waiting("Ana", 1) == []
    app = make_app(played)
    async with app.run_test(size=WIDE) as pilot:
        screen = TrialScreen(1)
        await open_trial(pilot, screen)
        await until(pilot, lambda: screen._shown and "judge lexical" in shown(screen))
        await pilot.press("t")
        await until(pilot, lambda: len(screen._notes) == 2)
        assert "◆" in shown(screen)
        await pilot.press("v", "v")
        await until(pilot, lambda: in_pane(screen, "verdicts"))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        await pilot.press(*"check", "ctrl+s")
        await until(pilot, lambda: len(screen._notes) == 3)
        await pilot.press("v", "n")
        await until(pilot, lambda: in_pane(screen, "notes") and "3 notes" in shown(screen))
        assert "turn 3 · Ben · so it begins" in shown(screen)
        await pilot.press("n")
        await until(pilot, lambda: len(screen._jumps) == 1)
        await pilot.press("delete")
        await until(pilot, lambda: len(screen._notes) == 2)
        await pilot.press("end", "full_stop", "a")
        await until(pilot, lambda: isinstance(app.screen, TellDialog))
        assert "Triple 1" in shown(app.screen)
        assert "check" in shown(app.screen)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is screen)
        await app.workers.wait_for_complete()
    with Workspace.open(played) as workspace:
        (thread,) = threads_for(workspace, "Ana", "espresso")
        assert (thread.place, thread.comment.by) == ("gold.triples[0]", "Ana")
        assert thread.comment.text.endswith("agent offline:\ncheck")
        # Ana has seen the verdicts: what she labels now is not blind.
        assert workspace.verdicts.label_item(1, item, "Ana", LabelValue.YES).phase == "revealed"

    other = make_app(played, person="Chen")
    async with other.run_test(size=WIDE) as pilot:
        screen = TrialScreen(1)
        await open_trial(pilot, screen)
        await until(pilot, lambda: screen._state and screen._state.opinions)
        await pilot.press("v", "v")
        await until(pilot, lambda: "still to label 1" in " ".join(shown(screen).split()))
        assert "judge –" in shown(screen)
        with Workspace.open(played) as workspace:
            label = workspace.verdicts.label_item(1, item, "Chen", LabelValue.YES)
            assert label.phase == "blind"
        await pilot.press("h", "y")
        await until(pilot, lambda: in_pane(screen, "verdicts") and "✓ 6." in shown(screen))
    with Workspace.open(played) as workspace:
        assert workspace.verdicts.label_item(1, item, "Chen", LabelValue.NO).phase == "revealed"


async def test_people_say_blind_whose_fault_a_failed_trial_is(
    make_app: AppMaker, played: Path
) -> None:
    def hasty() -> int:
        with Workspace.open(played) as workspace:
            plan = RunPlan(tasks=("espresso",), agents=("offline:hasty",))
            run = asyncio.run(start_run(workspace, plan, by="Ana")).run
            return workspace.runs.trials(run.id)[0].id

    failed = await asyncio.to_thread(hasty)
    with Workspace.open(played) as workspace:
        workspace.trial_notes.add(
            failed,
            "Ben",
            "blame_proposed",
            "task",
            '{"by": "judge-7b 12345678", "reason": "no alias"}',
        )
        workspace.trial_notes.add(failed, "Ben", "blame", "world", "the page was gone")
    app = make_app(played)
    async with app.run_test(size=WIDE) as pilot:
        passed = TrialScreen(1)
        await open_trial(pilot, passed)
        await until(pilot, lambda: passed._state and passed._state.opinions)
        await pilot.press("full_stop", "f")
        told = "did not fail, by its Triplet F1. Only failed trials are asked about."
        await until(pilot, lambda: any(told in n.message for n in app._notifications))
        screen = TrialScreen(failed)
        await open_trial(pilot, screen)
        await until(pilot, lambda: screen._state and screen._state.opinions)
        await pilot.press("full_stop", "f")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        assert "no alias" not in shown(app.screen)
        assert "the page was gone" not in shown(app.screen)
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.screen, TextDialog))
        await pilot.press(*"leaked", "ctrl+s")
        await until(pilot, lambda: app.screen is screen)
        await app.workers.wait_for_complete()
        await pilot.press("full_stop", "f")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        told = " ".join(shown(app.screen).split())
        assert "no alias" in told
        assert "the page was gone" in told
        assert "User, by you: leaked" in told
        # A note of this kind stands at no place of the trial.
        assert not screen._notes


async def test_hostile_text_everywhere_in_a_log_is_text(
    app_with_samples: CuecardApp, database: Path
) -> None:
    trial_id = made_up(database, *hostile_log())
    verdict = Verdict(
        item=Item(kind=ItemKind.TRIPLE),
        decision=Decision.YES,
        supporting=(0, 77),
        rationale=storable(HOSTILE),
    )
    judge = PlayerRef(name="[red]judge[/] \x1b[31m", kind="llm", model="[/]")
    with Workspace.open(database) as workspace:
        workspace.verdicts.add(trial_id, Judgement(judge=judge, verdicts=(verdict,)))
        workspace.trial_notes.add(trial_id, "Ben", "comment", "turn/0", storable(HOSTILE))
    async with app_with_samples.run_test(size=WIDE) as pilot:
        screen = TrialScreen(trial_id)
        await open_trial(pilot, screen)
        await pilot.press("full_stop", "o")
        await until(pilot, lambda: transcript(screen).count("end of the hostile text") >= 8)
        text = transcript(screen)
        assert text.count("[red]x[/] and [/]") >= 8
        assert not set(text) & set("\x1b\x00\x07\u202e\u202c\x9b")
        for _page in range(12):
            await pilot.press("pagedown")
            assert not set(shown(screen)) & set("\x1b\x00\x07\u202e\x9b")
        for key in "shn":
            await pilot.press("v", key)
            await until(pilot, lambda: screen._shown and "[red]x[/]" in shown(screen))
            assert not set(shown(screen)) & set("\x1b\x00\x07\u202e\x9b")
        await pilot.press("v", "v")
        await until(pilot, lambda: in_pane(screen, "verdicts"))
        await pilot.press("space")
        await until(pilot, lambda: "end of the hostile text" in lines(screen))
        assert "do not exist: 78" in lines(screen)
        assert "[red]judge[/] ([/])" in shown(screen)


async def test_large_texts_are_read_when_they_are_opened_and_not_before(
    app_with_samples: CuecardApp, database: Path
) -> None:
    page = "a long page " * 400

    def called(step: int) -> ToolAnswered:
        entry = SearchEntry(id="1", title=f"title {step}", content=f"{page}\nend of page {step}")
        return ToolAnswered(
            part="agent",
            turn=step // 2,
            step=step,
            call=ToolCall(name="search", arguments={"query": f"query {step}"}),
            answer=ToolAnswer(text=page, entries=(entry,)),
        )

    thought = ModelReply(
        text=f"{page}\nend of the reply", reasoning=f"{page}\nend of thinking", tool_calls=()
    )
    trial_id = made_up(
        database,
        UserSpoke(turn=0, reply=UserReply(text="Hello")),
        called(0),
        called(1),
        ModelReplied(part="agent", turn=0, step=0, model="m", reply=thought),
        AgentSpoke(turn=0, reply=AgentReply(text=thought.text)),
        UserSpoke(turn=1, reply=UserReply(text="And then?")),
        called(2),
        TrialEnded(termination=Termination.MAX_TURNS),
    )
    async with app_with_samples.run_test(size=WIDE) as pilot:
        screen = TrialScreen(trial_id)
        await open_trial(pilot, screen)
        reader = screen.query_one(Transcript)
        assert "end of the reply" in transcript(screen)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "end of page 1" in transcript(screen))
        text = transcript(screen)
        assert "end of page 0" in text
        assert "end of thinking" in text
        assert "title 2" not in text
        assert [entry.left_out for entry in reader.entries if entry.left_out] == [(6,)]
        await pilot.press("full_stop", "o")
        await until(pilot, lambda: "end of page 2" in transcript(screen))

        await pilot.press("o")
        await until(pilot, lambda: isinstance(app_with_samples.screen, SourcesDialog))
        dialog = app_with_samples.screen
        await pilot.press(*"query 2")
        await until(pilot, lambda: "1 of 3" in shown(dialog))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app_with_samples.screen, SourceScreen))
        page_read = app_with_samples.screen.query_one(EntryList)
        await until(pilot, lambda: "end of page 2" in "\n".join(page_read.lines))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app_with_samples.screen is screen)


async def test_two_thousand_events_mount_a_handful_of_widgets_and_scroll(
    app_with_samples: CuecardApp, database: Path
) -> None:
    bodies: list[EventBody] = []
    for turn in range(500):
        bodies += [
            UserSpoke(turn=turn, reply=UserReply(text=f"question {turn} " * 30)),
            *(
                ToolAnswered(
                    part="agent",
                    turn=turn,
                    step=step,
                    call=ToolCall(name="search", arguments={"query": "q"}),
                    answer=ToolAnswer(text="result " * 50),
                )
                for step in range(2)
            ),
            AgentSpoke(turn=turn, reply=AgentReply(text=f"answer {turn} 中文 " * 60)),
        ]
    trial_id = made_up(database, *bodies, TrialEnded(termination=Termination.MAX_TURNS))
    async with app_with_samples.run_test(size=WIDE) as pilot:
        screen = TrialScreen(trial_id)
        await open_trial(pilot, screen)
        assert len(screen.query_one(Transcript).entries) == 1501
        assert len(screen.query("*")) < 60
        await pilot.press("end")
        await until(pilot, lambda: "turn limit" in shown(screen))
        await pilot.press("home", "down", "down")
        assert "question 0" in shown(screen)


async def test_an_open_session_says_so_and_can_be_played_on(
    app_with_samples: CuecardApp, database: Path
) -> None:
    trial_id = made_up(database, UserSpoke(turn=0, reply=UserReply(text="Hello")), kind="play")
    async with app_with_samples.run_test(size=WIDE) as pilot:
        screen = TrialScreen(trial_id)
        await open_trial(pilot, screen)
        assert "◌ begun" in shown(screen)
        await pilot.press("v", "v")
        await until(pilot, lambda: "judged when it has ended" in shown(screen))
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app_with_samples.screen, PlayScreen))


async def test_a_pane_that_is_being_made_is_filled_by_who_makes_it(
    make_app: AppMaker, played: Path
) -> None:
    app = make_app(played)
    async with app.run_test(size=WIDE) as pilot:
        screen = TrialScreen(1)
        await open_trial(pilot, screen)
        mounting = screen.query_one("#side").mount(MeasuresPane(id="measures"))
        screen.show_pane("measures")  # its table is not there yet
        await mounting
        assert not app._notifications
        assert screen.is_running


async def test_a_trial_is_read_by_the_judge_that_its_scores_are_by(
    make_app: AppMaker, home: Path
) -> None:
    study = write_study(home / "study.db")
    with Workspace.open(study) as workspace:
        run = next(run for run in workspace.runs.all() if run.name.startswith("Three agents"))
        trial = workspace.runs.trials(run.id)[0]
        assert settings_of(run).judges[0] == "lexical:noisy"
    async with make_app(study, person="Ada").run_test(size=WIDE) as pilot:
        screen = TrialScreen(trial.id)
        await open_trial(pilot, screen)
        await until(pilot, lambda: "judge lexical:noisy" in shown(screen))


async def test_an_unjudged_trial_is_judged_by_key(
    app_with_samples: CuecardApp, database: Path
) -> None:
    trial_id = made_up(
        database,
        UserSpoke(turn=0, reply=UserReply(text="Hello")),
        AgentSpoke(turn=0, reply=AgentReply(text="Hi")),
        UserSpoke(turn=1, reply=UserReply(text="Bye", done=True)),
        Concluded(
            prediction=TriplesPrediction(
                triples=(PredictedTriple(head="Angelo Moriondo", relation="born", tail="1851"),)
            )
        ),
        TrialEnded(termination=Termination.USER_DONE),
    )
    async with app_with_samples.run_test(size=WIDE) as pilot:
        screen = TrialScreen(trial_id)
        await open_trial(pilot, screen)
        await pilot.press("v", "v")
        await until(pilot, lambda: "Nobody has judged this trial yet" in shown(screen))
        await pilot.press("full_stop", "j")
        await until(pilot, lambda: len(pane(screen).query_one(LineList).entries) == 79)


async def test_y_copies_what_the_mouse_selected_and_else_what_is_under_the_cursor(
    make_app: AppMaker, database: Path
) -> None:
    trial_id = made_up(
        database,
        UserSpoke(turn=0, reply=UserReply(text="Who made the first espresso?")),
        AgentSpoke(turn=0, reply=AgentReply(text="Moriondo of Turin did.")),
    )
    app = make_app(database)
    async with app.run_test(size=NARROW) as pilot:
        app.push_screen(TrialScreen(trial_id))
        await until(pilot, lambda: "Moriondo" in shown(app.screen))
        lines = shown(app.screen).split("\n")
        y = next(i for i, line in enumerate(lines) if "Moriondo" in line)
        x = lines[y].index("Moriondo")
        await pilot.mouse_down(offset=(x, y))
        await pilot.hover(offset=(x + 8, y))
        await pilot.mouse_up(offset=(x + 8, y))
        dialogue = app.screen.query_one(Transcript)
        strip = dialogue.render_line(y - dialogue.content_region.y)
        inks = [s.style for s in strip if "Moriondo" in s.text and s.style]
        assert inks, [s.text for s in strip]
        assert inks[0].color != inks[0].bgcolor
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard)
        assert app.clipboard.strip() in ("Moriondo", "Moriondo o")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("a")
        await until(pilot, lambda: "Who made" in app.clipboard)
        assert "Moriondo of Turin did." in app.clipboard
        # A second click would select all of it.
        at = (x - dialogue.region.x, y - dialogue.region.y)
        await pilot.click(dialogue, offset=at, times=2)
        assert not app.screen.get_selected_text()


async def test_a_click_on_a_view_shows_it_and_one_on_a_step_of_the_way_goes_there(
    make_app: AppMaker, database: Path
) -> None:
    trial_id = made_up(database, UserSpoke(turn=0, reply=UserReply(text="Who made it?")))
    app = make_app(database)
    async with app.run_test(size=WIDE) as pilot:
        first, screen = TrialScreen(trial_id), TrialScreen(trial_id)
        app.push_screen(first)
        await until(pilot, lambda: "Who made it?" in shown(first))
        app.push_screen(screen)
        await until(pilot, lambda: "Who made it?" in shown(screen))

        async def click(words: str) -> None:
            lines = shown(app.screen).split("\n")
            y = next(i for i, line in enumerate(lines) if words in line)
            await pilot.click(offset=(lines[y].index(words) + 1, y))

        await click("Measures")
        await until(pilot, lambda: "[m Measures]" in shown(screen))
        await click(" › ")
        await until(pilot, lambda: app.screen is first)
