"""Offline players that err on purpose: each in its own way, and always the same in the same sample."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cuecard.core.config import EMBEDDED
from cuecard.core.evaluation.plans import RunPlan, RunSettings
from cuecard.core.evaluation.runs import start_run
from cuecard.core.evaluation.scores import score_run
from cuecard.core.families.registry import family_of
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.players import DEFAULT_AGENT, DEFAULT_JUDGE, embedded
from cuecard.core.predictions import AnswerPrediction, PredictedTriple, TriplesPrediction
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task
from cuecard.core.verdicts import Decision
from cuecard.store.workspace import Workspace

TASKS = Path(__file__).parents[3] / "scripts" / "study_tasks"
AGENTS = ("offline", "offline:wordy", "offline:forgetful", "offline:hasty")


def task(name: str) -> Task:
    return load_task(TASKS / f"{name}.yaml")


@pytest.fixture(scope="module")
def played(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, dict[tuple[str, str, int], object]]:
    """What every agent handed in, by task, agent and sample, in two runs; and the scores of the first."""
    path = tmp_path_factory.mktemp("weak") / "weak.db"
    names = ("graph-new-planets", "table-planets", "checkpoints-moon", "facts-skerry-ferries")
    found: dict[str, dict[tuple[str, str, int], object]] = {}
    with Workspace.open(path, create=True) as workspace:
        for name in names:
            workspace.tasks.save(task(name), author="Ann")
        for run_name in ("one", "two"):
            plan = RunPlan(tasks=names, agents=AGENTS, samples=2, name=run_name)
            run = asyncio.run(start_run(workspace, plan, by="Ann")).run.id
            found[run_name] = {
                (t.task_id, t.agent.name, t.sample): next(
                    e.body.prediction
                    for e in workspace.runs.events(t.id)
                    if e.body.type == "concluded"
                )
                for t in workspace.runs.trials(run)
            }
            found[f"scores {run_name}"] = {
                (s.trial.task_id, s.trial.agent.name, s.trial.sample): {
                    m.name: m.value for m in s.measures
                }
                for s in score_run(workspace, run).trials
            }
    return found


def test_the_same_sample_errs_in_the_same_way_and_another_in_another(played) -> None:
    assert played["one"] == played["two"]
    both = (
        ("graph-new-planets", "offline:forgetful", 0),
        ("graph-new-planets", "offline:forgetful", 1),
    )
    assert played["one"][both[0]] != played["one"][both[1]]


def test_each_agent_errs_in_its_own_way(played) -> None:
    gold = len(task("graph-new-planets").gold.triples)
    triples = {agent: len(played["one"]["graph-new-planets", agent, 0].triples) for agent in AGENTS}
    assert triples["offline"] == gold
    assert triples["offline:hasty"] < triples["offline:forgetful"] < gold < triples["offline:wordy"]
    rows = {agent: played["one"]["table-planets", agent, 0].rows for agent in AGENTS}
    assert set(rows["offline"]) == set(task("table-planets").gold.rows)
    assert sum(not cell for row in rows["offline:hasty"] for cell in row) > 0
    for name, measure in (("graph-new-planets", "triplet_f1"), ("table-planets", "item_f1")):
        scores = {a: played["scores one"][name, a, 0][measure] for a in AGENTS}
        assert scores["offline"] == 1
        assert scores["offline:wordy"] <= 1
        assert all(scores[weak] < 1 for weak in ("offline:forgetful", "offline:hasty"))
    checked = {a: played["scores one"]["checkpoints-moon", a, 0] for a in AGENTS}
    assert checked["offline"]["acc"] == 1
    assert checked["offline:hasty"]["det_f1"] == 0


def test_the_plain_ones_come_first_and_all_are_labelled() -> None:
    assert (DEFAULT_AGENT, DEFAULT_JUDGE) == ("offline", "lexical")
    for part in ("agent", "user", "judge"):
        names = [kind.kind for kind in embedded(part)]
        assert len(names) > 1
        assert all(name.startswith(f"{names[0]}:") for name in names[1:])
        assert all(kind.baseline and kind.label == "offline baseline" for kind in embedded(part))
        section = getattr(EMBEDDED, f"{part}s")
        assert list(section) == names


PREDICTED = TriplesPrediction(
    triples=(
        PredictedTriple(head="Uranus", relation="discoverer", tail="William Herschel"),
        PredictedTriple(head="uranus", relation="Discovery year", tail="1781"),
        PredictedTriple(
            head="Uranus", relation="discovery place", tail="a garden in Bath, England"
        ),
    )
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("lexical", "yes yes no"),
        ("lexical:strict", "yes no no"),
        ("lexical:lenient", "yes yes yes"),
    ],
)
async def test_judges_draw_the_line_elsewhere(kind: str, expected: str) -> None:
    judge = LexicalJudge(kind)
    judgement = await judge.judge(task("graph-new-planets"), PREDICTED)
    assert judgement.judge == judge.ref
    assert judge.ref.name == kind
    assert judge.ref.baseline
    assert " ".join(verdict.decision.value for verdict in judgement.verdicts[:3]) == expected


async def test_the_noisy_judge_errs_now_and_then_and_always_alike() -> None:
    noisy, plain = LexicalJudge("lexical:noisy"), LexicalJudge()
    differ = items = 0
    for path in sorted(TASKS.glob("*.yaml")):
        found = load_task(path)
        for text in ("Uranus", "36 crowns", "Paris"):
            handed_in = PREDICTED if found.family == "graph" else AnswerPrediction(answer=text)
            one, again, right = [
                await judge.judge(found, handed_in) for judge in (noisy, noisy, plain)
            ]
            assert one == again
            # A decision that was turned still fits the family's scores.
            assert family_of(found).score(found, found.gold, handed_in, (), one)
            pairs = list(zip(one.verdicts, right.verdicts, strict=True))
            differ += sum(a.decision is not b.decision for a, b in pairs)
            items += len(pairs)
            assert all(
                v.supporting or v.decision is not Decision.YES or found.family != "graph"
                for v in one.verdicts
            )
    assert 0 < differ < items / 4


async def test_the_hasty_user_goes_on_whatever_was_said(tmp_path: Path) -> None:
    with Workspace.open(tmp_path / "hasty.db", create=True) as workspace:
        workspace.tasks.save(task("graph-new-planets"), author="Ann")
        settings = RunSettings(user="scripted:hasty")
        plan = RunPlan(tasks=("graph-new-planets",), agents=("offline:hasty",), settings=settings)
        run = (await start_run(workspace, plan, by="Ann")).run
        (trial,) = workspace.runs.trials(run.id)
        said = [
            e.body.reply for e in workspace.runs.events(trial.id) if e.body.type == "user_spoke"
        ]
    assert trial.user.name == "scripted:hasty"
    assert trial.user.baseline
    assert [reply.stage for reply in said] == [1, 2, 3, 4, None]
    assert all(reply.cue_met for reply in said[:4])
