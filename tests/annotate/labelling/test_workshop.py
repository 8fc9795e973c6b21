"""The judge workshop: labels that only measure, prompts that hold gold, juries, drift, and examples that people decided."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest

from cuecard.annotate.labelling.comparison_inputs import Case, ComparisonInputs, Scope, gather
from cuecard.annotate.labelling.drift import drift_table, drifts_of
from cuecard.annotate.labelling.judge_examples import corrections, write_examples
from cuecard.annotate.labelling.workshop import (
    by_judge,
    by_jury,
    figures_of,
    is_held_out,
    leaks_of,
    tables_of_workshop,
    weights_of,
    workshop_tables,
)
from cuecard.annotate.results.judge_card import Card, blocks, exam_notes, examined
from cuecard.annotate.results.pool import gather as gather_pool
from cuecard.annotate.results.report_formats import TermsBlock
from cuecard.core.config import EMBEDDED, parse_prompt
from cuecard.core.config_models import ModelConfig, Price
from cuecard.core.config_players import JuryConfig, ModelJudgeConfig
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.players import build_judge
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.exam import plan_exam, read_exam, run_exam
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.judges.jury import by_majority
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.label_records import JudgementRecord, LabelValue
from cuecard.core.llm.hub import ModelHub
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from judge_scripts import good
from judged_trials import ended_run, graph_task, triples
from openai_server import OpenAIServer

FLIP = {"yes": "no", "no": "yes"}
HELD = [f"t{n}" for n in range(60) if is_held_out(f"t{n}")]
TUNING = [f"t{n}" for n in range(60) if not is_held_out(f"t{n}")]


def test_the_split_is_by_task_and_for_ever():
    share = sum(is_held_out(f"task-{n}") for n in range(2000)) / 2000
    assert share == pytest.approx(0.6, abs=0.04)
    # Another rule would hand labels that tuned a judge over to those that measure it.
    assert (HELD[:3], TUNING[:3]) == (["t0", "t1", "t2"], ["t3", "t7", "t8"])


def planted(errors: dict[str, float], seed: int = 0) -> ComparisonInputs:
    """Items of sixty tasks; each judge errs with its share."""
    rng = random.Random(seed)
    cases: list[Case] = []
    for task in (*HELD, *TUNING):
        for n in range(8):
            truth = rng.choice(("yes", "no"))
            decisions = {
                judge: FLIP[truth] if rng.random() < share else truth
                for judge, share in errors.items()
            }
            item = Item(kind=ItemKind.TRIPLE, index=n)
            cases.append(
                Case(len(cases), item, task=task, decisions=decisions, labels={"Ana": truth})
            )
    return ComparisonInputs("gold", tuple(cases), tuple(errors), ("Ana",))


def test_versions_are_measured_on_held_out_labels_alone():
    inputs = planted({"old": 0.3, "new": 0.1})
    versions, differences, _juries = workshop_tables(inputs)
    (old, new) = versions.lines
    assert old[1].value == len(HELD) * 8
    assert old[3].number < new[3].number
    held = [case for case in inputs.cases if is_held_out(case.task)]
    assert new[2].number == pytest.approx(
        sum(case.decisions["new"] == case.labels["Ana"] for case in held) / len(held)
    )
    # Labels that tune may say anything: nothing of it reaches what measures.
    spoilt = replace(
        inputs,
        cases=tuple(
            case if is_held_out(case.task) else replace(case, labels={"Ana": "yes"})
            for case in inputs.cases
        ),
    )
    assert workshop_tables(spoilt)[0].lines[1][3].number == new[3].number
    apart, first, second = (cell.value for cell in differences.lines[0][1:])
    assert apart == first + second
    assert second > first


def test_a_jury_of_three_beats_each_and_says_what_each_adds():
    inputs = planted({"a": 0.25, "b": 0.25, "c": 0.1})
    held = [case for case in inputs.cases if is_held_out(case.task)]
    tuning = [case for case in inputs.cases if not is_held_out(case.task)]
    names = ("a", "b", "c")
    alone = {name: figures_of(by_judge(name), held)["kappa"].value for name in names}
    majority = figures_of(by_jury(names, by_majority), held)["kappa"].value
    weighted = figures_of(by_jury(names, weights_of(names, tuning)), held)["kappa"].value
    assert majority > max(alone["a"], alone["b"])
    assert weighted >= majority
    juries = workshop_tables(inputs)[2]
    assert [line[0].text for line in juries.lines] == [
        "all, by majority",
        "all, by weight",
        "without a, by weight",
        "without b, by weight",
        "without c, by weight",
    ]
    assert float(juries.lines[-1][6].text) > float(juries.lines[2][6].text)


@pytest.mark.parametrize("votes", [*product(["yes", "no", ""], repeat=3)])
def test_a_jury_says_what_no_missing_vote_could_change(votes):
    case = Case(1, Item(kind=ItemKind.TRIPLE), decisions=dict(zip("abc", votes, strict=True)))
    most = max(votes, key=votes.count)
    assert by_jury("abc", by_majority)(case) == (most if votes.count(most) > 1 else "")
    assert (by_jury("abc", weights_of("abc", ()))(case) == "") == ("" in votes)


def test_gold_of_held_out_items_in_a_prompt_is_told_and_left_out():
    inputs = planted({"old": 0.3, "new": 0.1})
    held = [case for case in inputs.cases if is_held_out(case.task)]
    texts = {case.name: f"maker {case.name} founded in 1900" for case in held}
    leaks = leaks_of({"new": [f"Example: {texts[held[0].name]}."], "old": ["none"]}, held, texts)
    assert [(leak.judge, leak.cases) for leak in leaks] == [("new", {held[0].name})]
    versions = workshop_tables(inputs, leaks)[0]
    assert versions.lines[0][1].value == len(held) - 1
    assert any("new: its prompt holds the gold of 1" in note for note in versions.notes)


def record(number: int, values: str, *, prompt: str = "p", model: str = "m") -> JudgementRecord:
    verdicts = tuple(
        Verdict(
            item=Item(kind=ItemKind.TRIPLE, index=n),
            decision=Decision.YES if value == "y" else Decision.NO,
        )
        for n, value in enumerate(values)
    )
    judge = PlayerRef(name="j", kind="model", model=model)
    return JudgementRecord(
        id=number,
        trial_id=1,
        created_at=datetime(2026, number, 1, tzinfo=UTC),
        judgement=Judgement(judge=judge, verdicts=verdicts, prompt_hash=prompt),
    )


def test_drift_is_between_the_first_and_the_last_of_one_stamp():
    case = Case(
        1, Item(kind=ItemKind.TRIPLE, index=0), task="t", labels={"Ana": "yes"}, decisions={}
    )
    records = [
        record(9, "yyny"),
        record(2, "nyyy"),
        record(5, "nnnn"),
        record(6, "nnnn", prompt="q"),
        record(7, "nnnn", model="other"),
    ]
    (drift,) = drifts_of(records, lambda _id: "t", [case])
    assert (drift.since.month, drift.until.month) == (2, 9)
    (line,) = drift_table([drift]).lines
    assert [cell.value for cell in line[5:]] == [1, 1, 1, 0]
    assert line[4].number == 0.5
    assert drift_table(()) is None


@pytest.fixture
def corrected(workspace):
    """Two judges' verdicts on makers of two tasks, one held out and one not, which people correct on every other item."""
    runs: list[int] = []
    for id_ in (TUNING[0], HELD[0]):
        gold = [(f"maker {id_} {n}", "founded in", str(1900 + n)) for n in range(6)]
        run = ended_run(workspace, graph_task(id_, gold), [triples(*gold)])
        runs.append(run)
        (trial,) = workspace.runs.trials(run)
        for judge in ("strict", "lexical"):
            verdicts = tuple(
                Verdict(item=Item(kind=ItemKind.TRIPLE, index=n), decision=Decision.YES)
                for n in range(6)
            )
            ref = PlayerRef(name=judge, kind="model", model="m")
            workspace.verdicts.add(trial.id, Judgement(judge=ref, verdicts=verdicts))
        for n in range(6):
            value = LabelValue.NO if n % 2 else LabelValue.YES
            item = Item(kind=ItemKind.TRIPLE, index=n)
            workspace.verdicts.label_item(trial.id, item, "Ana", value, comment=f"since {n}")
    return gather(workspace, Scope(runs=tuple(runs), subject="gold"))


