"""What stands around a session: its start, its figures, its form, and what is kept of each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.sessions import EMBEDDED_FORM
from cuecard.annotate.waiting import OpenSession, Waiting
from cuecard.core.config import EMBEDDED
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    EventBody,
    Limits,
    Marked,
    ModelReplied,
    ToolAnswered,
    TrialRetried,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    AgentReply,
    Hit,
    ModelReply,
    PlayerRef,
    Remark,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.evaluation.shadows import Listening
from cuecard.core.evaluation.wizard_of_oz import WaitingTrial
from cuecard.core.i18n import stopwatch
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.base import FormQuestion
from cuecard.tui.preferences import Preferences
from cuecard.tui.present.drafts import FormState, KeptJson
from cuecard.tui.present.home import rows_of
from cuecard.tui.present.play_panes import PlayFigures, figure_lines
from cuecard.tui.present.players import Start, start_choices

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
LIVE = PlayerRef(name="live", kind="react", model="m")
CONFIG = Config.model_validate(
    {
        "models": {
            "local": {"base_url": "http://127.0.0.1:1/v1", "model": "mine"},
            "hosted": {"base_url": "https://x.org/v1", "model": "big", "api_key_env": "BIG_KEY"},
        },
        "agents": {
            **EMBEDDED.agents,
            "cloud": {"kind": "react", "model": "hosted"},
            "live": {"kind": "react", "model": "local"},
            "harness": {"kind": "acp", "command": ["no-such-program"], "pass_env": ["X_KEY"]},
        },
        "users": {**EMBEDDED.users, "sim": {"kind": "simulator", "model": "hosted"}},
        "worlds": {**EMBEDDED.worlds, "archive": {"kind": "replay", "run": 3}},
        "judges": {**EMBEDDED.judges, "strict": {"kind": "model", "model": "local"}},
        "play": {"judge": "strict", "shadows": ["sim"]},
    }
)


def test_what_is_missing_is_told_before_a_session_starts() -> None:
    choices = start_choices(CONFIG, environ={"PATH": ""})
    assert [part.name for part in choices.agents] == [
        *EMBEDDED.agents,
        *("cloud", "live", "harness", "person"),
    ]
    assert "baseline" in choices.agents[0].label
    assert choices.agents[-1].label == "a person (Wizard of Oz)"
    assert [part.name for part in choices.worlds] == ["closed"]
    assert choices.chosen == Start("offline", "closed", "strict", ("sim",))
    assert not choices.skippable
    (problem,) = choices.problems(choices.chosen)
    assert problem == "sim: the environment variable BIG_KEY is not set"
    assert choices.problems(Start("live", "closed", "strict", ("scripted",))) == ()
    two = choices.problems(Start("harness", shadows=("sim",)))
    assert two == ("harness: there is no program no-such-program here", problem)
    ready = start_choices(CONFIG, environ={"PATH": "", "BIG_KEY": "k"})
    assert ready.problems(Start("cloud", shadows=("sim",))) == ()


def test_the_last_choice_is_remembered_as_far_as_its_players_are_still_there() -> None:
    last = Start("live", "gone", "lexical", ("sim", "gone"))
    assert start_choices(CONFIG, last.kept()).chosen == Start("live", "closed", "lexical", ("sim",))
    for broken in ({"agent": 3, "shadows": "sim"}, {"shadows": [["sim"]]}):
        chosen = start_choices(CONFIG, broken).chosen
        assert (chosen.agent, chosen.shadows) == ("offline", ())
    assert start_choices(EMBEDDED).skippable
    assert start_choices(EMBEDDED).chosen == Start()


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def test_preferences_and_drafts_come_back_from_the_disk(homeless: Path) -> None:
    Preferences(starts={"Ana": Start("live").kept()}).save()
    assert Preferences.load().starts == {"Ana": Start("live").kept()}
    here, elsewhere = KeptJson("db", "form 1"), KeptJson("db", "form 2")
    assert here.load() == {}
    here.save({"remarks": "好 \ud800"})
    assert here.load() == {"remarks": "好 \ud800"}
    assert elsewhere.load() == {}
    (file,) = (homeless / "state").rglob("*.json")
    file.write_text("[1]")
    assert here.load() == {}
    here.save({})
    assert not file.exists()


def replied(part: str, cost: float | None = None, scope: str = "", step: int = 0) -> ModelReplied:
    reply = ModelReply(usage=Usage(prompt=100, completion=10), cost=cost)
    return ModelReplied(part=part, turn=0, step=step, model="m", reply=reply, scope=scope)


def searched(step: int, hit: bool | None) -> ToolAnswered:
    told = None if hit is None else Hit(is_compound=False, hit=hit)
    answer = ToolAnswer(text="x", hit=told)
    return ToolAnswered(
        part="agent", turn=0, step=step, call=ToolCall(name="search"), answer=answer
    )


def said(turn: int) -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply(text="x"))


def answered(turn: int) -> AgentSpoke:
    return AgentSpoke(turn=turn, reply=AgentReply(text="y"))


def started(agent: PlayerRef = LIVE) -> TrialStarted:
    return TrialStarted(
        task_id="t",
        revision=1,
        revision_hash="",
        agent=agent,
        user=PlayerRef(name="Ana", kind="human"),
        world=PlayerRef(name="closed", kind="closed", baseline=True),
        limits=Limits(max_turns=9),
    )


def noted(text: str) -> Marked:
    return Marked(part="user", turn=0, step=0, mark=Remark(about="task", text=text, by="Ana"))


def followed(*steps: tuple[float, EventBody]) -> PlayFigures:
    figures, at = PlayFigures(), START
    for seq, (seconds, body) in enumerate(steps):
        at += timedelta(seconds=seconds)
        figures.follow(Event(seq=seq, at=at, body=body))
    return figures


def text_of(figures: PlayFigures, **options: Any) -> str:
    lines = figure_lines(figures, **options)
    return "\n".join("".join(piece.text for piece in line) for line in lines)


def test_what_is_taken_back_was_paid_for_and_noted_all_the_same() -> None:
    figures = followed(
        (0, started()),
        (20, said(0)),
        (2, replied("agent", 0.01)),
        (0, searched(0, True)),
        (0, searched(1, False)),
        (0, searched(2, None)),
        (0, replied("agent", scope="tool/0/")),
        (0, replied("agent", scope="member/1/", step=1)),
        (4, answered(0)),
        (5, noted("unclear\ncue")),
        (3600, TrialRetried(keep=True, reason="retry", back_to=2)),
        (1, replied("agent", 0.02)),
        (7, answered(0)),
        (8, said(1)),
    )
    assert (figures.turns, figures.calls, figures.searched, figures.hits) == (1, 0, 0, 0)
    assert (figures.thinking, figures.yours) == ({0: 8.0}, {0: 20.0, 1: 8.0})
    spent = figures.spent
    assert (spent.calls, spent.usage.prompt, spent.unpriced) == (3, 300, 1)
    assert spent.cost == pytest.approx(0.03)
    assert (figures.world_spent.calls, figures.context) == (1, 110)
    assert figures.active().total_seconds() == 20 + 2 + 4 + 5 + 300 + 1 + 7 + 8
    later = figures.active(START + timedelta(days=1))
    assert later - figures.active() == timedelta(minutes=5)
    shown = text_of(figures, currency="EUR", context=1100, listening=Listening(3, 2, 1))
    for told in (
        "1 of 9",
        "0.0300 EUR + 1 call without a price",
        "110 · 10%",
        "2 of 3 have answered",
        "1 failed",
        "NOTES (1)",
        "turn 1 · task: unclear cue",
        "you    8 s · median 14 s",
    ):
        assert told in shown
    assert "LISTEN" not in text_of(figures, listening=Listening())


@pytest.mark.parametrize(
    ("kind", "baseline", "told"),
    [
        ("offline", True, "offline: no tokens"),
        ("human", False, "a person: no tokens"),
        ("acp", False, "it does not tell its tokens"),
        ("react", False, "no model call yet"),
    ],
)
def test_who_has_no_tokens_says_why(kind: str, baseline: bool, told: str) -> None:
    agent = PlayerRef(name="a", kind=kind, baseline=baseline)
    assert told in text_of(followed((0, started(agent))))
    priceless = followed((0, started()), (1, replied("agent")))
    assert "no price" in text_of(priceless)


@given(st.lists(st.floats(min_value=-10, max_value=1000), max_size=8), st.integers(0, 7))
@settings(max_examples=examples(30), deadline=None)
def test_figures_do_not_depend_on_what_was_taken_back(pauses: list[float], at: int) -> None:
    """A turn that is taken back and taken again alike leaves the same turns and calls."""
    turn = [said(0), searched(0, True), answered(0)]
    once = followed((0, started()), *((1, body) for body in turn))
    before = [(pause, said(0)) for pause in pauses[:1]]
    back = TrialRetried(keep=True, back_to=1)
    again = followed((0, started()), *before, (at, back), *((1, body) for body in turn))
    assert (again.turns, again.calls, again.hits) == (once.turns, once.calls, once.hits)
    assert timedelta() <= again.active() <= timedelta(minutes=5) * (len(before) + 4)


def test_a_form_is_answered_by_digits_and_arrows() -> None:
    ten = FormQuestion(key="ten", label="Ten", lowest=1, highest=10)
    nought = FormQuestion(key="nought", label="Nought", lowest=0, highest=5)
    who = FormQuestion(key="who", label="Who", kind="choice", options=("a", "b"))
    words = FormQuestion(key="words", label="Words", kind="text")
    state = FormState((ten, nought, who, words))
    assert [state.press(ten, 0), state.press(nought, 0), state.press(who, 2)] == [True] * 3
    assert [state.press(nought, 9), state.press(who, 3), state.press(who, 0)] == [False] * 3
    assert not state.press(words, 1)
    assert state.answers == {"ten": 10, "nought": 0, "who": "b"}
    assert state.missing == (words,)
    for _press in range(3):
        state.step(who, -1)
    state.step(ten, 1)
    assert (state.answers["who"], state.answers["ten"]) == ("a", 10)
    fresh = FormState((nought,))
    fresh.step(nought, -1)
    assert fresh.answers == {"nought": 5}

    kept: dict[str, Any] = {**state.to_kept(), "ten": 11, "nought": True, "who": "c", "words": "w"}
    assert FormState.of(state.questions, kept).answers == {"words": "w"}
    assert FormState.of(EMBEDDED_FORM, {}).missing == EMBEDDED_FORM[:-1]


def test_times_read_as_on_a_clock() -> None:
    assert [stopwatch(s) for s in (0, 59.4, 60, 3599, 3600.2, -5)] == [
        *("0 s", "59 s", "1:00", "59:59", "1:00:00", "0 s")
    ]


def test_home_tells_who_is_to_go_on_and_never_what_a_task_of_anothers_session_is() -> None:
    def trial(id_: int) -> TrialRecord:
        return TrialRecord(
            id=id_,
            run_id=1,
            task_id="t",
            title="The [b]task[/b]",
            family="facts",
            revision=1,
            agent=LIVE,
            user=PlayerRef(name="Ana", kind="human"),
            world=PlayerRef(name="closed", kind="closed", baseline=True),
            sample=0,
            seed=0,
            termination=None,
            detail="",
            created_at=START,
            ended_at=START,
            events=3,
        )

    waits = WaitingTrial(
        trial_id=9, user="Bo", family="graph", language="zh", since=START, mine=False
    )
    waiting = Waiting(
        sessions=tuple(
            OpenSession(trial(number), 2, phase, START)
            for number, phase in enumerate(("yours", "agent", "concluding"), start=1)
        ),
        forms=(trial(4),),
        waiting_trials=(waits, waits.model_copy(update={"mine": True})),
    )
    rows = rows_of(waiting, 9, START + timedelta(hours=3))
    assert waiting.total == len(rows) == 6
    assert [(row.kind, row.trial_id, row.since) for row in rows[:4]] == [
        *(("session", 1, "3 h"), ("session", 2, "3 h"), ("session", 3, "3 h"), ("form", 4, "3 h"))
    ]
    assert (rows[0].text, rows[0].about) == ("The [b]task[/b]", "your turn · turn 3 · live")
    assert rows[1].about.startswith("the agent was answering · turn 3")
    assert rows[2].about.startswith("the agent was handing in · turn 2")
    assert (rows[4].text, rows[4].about) == ("Bo waits for an agent", "graph, 中")
    assert rows[5].text == "you play it for Bo"
