"""Two people take two parts of one session, from two processes."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import pytest

import forked
import wizard_of_oz_players
from cuecard.core.config import EMBEDDED, parse_config
from cuecard.core.engine.events import Event, Limits
from cuecard.core.engine.messages import Act, PartTaken, ToolCall, UserReply
from cuecard.core.errors import ConfigError, Conflict, FileProblems, NotAllowed
from cuecard.core.evaluation.items import trial_view
from cuecard.core.evaluation.plans import RunPlan, create_run
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.wizard_of_oz import PlayerView, WizardPlayer, waiting_trials
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.predictions import AnswerPrediction
from cuecard.store.workspace import Workspace
from lab_players import speak
from wizard_of_oz_players import WIZARD_OF_OZ, play_agent, play_user, wait_for_user

pytestmark = pytest.mark.both_databases

TABLE = "table-solar-terms-zh"
CHAIN = "checkpoints-highest-mountain"


def program(what: str, db: Path, which: str, count: int) -> forked.Popen:
    return forked.Popen([sys.executable, wizard_of_oz_players.__file__, what, db, which, count])


def check_whole(workspace: Workspace, measure: str) -> None:
    """One trial, ended and judged right, in which nothing is missing or stands twice."""
    (run,) = workspace.runs.all(kind="play")
    (trial,) = workspace.runs.trials(run.id)
    events = workspace.runs.log(trial.id)
    assert [event.seq for event in events] == list(range(len(events)))
    keys = [event.body.key for event in events]
    assert len(set(keys)) == len(keys)
    turns = sum(event.body.type == "agent_spoke" for event in events)
    assert [key for key in keys if "/tool/" in key] == [f"agent/{n}/tool/0" for n in range(turns)]
    taken = [e.body.mark for e in events if e.body.type == "marked"]
    assert taken == [PartTaken(person=WIZARD_OF_OZ)]
    view = trial_view(workspace, trial.id)
    assert view.trial.agent.kind == "human"
    assert {found.name: found.value for found in view.measures}[measure] == 1.0
    moves = workspace.player_moves.of(trial.id)
    assert len({move.place for move in moves}) == len(moves) == 2 * turns + 1


def test_a_chain_whose_agents_window_is_killed(db: Path):
    killed = program("agent", db, "0", 3)
    with Workspace.open(db) as workspace:

        def again() -> None:
            assert killed.wait(30) == -9
            play_agent(workspace, wait_for_user(workspace))

        second = threading.Thread(target=again)
        second.start()
        asyncio.run(play_user(workspace, CHAIN))
        second.join(30)
        check_whole(workspace, "acc")


def test_a_table_whose_users_window_is_killed(db: Path):
    killed = program("user", db, TABLE, 9)
    with Workspace.open(db) as workspace:
        agent = threading.Thread(target=lambda: play_agent(workspace, wait_for_user(workspace)))
        agent.start()
        assert killed.wait(30) == -9
        asyncio.run(play_user(workspace, TABLE))
        agent.join(30)
        check_whole(workspace, "item_f1")


async def begun(workspace: Workspace, task_id: str = CHAIN) -> tuple[PlaySession, WizardPlayer]:
    session = await PlaySession.start(workspace, task_id, by="ann", agent="person")
    await session.wait_turn()
    player = await asyncio.to_thread(WizardPlayer.take, workspace, session.trial.id, WIZARD_OF_OZ)
    return session, player


async def until(player: WizardPlayer, phase: str) -> PlayerView:
    for _attempt in range(1000):
        view = await asyncio.to_thread(player.view)
        if view.phase == phase:
            return view
        await asyncio.sleep(0.01)
    raise TimeoutError(phase)


def query(text: str) -> ToolCall:
    return ToolCall(name="search", arguments={"query": text})


async def test_who_may_sit_there(workspace: Workspace):
    session = await PlaySession.start(workspace, CHAIN, by="zoe", agent="person")
    trial_id = session.trial.id
    assert [w.user for w in waiting_trials(workspace, "bob")] == ["zoe"]
    # Ann wrote the samples; it is Zoe's own session.
    for person, reason in (("ann", "worked on"), ("zoe", "own session"), ("", "who you are")):
        assert waiting_trials(workspace, person) == []
        with pytest.raises(NotAllowed, match=reason):
            WizardPlayer.take(workspace, trial_id, person)
    WizardPlayer.take(workspace, trial_id, "bob")
    assert waiting_trials(workspace, "bob")[0].mine
    assert waiting_trials(workspace, "cleo") == []
    with pytest.raises(NotAllowed, match="bob"):
        WizardPlayer.take(workspace, trial_id, "cleo")
    await session.close()
    other = await PlaySession.start(workspace, CHAIN, by="zoe")
    with pytest.raises(NotAllowed, match="not played by a person"):
        WizardPlayer.take(workspace, other.trial.id, "bob")
    await other.close()
    third = await PlaySession.start(workspace, CHAIN, by="dan", agent="person")
    await third.close()
    with pytest.raises(NotAllowed, match="played the user"):
        WizardPlayer.take(workspace, third.trial.id, "zoe")
    with pytest.raises(ConfigError, match="only in live sessions"):
        create_run(workspace, RunPlan(tasks=(CHAIN,), agents=("person",)), by="zoe")


async def test_what_is_seen_holds_nothing_of_gold_or_persona(workspace: Workspace):
    """Everything that the player returns, at every point, against every string of the task."""
    for task_id in (CHAIN, TABLE, "graph-astronomy-zh", "facts-night-train"):
        session, player = await begun(workspace, task_id)
        await session.note("agent", "a private remark")
        await speak(session)
        await until(player, "yours")
        await asyncio.to_thread(player.search, query("Delaware"))
        view = await until(player, "yours")
        act = Act.ANSWER if task_id == CHAIN else Act.REPLY
        await asyncio.to_thread(player.say, "nothing yet", act, view)
        await session.wait_turn()
        await session.submit(UserReply(text="go on", reason="a private reason", cue_met=False))
        view = await until(player, "yours")
        shown = player.briefing.model_dump_json() + view.model_dump_json()
        said = "".join(e.body.reply.text for e in session.events if e.body.type == "user_spoke")
        found = "".join(
            e.body.answer.text for e in session.events if e.body.type == "tool_answered"
        )
        assert "go on" in shown
        for secret in secrets_of(session):
            assert secret not in shown or secret in said + found, secret
        await session.close()


def secrets_of(session: PlaySession) -> list[str]:
    task = session.task
    secrets = ["private", "matched_fact_keys", task.id, task.title, task.notes]
    for stage in task.stages:
        secrets += [stage.title, stage.line, stage.cue.text, stage.not_met]
    if task.persona:
        secrets += [task.persona.identity]
    match task.gold:
        case CheckpointChain() as chain:
            for step in chain.steps:
                secrets += [step.question, step.target, *step.aliases]
                secrets += (
                    [step.ambiguity.clue, *step.ambiguity.candidates] if step.ambiguity else []
                )
        case Table() as table:
            secrets += [cell for row in table.rows for cell in map(str, row)]
        case Graph() as graph:
            secrets += [name for triple in graph.triples for name in (triple.head, triple.tail)]
        case FactWorld() as world:
            secrets += [world.answer, *(f"{fact.entity} {fact.attribute}" for fact in world.facts)]
    return [secret for secret in secrets if len(secret) > 1 and not secret.isdecimal()]


async def test_a_turn_taken_back(workspace: Workspace):
    session, player = await begun(workspace)
    assert player.view().phase == "user"
    with pytest.raises(NotAllowed, match="not your turn"):
        player.say("too soon", Act.ANSWER)
    await speak(session)
    first = await until(player, "yours")
    await asyncio.to_thread(player.search, query("highest mountain"), first)
    second = await until(player, "yours")
    assert second.place == "agent/0/move/1"
    with pytest.raises(Conflict):
        player.say("stale", Act.ANSWER, first)
    words = await session.undo()
    view = await until(player, "user")
    assert (view.taken_back, view.events) == (1, ())
    await session.submit(words)
    view = await until(player, "yours")
    assert (view.take, view.place) == (1, "agent/0/move/0")
    # Stopped before anything was said: both windows know that the user is to say how it goes on.
    await session.interrupt()
    assert session.phase == "stopped"
    await until(player, "stopped")
    with pytest.raises(NotAllowed, match="not your turn"):
        await asyncio.to_thread(player.say, "too late", Act.ANSWER, view)
    await session.note("agent", "It took long.")
    assert player.view().phase == "stopped"
    await session.retry()
    view = await until(player, "yours")
    with pytest.raises(NotAllowed, match="ask or answer"):
        player.say("which one?", Act.REPLY)
    await asyncio.to_thread(player.say, "Everest", Act.ANSWER, view)
    await session.wait_turn()
    await session.retry()
    view = await until(player, "yours")
    assert (view.take, view.taken_back, len(view.events)) == (4, 3, 1)
    await asyncio.to_thread(player.say, "Chimborazo", Act.ANSWER, view)
    await session.wait_turn()
    await session.submit(UserReply(text="thanks", done=True))
    view = await until(player, "hand_in")
    with pytest.raises(NotAllowed, match="not your turn"):
        player.search(query("too late"))
    await asyncio.to_thread(player.hand_in, AnswerPrediction(answer="Delfo Cabrera"))
    outcome = await session.wait()
    assert outcome is not None
    assert outcome.judged
    marks = [e.body.mark for e in session.events if e.body.type == "marked"]
    assert marks[1:] == [PartTaken(person=WIZARD_OF_OZ)]


async def test_a_session_that_was_left_while_the_agent_was_stopped(workspace: Workspace):
    session, player = await begun(workspace)
    await speak(session)
    await until(player, "yours")
    await session.interrupt()
    await session.close()
    assert player.view().phase == "stopped"
    again = await PlaySession.resume(workspace, session.trial.id, by="ann")
    view = await until(player, "yours")
    assert view.taken_back == 1
    await asyncio.to_thread(player.say, "Everest", Act.ANSWER, view)
    await again.wait_turn()
    await again.close()


async def test_limits_hold_and_a_pause_keeps_what_was_begun(workspace: Workspace):
    limits = Limits(max_tool_calls_per_turn=1)
    session = await PlaySession.start(workspace, CHAIN, by="ann", agent="person", limits=limits)
    await session.wait_turn()
    await speak(session)
    await session.close()
    player = await asyncio.to_thread(WizardPlayer.take, workspace, session.trial.id, WIZARD_OF_OZ)
    await asyncio.to_thread(player.search, query("highest mountain"))
    # Made while the user's window is closed; carried out when it is there again.
    assert player.view().phase == "working"
    again = await PlaySession.resume(workspace, session.trial.id, by="ann")
    view = await until(player, "yours")
    assert (view.calls_left, len(view.events)) == (0, 2)
    with pytest.raises(NotAllowed, match="No more searches"):
        player.search(query("another"))
    with pytest.raises(NotAllowed, match="Say something"):
        player.say("  ", Act.ANSWER)
    await again.close()
    calls = [e for e in session_log(workspace, again) if e.body.type == "tool_answered"]
    assert len(calls) == 1


def session_log(workspace: Workspace, session: PlaySession) -> list[Event]:
    return workspace.runs.log(session.trial.id)


def test_person_is_no_name_for_a_configured_agent():
    with pytest.raises(ConfigError, match="live sessions"):
        EMBEDDED.agent("person")
    text = "agents: {person: {kind: offline}}"
    with pytest.raises(FileProblems, match="name under which people play"):
        parse_config(text, Path("cuecard.yaml"))


async def test_columns_are_known_once_they_are_named(workspace: Workspace):
    session, player = await begun(workspace, "table-us-states")
    assert player.briefing.task.columns == player.view().columns == ()
    await session.submit(UserReply(text="All states please, with State and Capital."))
    assert (await until(player, "yours")).columns == ("State", "Capital")
    await session.close()
