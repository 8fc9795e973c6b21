from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from textual.widgets import TabbedContent

from cuecard.core.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    ModelReplied,
    Termination,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.parts import (
    AgentReply,
    Hit,
    ModelReply,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    UserReply,
)
from cuecard.core.prediction import PredictedTriple, TriplesPrediction
from cuecard.core.text import storable
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.lab.runs import RunPlan, start_run
from cuecard.store.records import RunState
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.play import PlayScreen
from cuecard.tui.screens.play.sources import SourceScreen, SourcesDialog
from cuecard.tui.screens.trial import TrialScreen
from cuecard.tui.screens.trial.panes import MeasuresPane, StagesPane, VerdictsPane
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.fitted_table import FittedTable
from cuecard.tui.widgets.transcript import Transcript
from tui_rooms import HOSTILE, shown, transcript, until

WIDE = (120, 40)
NARROW = (80, 24)
BASELINE = PlayerRef(name="offline", kind="offline", baseline=True)
WORLD = PlayerRef(name="closed", kind="closed", baseline=True)
HUMAN = PlayerRef(name="Ana", kind="human")


async def played(database: Path, task: str = "espresso") -> None:
    with Workspace.open(database) as workspace:
        await start_run(workspace, RunPlan(tasks=(task,)), by="Ana")


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
        trial = workspace.runs.add_trial(
            run.id,
            task_id="espresso",
            revision=1,
            agent=BASELINE,
            user=HUMAN,
            world=WORLD,
            sample=0,
            seed=0,
        )
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


async def test_a_trial_reads_as_a_dialogue_with_badges_timeline_verdicts_and_numbers(
    app_with_samples: CuecardApp, database: Path
) -> None:
    await played(database)
    async with app_with_samples.run_test(size=WIDE) as pilot:
        screen = TrialScreen(1)
        await open_trial(pilot, screen)
        text = transcript(screen)
        assert "✓ cue met · ▸ stage 2/12 The man from the exposition" in text
        assert "The trial ended: user done" in text
        head = shown(screen)
        for word in ("agent offline*", "judge lexical*", "* baseline", "user done", "115 events"):
            assert word in head
        stages = screen.query_one(StagesPane).query_one(EntryList)
        assert len(stages.entries) == 12
        timeline = " ".join(" ".join(stages.lines).split())
        assert "✓ 2 The man from the exposition · turn 2" in timeline

        await pilot.press("v")
        verdicts = screen.query_one(VerdictsPane).query_one(EntryList)
        await until(pilot, lambda: verdicts.has_focus and len(verdicts.entries) == 79)
        await pilot.press("enter")
        assert "same entities, same relation" in "\n".join(verdicts.lines)
        await pilot.press("f")
        assert "only ✗" in shown(screen)

        await pilot.press("m")
        table = screen.query_one(MeasuresPane).query_one(FittedTable)
        await until(pilot, lambda: table.count > 10 and "Triplet F1" in shown(screen))


async def test_enter_on_a_stage_goes_to_its_turn(
    app_with_samples: CuecardApp, database: Path
) -> None:
    await played(database)
    async with app_with_samples.run_test(size=WIDE) as pilot:
        screen = TrialScreen(1)
        await open_trial(pilot, screen)
        await pilot.press("s")
        stages = screen.query_one(StagesPane).query_one(EntryList)
        await until(pilot, lambda: stages.has_focus)
        await pilot.press("down", "down", "down", "enter")
        reader = screen.query_one(Transcript)
        assert reader.entries[reader.cursor].turn == 3
        assert "stage 4/12" in shown(screen)


async def test_a_checkpoint_trial_shows_its_ladder_with_readings(
    app_with_samples: CuecardApp, database: Path
) -> None:
    await played(database, "checkpoints-highest-mountain")
    async with app_with_samples.run_test(size=WIDE) as pilot:
        screen = TrialScreen(1)
        await open_trial(pilot, screen)
        ladder = "\n".join(screen.query_one(StagesPane).query_one(EntryList).lines)
        assert "ambiguous: which criterion" in ladder.replace("\n", " ").replace("  ", " ")
        assert "asked rightly" in ladder
        assert "Steps" in shown(screen)


async def test_at_80_by_24_transcript_and_side_take_turns(
    app_with_samples: CuecardApp, database: Path
) -> None:
    await played(database)
    async with app_with_samples.run_test(size=NARROW) as pilot:
        screen = TrialScreen(1)
        await open_trial(pilot, screen)
        side = screen.query_one(TabbedContent)
        assert screen.query_one(Transcript).region.width == 80
        assert not side.display or side.region.width == 0
        await pilot.press("v")
        await until(pilot, lambda: side.region.width == 80)
        await pilot.press("t")
        await until(pilot, lambda: screen.query_one(Transcript).region.width == 80)
        for word in ("Back", "Transcript", "Stages", "Verdicts"):
            assert word in shown(screen)


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
    async with app_with_samples.run_test(size=WIDE) as pilot:
        screen = TrialScreen(trial_id)
        await open_trial(pilot, screen)
        await pilot.press("o")
        await until(pilot, lambda: transcript(screen).count("end of the hostile text") >= 8)
        text = transcript(screen)
        assert text.count("[red]x[/] and [/]") >= 8
        assert not set(text) & set("\x1b\x00\x07\u202e\u202c\x9b")
        for _page in range(12):
            await pilot.press("pagedown")
            assert not set(shown(screen)) & set("\x1b\x00\x07\u202e\x9b")
        await pilot.press("v", "enter")
        verdicts = screen.query_one(VerdictsPane).query_one(EntryList)
        await until(pilot, lambda: "end of the hostile text" in "\n".join(verdicts.lines))
        assert "do not exist: 78" in "\n".join(verdicts.lines)
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
        await pilot.press("o")
        await until(pilot, lambda: "end of page 2" in transcript(screen))

        await pilot.press("p")
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
        assert "open" in shown(screen)
        await pilot.press("v")
        await until(pilot, lambda: "judged when it has ended" in shown(screen))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app_with_samples.screen, PlayScreen))


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
        await pilot.press("v")
        await until(pilot, lambda: "Nobody has judged this trial yet" in shown(screen))
        await pilot.press("j")
        verdicts = screen.query_one(VerdictsPane).query_one(EntryList)
        await until(pilot, lambda: len(verdicts.entries) == 79)