def config_with(*judges: str):
    return EMBEDDED.model_copy(
        update={
            "models": {"m": ModelConfig(base_url="http://127.0.0.1:1", model="m")},
            "judges": {
                **EMBEDDED.judges,
                **{name: ModelJudgeConfig(kind="model", model="m") for name in judges},
            },
        }
    )


def test_examples_come_from_tuning_tasks_and_make_a_prompt(workspace, corrected, tmp_path):
    wrong = corrections(corrected, "strict")
    assert {case.task for case in wrong} == {TUNING[0]}
    config = config_with("strict")
    (file,), told = write_examples(
        workspace, corrected, "strict", config, tmp_path / "prompts", most=2
    )
    assert file.name == "judge_graph.en.md"
    assert [(one.decision, one.reason) for one in told] == [("no", "since 1"), ("no", "since 3")]
    prompt = parse_prompt(file.read_text(encoding="utf-8"), str(file))
    assert HELD[0] not in prompt.text
    assert f"maker {TUNING[0]} 1" in prompt.text
    assert prompt.text.index("- gold:") < prompt.text.index("<material>")
    assert prompt.version.endswith("+2")
    # A judge that uses it is measured, and the guard finds nothing to leave out.
    own = ModelJudgeConfig(kind="model", model="m", prompts={"judge_graph": str(file)})
    using = config.model_copy(update={"judges": {**config.judges, "strict": own}})
    versions = tables_of_workshop(workspace, corrected, using, examined)[0]
    assert versions.lines[0][1].value == 6
    leaked = file.with_name("leaked.md")
    text = file.read_text(encoding="utf-8").replace(f"maker {TUNING[0]} 1", f"maker {HELD[0]} 1")
    leaked.write_text(text, encoding="utf-8")
    own = ModelJudgeConfig(kind="model", model="m", prompts={"judge_graph": str(leaked)})
    using = config.model_copy(update={"judges": {**config.judges, "strict": own}})
    versions = tables_of_workshop(workspace, corrected, using, examined)[0]
    assert versions.lines[0][1].value == 5


