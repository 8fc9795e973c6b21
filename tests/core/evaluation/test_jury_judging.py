"""A jury judges a run from its members' own judgements: each is made once, and can be opened beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cuecard.annotate.labelling.comparison import effect_of
from cuecard.annotate.labelling.labelling_sets import population_of
from cuecard.annotate.labelling.sampling import SamplingPlan
from cuecard.annotate.results.judge_card import Card
from cuecard.annotate.results.pool import gather
from cuecard.annotate.results.suspects import survey
from cuecard.annotate.samples import load_samples
from cuecard.core.config import EMBEDDED
from cuecard.core.config_players import JuryConfig
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.decisions import decisions_of
from cuecard.core.evaluation.exam import exam_stamp, plan_exam, read_exam, run_exam
from cuecard.core.evaluation.judging import judge_run, judge_trial
from cuecard.core.evaluation.plans import RunPlan, RunSettings, player_configs
from cuecard.core.evaluation.rescoring import plan_rescoring, rescore_run
from cuecard.core.evaluation.runs import start_run
from cuecard.core.evaluation.scores import score_run
from cuecard.core.judges.jury import Jury, Weights
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.label_records import LabelValue
from cuecard.core.llm.hub import ModelHub
from cuecard.core.verdicts import Decision, Item, ItemKind
from cuecard.store.workspace import Workspace
from judge_scripts import good, model_judge
from judged_trials import GOLD, ended_run, graph_task, triples
from openai_server import OpenAIServer

pytestmark = pytest.mark.both_databases

HALF, ALL = triples(*GOLD[:3]), triples(*GOLD)
LEXICAL, STRICT = LexicalJudge(), LexicalJudge("lexical:strict")


def names(workspace: Workspace, trial: int) -> list[str]:
    return sorted(r.judgement.judge.name for r in workspace.verdicts.of_trial(trial))


async def test_members_judge_once_and_in_their_own_name(workspace: Workspace) -> None:
    run = ended_run(workspace, graph_task(), [HALF, ALL])
    first, second = (trial.id for trial in workspace.runs.trials(run))
    async with OpenAIServer(good) as server:
        sage, hub = model_judge(server.url)
        jury = Jury("board", (sage, LEXICAL, STRICT))
        await judge_trial(workspace, first, sage)
        assert len(server.requests) == 1
        assert await judge_run(workspace, run, jury) == ()
        # The first trial's model judgement was there; only the second trial is asked about.
        assert len(server.requests) == 2
        assert names(workspace, first) == ["board", "lexical", "lexical:strict", "sage"]
        assert names(workspace, second) == ["board", "lexical", "lexical:strict", "sage"]
        # Again it combines anew, and asks nobody.
        await judge_run(workspace, run, jury)
        await judge_run(workspace, run, jury, again=True)
        assert names(workspace, first) == ["board", "board", "lexical", "lexical:strict", "sage"]
        assert len(server.requests) == 2
        # A member that is another one now judges again, the others do not.
        other, hub_too = model_judge(server.url, batch=3)
        changed = replace(jury, members=(other, LEXICAL, STRICT))
        assert changed.ref.version != jury.ref.version
        await judge_trial(workspace, first, changed)
        assert len(server.requests) == 4
        assert names(workspace, first).count("sage") == 2
        await hub.close()
        await hub_too.close()
    newest = workspace.verdicts.of_trial(first)[0].judgement
    assert newest.judge == changed.ref
    assert newest.verdicts[0].rationale == "sage: yes, lexical: yes, lexical:strict: yes"
    scores = score_run(workspace, run, "board")
    assert [each.scores["triplet_recall"] for each in scores.trials] == [0.5, 1]
    assert [each.scores["triplet_precision"] for each in scores.trials] == [1, 1]


async def test_labels_correct_a_jury_as_any_judge(workspace: Workspace) -> None:
    run = ended_run(workspace, graph_task(), [HALF])
    (trial,) = workspace.runs.trials(run)
    await judge_run(
        workspace, run, Jury("board", (LEXICAL, STRICT, LexicalJudge("lexical:lenient")))
    )
    workspace.verdicts.label_item(trial.id, Item(kind=ItemKind.TRIPLE), "Ana", LabelValue.NO)
    effect = effect_of(workspace, [run], "board")
    assert effect.judges == ("board",)
    [recall] = [
        one
        for one in effect.groups[0].measures
        if (one.name, one.taken) == ("triplet_recall", "avg")
    ]
    assert (recall.judge.value, recall.people.value) == (3 / 6, 2 / 6)


async def test_an_exam_of_a_jury_is_of_the_jury(workspace: Workspace) -> None:
    workspace.tasks.save(graph_task(), author="ann")
    jury = Jury(
        "board", (LEXICAL, STRICT), Weights({"lexical": (9, -1), "lexical:strict": (1, -1)})
    )
    settings = JuryConfig(
        kind="jury", members=("lexical", "lexical:strict"), weights=dict(jury.weights.of)
    )
    config = EMBEDDED.model_copy(update={"judges": {**EMBEDDED.judges, "board": settings}})
    plan = plan_exam(workspace, jury, ["makers"], config=config)
    assert (plan.calls, plan.left) == (0, plan.inputs)
    run, failures = await run_exam(workspace, plan, jury, ModelHub(config), config=config, by="Ana")
    assert failures == ()
    assert plan_exam(workspace, jury, ["makers"], config=config).left == 0
    found = read_exam(workspace, run.id)
    assert found.setting.judge == jury.ref
    alone = plan_exam(workspace, LEXICAL, ["makers"], config=config)
    sat, _failures = await run_exam(
        workspace, alone, LEXICAL, ModelHub(config), config=config, by="Ana"
    )
    # What the lexical judge says decides here.
    told, same = Card(found).figures, Card(read_exam(workspace, sat.id)).figures
    assert (told.sensitivity, told.specificity) == (same.sensitivity, same.specificity)
    # Of a member that is configured otherwise it would be another exam.
    configs = player_configs(config, judges=("board",))
    assert set(configs) == {"judges/board", "judges/lexical", "judges/lexical:strict"}
    other = {**configs, "judges/lexical": {"kind": "lexical", "more": 1}}
    assert exam_stamp(jury.ref, other) != exam_stamp(jury.ref, configs)


async def test_what_a_member_leaves_open_can_leave_the_jury_open(workspace: Workspace) -> None:
    class Silent(LexicalJudge):
        async def judge(self, task, prediction, context):
            made = await super().judge(task, prediction, context)
            left = tuple(
                verdict.model_copy(update={"decision": Decision.UNJUDGED})
                for verdict in made.verdicts
            )
            return made.model_copy(update={"verdicts": left, "judge": self.ref})

    run = ended_run(workspace, graph_task(), [HALF])
    (trial,) = workspace.runs.trials(run)
    jury = Jury("board", (LEXICAL, STRICT, Silent("lexical:noisy")))
    record = await judge_trial(workspace, trial.id, jury)
    # Two of three agree; the third could not change it.
    assert all(verdict.decision is not Decision.UNJUDGED for verdict in record.judgement.verdicts)
    weights = dict.fromkeys(("lexical", "lexical:strict", "lexical:noisy"), (1.0, -1.0))
    record = await judge_trial(workspace, trial.id, replace(jury, weights=Weights(weights)))
    assert all(verdict.decision is Decision.UNJUDGED for verdict in record.judgement.verdicts)
    assert "lexical:noisy: left open" in record.judgement.verdicts[0].rationale


BOARD = JuryConfig(kind="jury", members=("lexical:noisy", "lexical", "lexical:strict"))
WITH_BOARD = EMBEDDED.model_copy(update={"judges": {**EMBEDDED.judges, "board": BOARD}})


async def test_a_run_that_was_entered_with_a_jury_is_read_by_the_jury(workspace: Workspace) -> None:
    """Its members judge before it does, and still what it says is what is drawn from and shown."""
    task = next(task for task in load_samples() if task.id == "graph-astronomy-zh")
    workspace.tasks.save(task, author="ann")
    plan = RunPlan(
        name="by a jury",
        tasks=(task.id,),
        agents=("offline:wordy",),
        samples=2,
        settings=RunSettings(judges=("board",)),
    )
    run = (await start_run(workspace, plan, by="ann", config=WITH_BOARD)).run.id
    trials = [trial.id for trial in workspace.runs.trials(run)]

    def said_by(judge: str) -> dict[tuple[int, str], Decision]:
        return {
            (one.trial_id, key): {word[0]: word for word in Decision}[letter]
            for one in workspace.verdict_pages.marks([run], judge)
            for key, letter in zip(one.keys, one.decisions, strict=True)
        }

    said = said_by("board")
    assert said != said_by("lexical:noisy")
    units = population_of(workspace, SamplingPlan(runs=(run,), n=3))
    assert {(unit.trial_id, unit.item.key): unit.decision for unit in units} == said
    for trial in trials:
        found = decisions_of(workspace, trial, [ItemKind.TRIPLE])
        assert {(trial, one.item.key): one.value for one in found}.items() <= said.items()
        assert {one.by.name for one in found} == {"board"}


async def test_a_jury_has_no_vote_beside_its_members(workspace: Workspace) -> None:
    run = ended_run(workspace, graph_task(), [HALF, ALL, HALF])
    trials = [trial.id for trial in workspace.runs.trials(run)]
    both = "lexical:noisy", "lexical"
    for name in both:
        await judge_run(workspace, run, LexicalJudge(name))
    plan = SamplingPlan(runs=(run,), n=3, strata=("judges",))

    def told():
        pool = gather(workspace, [run], ["lexical"])
        split = {one.task.id: one.block.split for one in survey(workspace, pool, items=True).tasks}
        units = population_of(workspace, plan)
        return split, {(unit.trial_id, unit.item.key): sorted(unit.votes) for unit in units}

    before = told()
    assert any(len(set(votes)) > 1 for votes in before[1].values())
    weights = Weights({both[0]: (1.0, -1.0), both[1]: (3.0, -3.0)})
    await judge_run(workspace, run, Jury("board", tuple(map(LexicalJudge, both)), weights))
    assert sorted(names(workspace, trials[0])) == ["board", "lexical", "lexical:noisy"]
    assert told() == before


async def test_a_run_judged_by_a_jury_is_rescored_by_it(workspace: Workspace) -> None:
    """Only what changed is asked, of all members; another jury of that name is refused."""
    run = ended_run(workspace, graph_task(), [HALF, ALL])
    jury = Jury("board", (LEXICAL, STRICT, LexicalJudge("lexical:lenient")))
    await judge_run(workspace, run, jury)
    workspace.tasks.save(graph_task(gold=[*GOLD[:-1], ("Ada", "lives in", "Paris")]), author="ann")
    plan = plan_rescoring(workspace, run, judges=("board",))
    with pytest.raises(NotAllowed):
        await rescore_run(workspace, plan, (replace(jury, members=jury.members[:1]),), by="ann")
    done = await rescore_run(workspace, plan, (jury,), by="ann")
    assert done.failed == ()
    before, after = (score_run(workspace, id, "board").trials for id in (run, done.run.id))
    assert [each.scores["triplet_recall"] for each in before] == [3 / 6, 1]
    assert [each.scores["triplet_recall"] for each in after] == [3 / 6, 5 / 6]
    again = workspace.verdicts.of_trial(after[1].trial.id)[0].judgement
    assert again.judge == jury.ref
    assert again.verdicts[-1].rationale == "lexical: no, lexical:strict: no, lexical:lenient: no"
