"""Players that are classes of somebody's own: they play, and what they raise, print or wait for harms their trial only."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest

from cuecard.core.config import parse_config
from cuecard.core.config_schema import secrets_of
from cuecard.core.engine.events import AgentSpoke, Event, Marked, Termination, ToolAnswered
from cuecard.core.engine.messages import Printed
from cuecard.core.engine.own_players import PlayerFailed
from cuecard.core.engine.players import PlayerNames, build_judge, build_players
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.engine.trial import RecordedLog, TrialResult, TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, Source, TrialLog
from cuecard.core.errors import BudgetSpent, ConfigError, FileProblems
from cuecard.core.judges.lexical import judge_lexically
from cuecard.core.llm.hub import ModelHub
from cuecard.core.players import own_class, properties
from cuecard.core.plugins import PluginError
from cuecard.core.predictions import AnswerPrediction
from cuecard.core.verdicts import Decision
from offline_trials import FACTS, GRAPH

AGENT = """
import asyncio, os, sys, time
from cuecard.core.engine.messages import ModelReply, ToolCall

SEARCH = ToolCall(name="search", arguments={"query": "daily loaves of Hill Bakery"})

class Waits:
    source = "rules"
    version = "7"
    def __init__(self, task, answer="130"):
        self.task, self.answer = task, answer
    def reply(self, dialogue, context):
        return context.call_tool(SEARCH).text
    def conclude(self, dialogue, context):
        said = context.call_model("theirs", lambda: "Final answer: " + self.answer)
        return said.text

class Awaits(Waits):
    async def reply(self, dialogue, context):
        found = await asyncio.gather(*(context.call_tool(SEARCH) for _ in range(2)))
        return found[0].text
    async def conclude(self, dialogue, context):
        async def perform():
            await asyncio.sleep(0)
            return ModelReply(text="Final answer: " + self.answer)
        return (await context.call_model("theirs", perform)).text
"""
_NUMBER = count()


@pytest.fixture
def written(tmp_path: Path):
    """Write a module beside a configuration whose agent is a class in it, and read that."""

    def write(code: str, part: str = "agents", more: str = "", name: str = "Mine"):
        module = f"own_{next(_NUMBER)}"
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        text = f'{part}:\n  mine: {{kind: python, class: "{module}:{name}"{more}}}\n'
        return parse_config(text, tmp_path / "cuecard.yaml")

    return write


async def played(
    config, task=FACTS, past: Sequence[Event] = (), source: Source | None = None, **names: str
) -> tuple[TrialResult, list[Event]]:
    named = PlayerNames(**{"agent": "mine" if config.agents.get("mine") else "offline", **names})
    players = build_players(task, named, config, ModelHub(config))
    setup = TrialSetup(task=task, agent=players.agent, user=players.user, world=players.world)
    log = TrialLog(MemorySink(), past, source=source)
    return await play(setup, log), list(log.events)


@pytest.mark.parametrize("name", ["Waits", "Awaits"])
async def test_both_kinds_of_methods_play(written, name: str) -> None:
    config = written(AGENT, name=name, more=", options: {answer: '130'}")
    result, events = await played(config)
    assert result.termination is not Termination.INTERNAL_ERROR, result.detail
    assert result.prediction == AnswerPrediction(answer="130", raw="Final answer: 130")
    called = [event.body for event in events if isinstance(event.body, ToolAnswered)]
    assert len(called) == (1 if name == "Waits" else 2)
    assert "210" in called[0].answer.text
    assert properties("agent", config.agent("mine")).baseline


async def test_what_was_recorded_is_not_done_again(written) -> None:
    config = written(AGENT, name="Waits")
    _result, events = await played(config)
    cut = next(e.seq for e in events if isinstance(e.body, AgentSpoke))
    again, more = await played(config, past=events[:cut])
    assert [e.body.key for e in more] == [e.body.key for e in events]
    assert sum(isinstance(e.body, ToolAnswered) for e in more) == 1
    assert isinstance(again.prediction, AnswerPrediction)


async def test_a_replay_takes_its_turns_whole(written) -> None:
    _result, events = await played(written(AGENT, name="Waits"))
    # The same class, which would now fail: it is not asked.
    broken = written(AGENT + "    def reply(self, d, c): return 1 / 0\n", name="Awaits")
    result, _more = await played(broken, source=RecordedLog(events))
    assert isinstance(result.prediction, AnswerPrediction)
    again, _more = await played(broken)
    assert again.termination is Termination.INTERNAL_ERROR


RAISES = {
    "raise ValueError('no idea')": "ValueError: no idea",
    "raise SystemExit(3)": "SystemExit: 3",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "raise asyncio.CancelledError": "CancelledError",
    "raise BudgetSpent('mine')": "BudgetSpent",
    "return 7": "validation error",
    "return context.call_tool('search')": "Attribute",
    "return context.nothing": "no attribute 'nothing'",
}


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("line", RAISES)
async def test_what_it_raises_ends_its_trial(written, line: str, plain: bool) -> None:
    awaited = line if plain else line.replace("return context.c", "return await context.c")
    config = written(f"""