def test_a_judge_without_a_prompt_or_without_corrections_is_told(workspace, corrected, tmp_path):
    with pytest.raises(CuecardError, match="no prompt"):
        write_examples(workspace, corrected, "lexical", EMBEDDED, tmp_path)
    right = replace(
        corrected, cases=tuple(replace(case, labels={"Ana": "yes"}) for case in corrected.cases)
    )
    with pytest.raises(CuecardError, match="nothing to learn"):
        write_examples(workspace, right, "strict", config_with("strict"), tmp_path)


def test_judging_again_shows_what_moved(workspace, corrected):
    """Only trials that one judge judged twice are read, however many others there are."""
    trial = min(case.trial_id for case in corrected.cases)
    run = workspace.runs.trial(trial).run_id
    assert workspace.verdicts.repeated([run]) == []
    (before,) = [
        record.judgement
        for record in workspace.verdicts.of_trial(trial)
        if record.judgement.judge.name == "strict"
    ]
    moved = tuple(
        verdict.model_copy(update={"decision": Decision.NO}) if at == 1 else verdict
        for at, verdict in enumerate(before.verdicts)
    )
    workspace.verdicts.add(trial, before.model_copy(update={"verdicts": moved}))
    assert [r.judgement.judge.name for r in workspace.verdicts.repeated([run])] == ["strict"] * 2
    drift = tables_of_workshop(workspace, corrected, config_with("strict"), examined)[-1]
    (line,) = drift.lines
    # No to yes, yes to no, towards people (who refuse every other item), away from them.
    assert [cell.value for cell in line[5:]] == [0, 1, 1, 0]


