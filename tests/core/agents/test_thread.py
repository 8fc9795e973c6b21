"""The thread that an agent keeps, and the one it builds anew from the log, say the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import ReactAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Event, Limits
from cuecard.core.engine.messages import ModelReply, ToolCall, ToolSpec, Usage
from cuecard.core.engine.players import build_agent
from cuecard.core.engine.trial import TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from long_trials import LongUser, WordyWorld
from react_bench import CHAIN, GRAPH


class ScriptedClient:
    """Says what it is told to, and keeps what it was sent."""

    def __init__(self, config: ModelConfig, replies: Sequence[ModelReply]) -> None:
        self.config = config
        self.replies = replies
        self.sent: list[list[dict[str, Any]]] = []
        self.offset = 0

    async def chat(
        self,
        messages: Sequence[dict[str, Any]],
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] | None = None,
        *,
        may_call: bool = True,
    ) -> ModelReply:
        self.sent.append([dict(message) for message in messages])
        at = self.offset + len(self.sent) - 1
        reply = self.replies[at] if at < len(self.replies) else ModelReply(text="Done.")
        await asyncio.sleep(0)
        prompt = sum(len(str(m["content"])) for m in messages) // 3 if at % 5 else 0
        return reply.model_copy(update={"usage": Usage(prompt=prompt, completion=5)})


class OneClient:
    """A hub with one client."""

    def __init__(self, client: ScriptedClient) -> None:
        self._client = client

    def client(self, name: str) -> ScriptedClient:
        return self._client


WORDS = st.sampled_from(
    ["brass", "灯", "", "It is brass. " * 20, "<answer>x</answer>", "a\n\nb", "Yes.", "No."]
)
ARGUMENTS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"query": "lamp"}, {"query": "x" * 300}, {}, {"query": 3}, {"text": "note"}]
)
GOOD = st.builds(
    ToolCall,
    name=st.sampled_from(["search", "search", "write_note", "read_notes"]),
    arguments=st.integers(0, 99).map(lambda n: {"query": f"lamp {n}", "text": f"lamp {n}"}),
    id=st.sampled_from(["", "a", "b"]),
)
BAD = st.builds(
    ToolCall,
    name=st.sampled_from(["search", "serch", "ask", "answer"]),
    arguments=ARGUMENTS,
    broken=st.sampled_from(["", "{"]),
)
CALLS = st.integers(0, 9).flatmap(lambda n: GOOD if n else BAD)
LEAKS = st.sampled_from(
    [
        '<tool_call>{"name": "search", "arguments": {"query": "lamp"}}</tool_call>',
        '```json\n{"name": "search", "arguments": {"query": "lamp"}}\n```',
        "<think>Hm.</think>",
    ]
)
REPLIES = st.builds(
    ModelReply,
    text=st.builds("{}{}".format, WORDS, st.one_of(st.just(""), LEAKS)),
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
    reasoning=st.sampled_from(["", "Hm."]),
    finish_reason=st.sampled_from(["stop", "stop", "length"]),
)
AGENTS = st.fixed_dictionaries(
    {
        "calls": st.sampled_from(["native", "tagged"]),
        "memory": st.sampled_from(["none", "local", "lifelong"]),
        "context": st.sampled_from(
            [
                {"strategy": "summary", "keep": 3},
                {"strategy": "window", "keep": 2},
                {"strategy": "none"},
            ]
        ),
        "max_steps": st.integers(4, 9),
    }
)


async def trial(
    replies: Sequence[ModelReply], agent: dict[str, Any], chain: bool, past: Sequence[Event] = ()
) -> tuple[list[list[dict[str, Any]]], list[Event]]:
    model = ModelConfig(base_url="http://localhost:1", model="m", context=1_100)
    config = Config(models={"m": model}, agents={"live": ReactAgentConfig(model="m", **agent)})
    client = ScriptedClient(model, replies)
    client.offset = sum(event.body.type == "model_replied" for event in past)
    task = CHAIN if chain else GRAPH
    hub: Any = OneClient(client)
    sink = MemorySink()
    sink.events.extend(past)
    setup = TrialSetup(
        task,
        build_agent("live", config, task, hub, ("Remember.",)),
        LongUser(5),
        WordyWorld(500),
        limits=Limits(max_turns=9),
    )
    await play(setup, TrialLog(sink, past))
    return client.sent, sink.events


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(REPLIES, min_size=5, max_size=25), AGENTS, st.booleans(), st.data())
def test_a_kept_thread_and_a_rebuilt_one_are_the_same(
    replies: list[ModelReply], agent: dict[str, Any], chain: bool, data: st.DataObject
) -> None:
    whole, events = asyncio.run(trial(replies, agent, chain))
    cut = data.draw(st.integers(0, len(events)))
    done = sum(event.body.type == "model_replied" for event in events[:cut])
    rest, resumed = asyncio.run(trial(replies, agent, chain, events[:cut]))
    assert rest == whole[done:]
    assert [e.body.key for e in resumed] == [e.body.key for e in events]


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(REPLIES, min_size=5, max_size=25), AGENTS, st.booleans())
def test_no_model_can_make_the_conversation_unsound(
    replies: list[ModelReply], agent: dict[str, Any], chain: bool
) -> None:
    sent, _ = asyncio.run(trial(replies, agent, chain))
    for messages in sent:
        waiting: list[str] = []
        before = "system"
        for message in messages[1:]:
            if message["role"] == "tool":
                waiting.remove(message["tool_call_id"])
            else:
                assert not waiting
                assert not message["role"] == before == "user"
                waiting = [call["id"] for call in message.get("tool_calls", ())]
            before = message["role"]
        assert not waiting


async def test_an_edited_dialogue_is_not_gone_on_from() -> None:
    """The thread is kept for the dialogue that it holds, and for no other."""
    from cuecard.core.engine.messages import Dialogue, Message
    from cuecard.core.engine.step_context import TrialStepContext

    model = ModelConfig(base_url="http://localhost:1", model="m")
    config = Config(models={"m": model}, agents={"live": ReactAgentConfig(model="m")})
    client = ScriptedClient(model, [ModelReply(text="One."), ModelReply(text="Two.")])
    hub: Any = OneClient(client)
    agent = build_agent("live", config, GRAPH, hub)
    trial_log = TrialLog(MemorySink())

    def context(turn: int) -> TrialStepContext:
        return TrialStepContext(WordyWorld(10), trial_log, "agent", turn)

    opening = Dialogue((Message(role="user", turn=0, text="Hello."),))
    await agent.reply(opening, context(0))
    edited = opening.plus(Message(role="agent", turn=0, text="Uno."))
    await agent.reply(edited.plus(Message(role="user", turn=1, text="And?")), context(1))
    assert [m["content"] for m in client.sent[-1][1:]] == ["Hello.", "Uno.", "And?"]