import asyncio
from cuecard.core.errors import BudgetSpent
class Mine:
    def __init__(self, task): pass
    {"" if plain else "async "}def reply(self, dialogue, context):
        {awaited}
    def conclude(self, dialogue, context): return ""
""")
    result, _events = await played(config)
    assert result.termination is Termination.INTERNAL_ERROR
    assert RAISES[line] in result.detail
    module = config.agent("mine").code.partition(":")[0]
    assert f"{module}:Mine.reply: " in result.detail
    if line.startswith("raise"):
        assert f"{module}.py:7)" in result.detail


async def test_a_constructor_that_fails_ends_its_trial(written) -> None:
    config = written("class Mine:\n    def reply(self, d, c): ...\n    conclude = reply\n")
    result, _events = await played(config)
    assert "takes no arguments" in result.detail


async def test_what_it_prints_is_in_the_log_and_not_on_the_screen(written, capsys) -> None:
    config = written("""
import asyncio, sys
print("on import")
class Mine:
    def __init__(self, task): print("made")
    async def reply(self, dialogue, context):
        print("thinking", file=sys.stderr)
        await asyncio.create_task(self.more())
        return "well"
    async def more(self): print("more")
    def conclude(self, dialogue, context):
        print("x" * 100_000)
        raise ValueError
""")
    print("before")
    result, events = await played(config)
    print("after")
    marks = [e.body.mark for e in events if isinstance(e.body, Marked)]
    printed = [mark.text for mark in marks if isinstance(mark, Printed)]
    assert printed == ["made\nthinking\nmore\n", "x" * 20_000]
    assert result.termination is Termination.INTERNAL_ERROR
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("before\nafter\n", "")


@pytest.mark.parametrize("kind", ["def", "async def"])
async def test_one_that_hangs_keeps_nobody_else_waiting(written, kind: str) -> None:
    config = written(
        f"""
import threading
class Mine:
    free = threading.Event()
    def __init__(self, task): pass
    {kind} reply(self, dialogue, context):
        self.free.wait()
        try:
            context.stream("late")
        except Exception as error:
            Mine.after = error
        return "late"
    def conclude(self, dialogue, context): return ""
""",
        more=", timeout: 0.2",
    )
    # Many, since a pool of threads would be used up by them.
    (other, _events), *hung = await asyncio.gather(
        played(config, agent="offline"), *(played(config) for _ in range(40))
    )
    assert not other.termination.is_failure
    assert {result.termination for result, _e in hung} == {Termination.INTERNAL_ERROR}
    assert "no answer within 0.2 seconds" in hung[0][0].detail
    await asyncio.wait_for(asyncio.to_thread(int), 5)


async def test_a_trial_that_is_cancelled_stays_open_and_its_thread_ends(written) -> None:
    config = written("""
import asyncio, threading
class Mine:
    began, cut = threading.Event(), threading.Event()
    def __init__(self, task): pass
    async def reply(self, dialogue, context):
        self.began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            self.cut.set()
    def conclude(self, dialogue, context): return ""
""")
    mine = own_class("agent", config.agent("mine"))
    before = {*threading.enumerate()}
    task = asyncio.create_task(played(config))
    assert await asyncio.to_thread(mine.began.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(mine.cut.wait, 10)
    for thread in {*threading.enumerate()} - before:
        if thread.name == "own player":
            await asyncio.to_thread(thread.join, 10)
            assert not thread.is_alive()


async def test_a_halt_that_a_call_met_pauses_the_run_even_if_the_code_hides_it(written) -> None:
    config = written("""
from cuecard.core.engine.messages import ToolCall
class Mine:
    def __init__(self, task): pass
    def reply(self, dialogue, context):
        try:
            context.call_tool(ToolCall(name="search"))
        except Exception:
            return "never mind"
    def conclude(self, dialogue, context): return ""
""")
    players = build_players(FACTS, PlayerNames(agent="mine"), config, ModelHub(config))

    class Spent:
        ref, tools = players.world.ref, players.world.tools

        async def answer(self, call, context):
            raise BudgetSpent("The budget is used up")

    setup = TrialSetup(task=FACTS, agent=players.agent, user=players.user, world=Spent())
    with pytest.raises(BudgetSpent):
        await play(setup, TrialLog(MemorySink()))


async def test_a_user_and_a_world_play(written) -> None:
    user = written(
        """