async def test_a_version_has_its_own_exam_beside_it(workspace, corrected):
    """Only that of exactly this judge: neither of another model, nor of one of the same name that judged as another."""
    judge = LexicalJudge()
    versions = tables_of_workshop(workspace, corrected, EMBEDDED, examined)[0]
    assert [line[4].text for line in versions.lines] == ["not examined"] * 2
    assert "`cuecard exam lexical`, `cuecard exam strict`" in versions.notes[-1]
    trials = {case.trial_id for case in corrected.cases}
    runs = sorted({workspace.runs.trial(trial).run_id for trial in trials})
    assert not exam_notes(workspace, gather_pool(workspace, runs, ["lexical"]))
    (prose,) = blocks(workspace, gather_pool(workspace, runs, ["lexical"]))
    assert "it sat none" in prose.text
    plan = plan_exam(workspace, judge, [TUNING[0], HELD[0]], config=EMBEDDED)
    sat, _failures = await run_exam(
        workspace, plan, judge, ModelHub(EMBEDDED), config=EMBEDDED, by="Ana"
    )
    # What judged here was called lexical, and was a model.
    versions = tables_of_workshop(workspace, corrected, EMBEDDED, examined)[0]
    assert [line[4].text for line in versions.lines] == ["not examined"] * 2
    (note,) = exam_notes(workspace, gather_pool(workspace, runs, ["lexical"]))
    assert note.endswith("were of another model, prompt or settings than it judged by here.")
    await judge_run(workspace, runs[0], judge, again=True)
    # These runs were entered without it, so that nothing but its verdicts tells what it is.
    pool = gather_pool(workspace, runs[:1], ["lexical"])
    (note,) = exam_notes(workspace, pool)
    assert Card(read_exam(workspace, sat.id)).sentence() in note
    told = next(block for block in blocks(workspace, pool) if isinstance(block, TermsBlock))
    assert told.title == "Exam of the judge lexical"
    versions = tables_of_workshop(workspace, corrected, EMBEDDED, examined)[0]
    assert [line[4].text for line in versions.lines] == ["several versions", "not examined"]
    await judge_run(workspace, runs[1], judge, again=True)
    versions = tables_of_workshop(workspace, corrected, EMBEDDED, examined)[0]
    card = Card(read_exam(workspace, sat.id))
    wrong = [probe for probe in card.figures.probes.values() if probe.probe.right is False]
    asked, missed = sum(p.n for p in wrong), sum(len(p.misses) for p in wrong)
    cell = versions.lines[0][4]
    assert cell.text == f"{asked - missed} of {asked}, {len(card.figures.faults)} faults"
    assert cell.place.run == sat.id
    assert f"lexical: {card.sentence()}" in versions.notes


async def test_a_jury_costs_what_its_members_cost(workspace):
    gold = [(f"maker {n}", "founded in", str(1900 + n)) for n in range(6)]
    run = ended_run(workspace, graph_task(HELD[0], gold), [triples(*gold), triples(*gold[:3])])
    for trial in workspace.runs.trials(run):
        workspace.verdicts.label_item(trial.id, Item(kind=ItemKind.TRIPLE), "Ana", LabelValue.YES)
    members = ("sage", "seer", "lexical")
    async with OpenAIServer(good) as server:
        models = {
            name: ModelConfig(
                base_url=server.url, model=name, price=Price(prompt=price, completion=price)
            )
            for name, price in (("one", 1), ("two", 3))
        }
        judges = {
            "sage": ModelJudgeConfig(kind="model", model="one"),
            "seer": ModelJudgeConfig(kind="model", model="two"),
            "board": JuryConfig(kind="jury", members=members),
        }
        config = EMBEDDED.model_copy(
            update={"models": models, "judges": {**EMBEDDED.judges, **judges}}
        )
        hub = ModelHub(config)
        await judge_run(workspace, run, build_judge("board", config, hub))

        def told(config=config):
            inputs = gather(workspace, Scope(runs=(run,), subject="gold"))
            versions = tables_of_workshop(workspace, inputs, config, examined)[0]
            return versions, {line[0].text.split()[0]: line[-1] for line in versions.lines}

        versions, costs = told()
        assert costs["seer"].number == pytest.approx(3 * costs["sage"].number)
        assert costs["board"].number == pytest.approx(4 * costs["sage"].number)
        assert costs["lexical"].text == "–"
        note = "board: its cost is that of its members, sage, seer, lexical, who judge in their own names."
        assert note in versions.notes
        # Whose members are not known has no cost, and says so.
        versions, costs = told(config.model_copy(update={"judges": EMBEDDED.judges}))
        assert costs["board"].text == "–"
        assert any(note.startswith("board: what it costs is not known") for note in versions.notes)
        # A judge that is no member, and uses the same model, makes it unknown which calls were whose.
        other = ModelJudgeConfig(kind="model", model="two")
        more = config.model_copy(update={"judges": {**config.judges, "other": other}})
        await judge_run(workspace, run, build_judge("other", more, hub))
        _versions, costs = told(more)
        assert costs["sage"].number is not None
        assert costs["board"].statistic.reason == "several judges use its model"
        await hub.close()
