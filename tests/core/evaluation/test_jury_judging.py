"""A jury judges a run from its members' own judgements: each is made once, and can be opened beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cuecard.annotate.labelling.comparison import effect_of
from cuecard.annotate.results.judge_card import Card
from cuecard.core.config import EMBEDDED
from cuecard.core.config_players import JuryConfig
from cuecard.core.evaluation.exam import exam_stamp, plan_exam, read_exam, run_exam
from cuecard.core.evaluation.judging import judge_run, judge_trial
from cuecard.core.evaluation.plans import player_configs
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