class Mine:
    def __init__(self, task, most=1): self.task, self.most = task, most
    def open(self, context): return self.task.query
    def reply(self, dialogue, context):
        return {"text": "Thank you.", "done": dialogue.turn >= self.most}
    closed = 0
    def close(self): Mine.closed += 1
""",
        part="users",
    )
    result, _events = await played(user, agent="offline", user="mine")
    assert result.termination is Termination.USER_DONE
    world = written(
        """
class Mine:
    def __init__(self, task): self.task = task
    @property
    def tools(self):
        return [{"name": "search", "description": self.task.title, "parameters": {}}]
    def answer(self, call, context):
        return {"text": "no", "ok": False} if call.broken else "I know nothing."
""",
        part="worlds",
        more=", python: {seconds: 5}",
    )
    built = build_players(FACTS, PlayerNames(world="mine"), world, ModelHub(world)).world
    assert [tool.name for tool in built.tools] == ["search", "python"]
    assert built.tools[0].description == FACTS.title
    result, events = await played(world, world="mine")
    said = [e.body.answer.text for e in events if isinstance(e.body, ToolAnswered)]
    assert said
    assert {*said} == {"I know nothing."}


JUDGE = """
from cuecard.core.families.registry import family_of
from cuecard.core.verdicts import Decision
class Mine:
    def __init__(self, decision="yes"): self.decision = Decision(decision)
    def judge(self, task, prediction, context):
        refused, _table = family_of(task).refuse(task.gold, "never")
        return [one.model_copy(update={"decision": self.decision}) for one in refused]
"""


async def test_a_judge_judges(written) -> None:
    config = written(JUDGE, part="judges", more=", options: {decision: 'yes'}")
    judge = build_judge("mine", config, ModelHub(config))
    found = await judge.judge(GRAPH, AnswerPrediction(answer="x"), FreshCalls())
    assert {verdict.decision for verdict in found.verdicts} == {Decision.YES}
    known = judge_lexically(GRAPH, AnswerPrediction(answer="x"))
    assert found.judge == judge.ref
    assert found.revision_hash == known.revision_hash
    wrong = written(JUDGE, part="judges", more=", options: {decision: perhaps}")
    with pytest.raises(PlayerFailed, match="'perhaps' is not a valid Decision"):
        await build_judge("mine", wrong, ModelHub(wrong)).judge(
            GRAPH, AnswerPrediction(answer="x"), FreshCalls()
        )


WRONG = {
    "raise RuntimeError('not today')": "RuntimeError: not today",
    "import cuecard.nowhere": "No module named 'cuecard.nowhere'",
    "class Mine: ...": "it has no method reply, conclude",
    "Mine = 7": "it is no class",
    "raise SystemExit": "SystemExit",
    "Else = 7": "no attribute 'Mine'",
}


@pytest.mark.parametrize("code", WRONG)
def test_a_class_that_cannot_be_loaded_is_told(written, code: str) -> None:
    config = written(code)
    with pytest.raises(PluginError) as caught:
        build_players(FACTS, PlayerNames(agent="mine"), config, ModelHub(config))
    assert WRONG[code] in caught.value.message
    assert isinstance(caught.value, ConfigError)
    assert not properties("agent", config.agent("mine")).baseline


def test_a_module_beside_the_configuration_takes_no_name_that_another_has(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("class Mine: ...", encoding="utf-8")
    text = 'agents:\n  mine: {kind: python, class: "json:Mine"}\n'
    config = parse_config(text, tmp_path / "cuecard.yaml")
    with pytest.raises(PluginError, match="another module is called json"):
        build_players(FACTS, PlayerNames(agent="mine"), config, ModelHub(config))


def test_what_the_configuration_says_wrongly_is_told(tmp_path: Path) -> None:
    text = "agents:\n  a: {kind: python}\n  b: {kind: python, class: nothing}\n"
    with pytest.raises(FileProblems) as caught:
        parse_config(text, tmp_path / "cuecard.yaml")
    assert [(p.place, p.line) for p in caught.value.problems] == [
        ("agents.a.class", 2),
        ("agents.b.class", 3),
    ]


def test_secrets_in_options_are_known_and_the_version_follows_the_options(written) -> None:
    config = written(AGENT, name="Waits", more=", options: {api_key: abcdefgh1234}")
    assert secrets_of(config, {})["mine options"] == ("abcdefgh1234",)
    hub = ModelHub(config)
    one = build_players(FACTS, PlayerNames(agent="mine"), config, hub).agent.ref
    agent = config.agent("mine").model_copy(update={"options": {"answer": "x"}})
    other = config.model_copy(update={"agents": {**config.agents, "mine": agent}})
    two = build_players(FACTS, PlayerNames(agent="mine"), other, hub).agent.ref
    assert one.version.startswith("7-")
    assert one != two
