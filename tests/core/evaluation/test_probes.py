"""Quality probes as runs: what they play, what they say of it, and that nothing is paid for twice."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import forked
from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import ModelJudgeConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import ModelReplied, RunState, Termination, ToolAnswered, UserSpoke
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import ConfigError
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.evaluation.probes import probe_results, run_probe
from cuecard.core.evaluation.runs import resume_run, settle_runs
from cuecard.core.evaluation.scores import score_as_judged
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.probes.results import PROBES, ProbeName, ProbeResult
from cuecard.store.workspace import Workspace
from openai_server import OpenAIServer, Request, error, running, text
from probe_scripts import (
    CHECKPOINTS,
    CHECKPOINTS_ZH,
    FACTS,
    GRAPH,
    TABLE,
    answering,
    config,
    examining,
    prompt_of,
    searching,
)

COST = 11 / 1_000_000
ENUMERABLE = {
    "reason": "everybody knows",
    "matched": [{"candidate": 1, "reading": 1}, {"candidate": 2, "reading": 2}, {"candidate": 3}],
    "enumerable": True,
}
DEEP = {"reason": "only found by searching", "enumerable": "no", "error_recognisable": "no"}


async def probed(
    workspace: Workspace, probe: ProbeName, task: str, config: Config, **more: Any
) -> tuple[ProbeResult, ...]:
    """The results of one task, of those that were played or skipped."""
    outcome = await run_probe(workspace, probe, [task], config=config, by="ann", **more)
    assert not outcome.halt
    return outcome.results[task]


async def test_closed_book_flags_what_a_model_knows(workspace: Workspace):
    def script(request: Request) -> Any:
        knows = request.body["model"] == "big"
        return text(f"Final answer: {'Delfo Cabrera' if knows else 'Emil Zátopek'}")

    async with OpenAIServer(script) as server:
        models = config(server.url, "big", "small", closed_book=2)
        results = await probed(workspace, "closed_book", CHECKPOINTS, models)
        asked = server.requests
    assert [(r.model, r.sample, r.right, r.score) for r in results] == [
        ("big", 0, True, 1.0),
        ("big", 1, True, 1.0),
        ("small", 0, False, 0.0),
        ("small", 1, False, 0.0),
    ]
    assert [r.flagged for r in results] == [True, True, False, False]
    assert results[0].findings == ("answered: Delfo Cabrera",)
    assert results[0].cost == pytest.approx(2 * COST)
    assert not any(r.baseline for r in results)
    # No tools, nobody to ask, and the full query rather than the ambiguous opening.
    assert not any(request.tools for request in asked)
    task = workspace.tasks.revision(CHECKPOINTS).task
    run = workspace.runs.get(results[0].run_id or 0)
    assert (run.kind, run.state, run.trials) == ("probe", RunState.DONE, 4)
    assert run in workspace.runs.all(kind="probe")
    for trial in workspace.runs.trials(run.id):
        said = [e.body for e in workspace.runs.events(trial.id) if isinstance(e.body, UserSpoke)]
        assert said[0].reply.text == task.query
        assert trial.termination is Termination.ANSWERED
    # Their verdicts are no labelling work, unless the run is named.
    assert workspace.verdicts.waiting("ann") == 0
    assert workspace.verdicts.waiting("ann", run_id=run.id) == 4
    (big, _small) = score_as_judged(workspace, run.id).groups
    assert big.judged == 2
    assert not any(ref.baseline for t in workspace.runs.trials(run.id) for ref in (t.user, t.world))


async def test_garbage_is_a_wrong_answer(workspace: Workspace):
    said: dict[str, tuple[str, float]] = {
        GRAPH: ('[{"head": "x", "relation": "y", "tail": "z"}]', 0.0),
        TABLE: ("| what | a | mess", 0.0),
        FACTS: ("36 euros", 1.0),
        CHECKPOINTS: ("\x1b[31m\ufffd {not json", 0.0),
    }
    queries = {workspace.tasks.revision(task).task.query: task for task in said}

    def script(request: Request) -> Any:
        opening = next(m["content"] for m in request.messages if m["role"] == "user")
        return text(said[queries[opening]][0])

    async with OpenAIServer(script) as server:
        models = config(server.url, closed_book=1)
        outcome = await run_probe(workspace, "closed_book", list(said), config=models, by="ann")
    for task, (_words, score) in said.items():
        (result,) = outcome.results[task]
        assert (result.score, result.right) == (score, score == 1.0)
        assert len(result.findings) == 1
        assert "\x1b" not in result.findings[0]
    assert outcome.problems == ()


async def test_open_book_searches_up_to_the_limit_and_never_asks(workspace: Workspace):
    async with OpenAIServer(searching) as server:
        models = config(server.url, search_calls=2)
        (result,) = await probed(workspace, "open_book", CHECKPOINTS, models)
        (na,) = await probed(workspace, "open_book", FACTS, models)
        asked = server.requests
    trial = workspace.runs.trial(result.trial_id or 0)
    events = [e.body for e in workspace.runs.events(trial.id)]
    assert sum(isinstance(body, ToolAnswered) for body in events) == 2
    said = [body.reply.text for body in events if isinstance(body, UserSpoke)]
    assert said[0] == workspace.tasks.revision(CHECKPOINTS).task.opening
    assert not {"ask", "answer"} & set(asked[0].tools)
    # Who goes on searching after that must answer; and an embedded world is no evidence.
    assert len(said) == 2
    assert trial.termination is Termination.ANSWERED
    assert (result.right, result.baseline) == (True, True)
    assert na.why == "not_applicable"
    assert "nothing to clarify" in na.skipped


async def test_open_book_takes_a_question_for_an_answer(workspace: Workspace):
    words = ("Which mountain do you mean?", "Final answer: Delfo Cabrera")
    async with OpenAIServer(answering(*words)) as server:
        (result,) = await probed(workspace, "open_book", CHECKPOINTS, config(server.url))
        assert len(server.requests) == 2
    assert result.right


async def test_with_facts_reaches_the_answer_or_not(workspace: Workspace):
    numbers = iter(range(100))

    def script(request: Request) -> Any:
        facts = workspace.tasks.revision(FACTS).task.gold
        assert isinstance(facts, FactWorld)
        assert all(fact.value in prompt_of(request) for fact in facts.facts)
        assert not request.tools
        return text(f"Final answer: {'36 euros' if next(numbers) < 4 else '72 euros'}")

    async with OpenAIServer(script) as server:
        results = await probed(workspace, "with_facts", FACTS, config(server.url), concurrency=1)
        (na,) = await probed(workspace, "with_facts", GRAPH, config(server.url))
    assert [r.right for r in results] == [True, True, False]
    assert [r.flagged for r in results] == [False, False, True]
    assert na.why == "not_applicable"


async def test_the_ambiguity_of_steps(workspace: Workspace):
    guess = {"readings": ["Mount Everest", "Mauna Kea", "Mount Chimborazo"], "error": "none"}
    script = examining(enumerable=DEEP, readings=guess)
    async with OpenAIServer(script) as server:
        (result,) = await probed(workspace, "ambiguity", CHECKPOINTS, config(server.url))
        first, known = prompt_of(server.requests[0]), prompt_of(server.requests[1])
    # Named unseen, all candidates of step 1: on the surface, whatever is said afterwards.
    assert (result.right, result.score, result.flagged) == (True, 1.0, True)
    told = "\n".join(result.findings)
    assert "step 1: 3 of 3 candidates named unseen (Mount Everest, Mauna Kea, Chimborazo)" in told
    assert "step 4: 0 of 3 candidates named unseen" in told
    assert "step 4: the ambiguity takes retrieval: only found by searching" in told
    assert "Chimborazo" not in first
    assert "Chimborazo" in known
    assert "Mount Chimborazo" in known
    # What an examiner says is judged by nobody.
    run_id = result.run_id or 0
    assert await judge_run(workspace, run_id) == ()
    assert workspace.verdicts.of_run(run_id) == []
    assert score_as_judged(workspace, run_id).trials == ()


async def test_deep_ambiguity_in_chinese_and_on_the_surface(workspace: Workspace):
    guess = {"readings": ["某某", "另一种说法"], "error": ""}
    async with OpenAIServer(examining(enumerable=DEEP, readings=guess)) as server:
        (deep,) = await probed(workspace, "ambiguity", CHECKPOINTS_ZH, config(server.url))
        assert "材料" in prompt_of(server.requests[0])
    async with OpenAIServer(examining(enumerable=ENUMERABLE, readings=guess)) as server:
        (surface,) = await probed(
            workspace, "ambiguity", CHECKPOINTS_ZH, config(server.url), again=True
        )
    assert (deep.right, deep.flagged) == (False, False)
    # Two candidates in other words, and the examiner says that the rest is common sense.
    assert (surface.right, surface.flagged) == (True, True)
    assert len([f for f in surface.findings if "2 of" in f]) == len(surface.findings) // 2


async def test_a_need_that_is_guessed_from_the_opening(workspace: Workspace):
    stages = len(workspace.tasks.revision(GRAPH).task.stages)
    pairs = [(2, 1), ("3", "2"), (4, 9), (99, 1), (5, "none")]
    foreseen = [{"request": request, "guess": guess} for request, guess in pairs]
    some = {"reason": "the usual", "foreseen": foreseen}
    script = examining(foreseen=some, guesses={"guesses": ["who invented it", "how it is made"]})
    async with OpenAIServer(script) as server:
        (result,) = await probed(workspace, "ambiguity", GRAPH, config(server.url))
    assert result.score == pytest.approx(2 / (stages - 1))
    assert result.right is False
    assert result.findings[0] == f"2 of {stages - 1} later requests guessed from the opening"
    assert result.findings[1].startswith("stage 2 (")
    assert result.findings[1].endswith("was guessed: who invented it")


async def test_laws_by_rule_and_by_examiner(workspace: Workspace):
    found = {
        "contradictions": [
            {"facts": [5, "4", 5], "reason": "it cannot be both"},
            {"facts": [4, 5], "reason": "again"},
            {"facts": [4, 80], "reason": "there is no fact 80"},
            {"facts": [4], "reason": "with what?"},
            {"facts": [1, 2], "reason": "…"},
        ],
        "implausible": [{"fact": 1, "reason": "too cheap"}, {"fact": 0, "reason": "x"}, "what?"],
    }
    async with OpenAIServer(examining(contradictions=found)) as server:
        rule, examined = await probed(workspace, "laws", FACTS, config(server.url))
    assert (rule.model, rule.right, rule.flagged) == ("", True, False)
    assert (examined.right, examined.flagged) == (False, True)
    assert examined.findings == (
        "contradictory: BN 7 scheduled arrival + BN 7 actual arrival: it cannot be both",
        "implausible: BN 7 base fare: too cheap",
    )


async def test_an_examiner_that_talks_nonsense_says_nothing(workspace: Workspace):
    probes: tuple[tuple[ProbeName, str], ...] = (
        ("laws", FACTS),
        ("ambiguity", GRAPH),
        ("ambiguity", CHECKPOINTS),
    )
    empty = {"contradictions": [{"facts": [1], "reason": ""}], "implausible": [{"fact": 1}]}
    async with OpenAIServer(examining(contradictions=empty)) as server:
        *_rules, result = await probed(workspace, "laws", FACTS, config(server.url))
        assert (result.right, result.why) == (None, "unusable")
        assert len(server.requests) == 3
        assert "at least two facts" in prompt_of(server.requests[1])
    async with OpenAIServer(answering("I would rather not say. {]")) as server:
        for probe, task in probes:
            *_rules, result = await probed(workspace, probe, task, config(server.url), again=True)
            assert (result.right, result.why, result.flagged) == (None, "unusable", None)


async def test_without_models_the_reason_is_told_and_a_baseline_plays(workspace: Workspace):
    whys: dict[ProbeName, list[str]] = {}
    for probe in PROBES:
        results = await probed(workspace, probe, FACTS, EMBEDDED)
        whys[probe] = [r.why for r in results]
    assert whys == {
        "closed_book": ["no_model"],
        "open_book": ["not_applicable"],
        "ambiguity": ["not_applicable"],
        "laws": ["", "no_model"],
        "with_facts": ["no_model"],
    }
    assert workspace.runs.all() == []
    baseline, skipped = await probed(workspace, "open_book", CHECKPOINTS, EMBEDDED)
    assert (baseline.model, baseline.baseline, baseline.right) == ("offline", True, False)
    assert skipped.why == "no_model"


async def test_a_model_without_its_key_is_skipped(workspace: Workspace):
    async with OpenAIServer(answering("Final answer: Delfo Cabrera")) as server:
        models = config(server.url, closed_book=1)
        keyless = ModelConfig(base_url=server.url, model="k", api_key_env="CUECARD_TEST_NO_KEY")
        both = models.model_copy(update={"models": {"k": keyless, **models.models}})
        tried, skipped = await probed(workspace, "closed_book", CHECKPOINTS, both)
        unpriced = models.model_copy(
            update={"models": {"k": ModelConfig(base_url="http://x", model="k")}}
        )
        with pytest.raises(ConfigError, match="k"):
            await run_probe(
                workspace, "closed_book", [GRAPH], config=unpriced, by="ann", budget=1.0
            )
    assert (tried.model, tried.right) == ("m", True)
    assert (skipped.model, skipped.why) == ("k", "no_model")
    assert "CUECARD_TEST_NO_KEY" in skipped.skipped


async def test_what_is_recorded_is_not_played_again(workspace: Workspace):
    broken = True

    def script(request: Request) -> Any:
        if broken and request.number >= 3:
            return error(400)
        return text("Final answer: Delfo Cabrera")

    async with OpenAIServer(script) as server:
        models = config(server.url, closed_book=2)
        args = (workspace, "closed_book", CHECKPOINTS, models)
        results = await probed(*args, concurrency=1)
        assert [(r.right, r.why) for r in results] == [(True, ""), (None, "failed")]
        assert "400" in results[1].skipped
        broken = False
        # The one that failed goes on where it stopped; others of the same players are known.
        results = await probed(*args)
        assert [r.right for r in results] == [True, True]
        assert len(server.requests) == 3 + 1 + 1
        assert len({r.run_id for r in results}) == 1
        more = config(server.url, closed_book=3)
        assert len(await probed(workspace, "closed_book", CHECKPOINTS, more)) == 3
        assert len(server.requests) == 5 + 2
        # Somebody else does not meddle with open trials, and `again` means again.
        again = await probed(*args, again=True)
        assert len(server.requests) == 7 + 4
        assert len(again) == 3
        assert again[0].run_id != results[0].run_id
        # A new revision has no attempts yet.
        task = workspace.tasks.revision(CHECKPOINTS).task
        changed = task.model_copy(update={"title": "Another title"})
        saved = workspace.tasks.save(changed, author="ann", base=1)
        assert all(r.why for r in probe_results(workspace, CHECKPOINTS, saved.number))


async def test_a_model_judges_and_what_it_left_is_judged_later(workspace: Workspace):
    broken = True

    def script(request: Request) -> Any:
        if request.body["model"] == "m":
            return text("Final answer: the man with the pen name")
        return error(400) if broken else text('{"reason": "the same", "equivalent": true}')

    async with OpenAIServer(script) as server:
        strict = {"strict": ModelJudgeConfig(kind="model", model="j")}
        models = config(server.url, "m", "j", models=("m",), closed_book=1, judge="strict")
        models = models.model_copy(update={"judges": {**models.judges, **strict}})
        args = (workspace, "closed_book", [CHECKPOINTS])
        outcome = await run_probe(*args, config=models, by="ann")
        (result,) = outcome.results[CHECKPOINTS]
        assert (result.right, result.why) == (None, "unjudged")
        assert "400" in outcome.problems[0]
        # A killed run is not closed with the verdicts of another judge.
        run_id = outcome.run_id or 0
        workspace.runs.set_state(run_id, RunState.RUNNING)
        await settle_runs(workspace)
        assert workspace.runs.get(run_id).state is RunState.OPEN
        broken, asked = False, len(server.requests)
        outcome = await run_probe(*args, config=models, by="ann")
        assert len(server.requests) == asked + 1
    (result,) = outcome.results[CHECKPOINTS]
    assert (result.right, outcome.run_id, outcome.problems) == (True, run_id, ())
    assert workspace.runs.get(run_id).state is RunState.DONE
    assert result.cost == pytest.approx(3 * COST)


async def test_a_stopped_probe_is_gone_on_with(workspace: Workspace):
    control = RunControl()
    async with OpenAIServer(answering("Final answer: Delfo Cabrera")) as server:
        models = config(server.url, closed_book=3)

        def stop(_event: object) -> None:
            if len(server.requests) >= 3:
                control.pause()

        outcome = await run_probe(
            workspace,
            "closed_book",
            [CHECKPOINTS],
            config=models,
            by="ann",
            on_event=stop,
            control=control,
            concurrency=1,
        )
        assert outcome.halt
        assert outcome.left_open == 2
        assert [r.why for r in outcome.results[CHECKPOINTS]] == ["", "open", "open"]
        # As any run: by its number, from the Runs screen or the command line.
        resumed = await resume_run(workspace, outcome.run_id or 0, config=models)
        assert resumed.run.state is RunState.DONE
        assert len(server.requests) == 6
    results = probe_results(workspace, CHECKPOINTS, 1)
    assert [r.right for r in results if r.probe == "closed_book"] == [True] * 3


def test_a_killed_probe_pays_for_nothing_twice(db: Path):
    guess = {"readings": ["Mount Everest"], "error": ""}
    with running(examining(enumerable=DEEP, readings=guess)) as server:
        program = Path(__file__).parents[2] / "probe_scripts.py"
        command = [sys.executable, program, db, "ambiguity", CHECKPOINTS, server.url, "4"]
        assert forked.run(command, timeout=60).returncode == -signal.SIGKILL
        assert 0 < len(server.requests) < 4
        with Workspace.open(db) as workspace:
            asyncio.run(settle_runs(workspace))
            (killed,) = workspace.runs.all()
            assert killed.state is RunState.INTERRUPTED
            (result,) = asyncio.run(probed(workspace, "ambiguity", CHECKPOINTS, config(server.url)))
            (run,) = workspace.runs.all()
            log = workspace.runs.log(result.trial_id or 0)
    assert run.state is RunState.DONE
    assert result.right is False
    assert sum(isinstance(event.body, ModelReplied) for event in log) == len(server.requests) == 4
    assert result.cost == pytest.approx(4 * COST)
