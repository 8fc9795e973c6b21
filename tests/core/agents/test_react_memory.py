from __future__ import annotations

from collections.abc import Sequence

import openai_server as fake
from cuecard.core.agents.briefing import estimate, latest, shortened
from cuecard.core.agents.turn import read_lessons
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import NotesKept, NotesRead
from cuecard.core.predictions import TriplesPrediction
from long_trials import LongUser, WordyWorld, lamp_seeker, length_of
from openai_server import Reply, Request
from react_bench import FACTS, TRIPLES, Trial, concluding, play_trial, script_of


def marks(trial: Trial) -> list[object]:
    return [body.mark for body in trial.bodies("marked")]


async def test_notes_are_tool_calls_of_the_agents_own() -> None:
    script = script_of(
        fake.calls(("write_note", {"text": "Moriondo, Turin"}), ("read_notes", {})),
        fake.calls(("write_note", {"text": ""}), ("search", {"query": "lamp"})),
        fake.calls(("read_notes", {})),
    )
    trial = await play_trial(script, memory="local")
    assert trial.requests[0].tools == ["search", "write_note", "read_notes"]
    assert "`write_note`" in trial.requests[0].messages[0]["content"]
    answered = [(b.call.name, b.answer.text) for b in trial.bodies("tool_answered")]
    assert answered[:2] == [
        ("write_note", "Noted as number 1."),
        ("read_notes", "1. Moriondo, Turin"),
    ]
    assert answered[-1] == ("read_notes", "1. Moriondo, Turin")
    told = [m["content"] for m in trial.requests[2].messages if m["role"] == "tool"]
    assert told[2] == "The argument `text` is missing."


async def test_notes_stay_in_view_when_the_rest_is_cut() -> None:
    inner = lamp_seeker()

    def script(request: Request) -> Reply:
        if request.number == 0:
            usage = {"prompt_tokens": length_of(request), "completion_tokens": 5}
            return fake.calls(("write_note", {"text": "A lamp of BRASS"}), usage=usage)
        return inner(request)

    async def play(strategy: str, past: Sequence[Event] = ()) -> Trial:
        return await play_trial(
            inner if past else script,
            user=LongUser(5),
            world=WordyWorld(900),
            past=past,
            context=1_600,
            memory="local",
            cutting={"strategy": strategy, "keep": 2},
        )

    for strategy in ("summary", "window"):
        whole = await play(strategy)
        assert not whole.result.termination.is_failure
        last = str(whole.requests[-1].messages)
        assert "1. A lamp of BRASS" in last
        assert "write_note" not in str(whole.requests[-1].messages[1:])
        sent = [request.body for request in whole.requests]
        for cut in range(4, len(whole.events), 5):
            resumed = await play(strategy, whole.events[:cut])
            rest = [request.body for request in resumed.requests]
            assert rest == sent[len(sent) - len(rest) :]


async def test_lessons_go_from_task_to_task() -> None:
    def script(request: Request) -> Reply:
        if "This task is done" in str(request.last["content"]):
            return fake.text("I learnt:\n- Ask for one thing at a time.\n2. Trust dates.\n")
        return fake.text(TRIPLES if concluding(request) else "It was Moriondo.")

    first = await play_trial(script, memory="lifelong")
    assert marks(first) == [
        NotesRead(),
        NotesKept(notes=("Ask for one thing at a time.", "Trust dates.")),
    ]
    assert isinstance(first.result.prediction, TriplesPrediction)
    assert [e.body.type for e in first.events][-4:] == [
        "model_replied", "marked", "concluded", "trial_ended",
    ]  # fmt: skip
    assert "earlier tasks" not in first.requests[0].messages[0]["content"]

    second = await play_trial(script, memory="lifelong", notes=("Trust dates.",))
    assert marks(second)[0] == NotesRead(notes=("Trust dates.",))
    assert second.requests[0].messages[0]["content"].endswith("- Trust dates.")
    for cut in range(2, len(second.events)):
        # Other trials have ended meanwhile: this one remembers what it began with.
        past = second.events[:cut]
        known = ("Trust dates.",) if cut < 3 else ("Trust dates.", "Something new.")
        resumed = await play_trial(script, memory="lifelong", notes=known, past=past)
        rest = [request.body for request in resumed.requests]
        assert rest == [r.body for r in second.requests[len(second.requests) - len(rest) :]]


async def test_a_task_without_a_lesson_is_still_handed_in() -> None:
    def script(request: Request) -> Reply:
        if "本次任务已完成" in str(request.last["content"]):
            return fake.error(400)
        return fake.text("最终答案：06:12")

    trial = await play_trial(script, FACTS, memory="lifelong")
    assert not trial.result.termination.is_failure
    assert trial.result.prediction.kind == "answer"
    assert marks(trial) == [NotesRead()]


async def test_only_as_many_lessons_are_read_as_there_is_room_for() -> None:
    notes = tuple(f"Lesson {n}: ".ljust(400, ".") for n in range(50))
    trial = await play_trial(script_of(), memory="lifelong", notes=notes, context=8_000)
    (read,) = [mark for mark in marks(trial) if isinstance(mark, NotesRead)]
    assert read.notes == notes[-10:]


def test_lessons_are_list_items() -> None:
    assert read_lessons("none") == ()
    assert read_lessons("<think>- no</think>\n- One.\n* Two.\n3) Three.\n- One.\nFour") == (
        "One.", "Two.", "Three.",
    )  # fmt: skip
    assert len(read_lessons("\n".join(f"- Lesson {n}" for n in range(9)))) == 5
    assert read_lessons("- 先查年份\n1、再查地点") == ("先查年份", "再查地点")


def test_texts_are_measured_and_cut() -> None:
    assert (estimate(""), estimate("abcd"), estimate("abcde")) == (0, 1, 2)
    assert 4 <= estimate("一二三四五六") <= 5
    assert shortened(["a" * 40, "b"], 100, "en") == ["a" * 40, "b"]
    long, short = shortened(["a" * 4_000, "b" * 40], 110, "en")
    assert short == "b" * 40
    assert long.startswith("a" * 400)
    assert "the first 400 of 4000" in long
    assert "截断" in shortened(["一" * 900], 100, "zh")[0]
    assert latest(["a" * 40, "b" * 40, "a" * 40], 20) == ("b" * 40, "a" * 40)
    assert latest(["a" * 40], 5) == ()
