"""Outcomes side by side, and answers of the form held against scores."""

from __future__ import annotations

import pytest

from cuecard.annotate.fidelity.detail_tables import sizes_table
from cuecard.annotate.fidelity.inputs import Scope
from cuecard.annotate.fidelity.report import fidelity_of
from cuecard.annotate.fidelity.tables import circumstances, fidelity_tables
from cuecard.core.engine.events import Termination
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.errors import NotFound
from cuecard.core.tasks.base import FormQuestion
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from fidelity_planted import ENGLISH
from fidelity_sessions import AGENT, ANN, SLOPPY, samples, session, turns_of

BO = PlayerRef(name="Bo", kind="human")
OTHER = PlayerRef(name="other", kind="react", model="seeker-2")
LEXICAL = PlayerRef(name="lexical", kind="lexical", baseline=True)
STRICT = PlayerRef(name="strict", kind="model", model="large")
FORM = (
    FormQuestion(key="effort", label="How much work was it?"),
    FormQuestion(key="satisfaction", label="How content are you?"),
    FormQuestion(key="words", label="Anything else?", kind="text"),
)


def judge(workspace: Workspace, trial: int, covered: int, by: PlayerRef = LEXICAL) -> None:
    """The first triples of four are covered."""
    verdicts = tuple(
        Verdict(
            item=Item(kind=ItemKind.TRIPLE, index=n),
            decision=Decision.YES if n < covered else Decision.NO,
        )
        for n in range(4)
    )
    workspace.verdicts.add(trial, Judgement(judge=by, verdicts=verdicts))


def play(
    workspace: Workspace,
    task_id: str,
    turns: int,
    covered: int | None,
    *,
    user: PlayerRef = ANN,
    agent: PlayerRef = AGENT,
    end: Termination | None = Termination.USER_DONE,
) -> int:
    """A trial of espresso under another id: `turns` replies of the agent; its judgement."""
    sample = samples()["espresso"]
    gold = sample.gold.model_copy(update={"triples": sample.gold.triples[:4], "nodes": ()})
    task = sample.model_copy(update={"id": task_id, "gold": gold})
    dialogue = turns_of(task, ENGLISH[:turns])
    trial = session(workspace, task, dialogue, user=user, agent=agent, end=end)
    if covered is not None:
        judge(workspace, trial, covered)
    return trial


@pytest.fixture
def played(workspace: Workspace) -> Workspace:
    """Two tasks that people and a simulator played with the same agent, others without a partner."""
    play(workspace, "one", 2, 4)
    play(workspace, "one", 4, 2, user=BO)
    play(workspace, "one", 2, 1, user=SLOPPY, end=Termination.MAX_TURNS)
    play(workspace, "two", 4, 4)
    play(workspace, "two", 6, 3, user=SLOPPY)
    play(workspace, "two", 4, 1, user=SLOPPY)
    play(workspace, "two", 2, 1, user=SLOPPY, agent=OTHER)
    play(workspace, "three", 2, 1)
    play(workspace, "two", 2, None, user=SLOPPY, end=None)
    return workspace


def test_outcomes_are_paired_by_task_agent_and_world(played: Workspace):
    report = fidelity_of(played, Scope(), resamples=50)
    (outcome,) = report.outcomes
    assert (outcome.simulator, outcome.judge, outcome.tasks) == (SLOPPY, "lexical", 2)
    assert outcome.baselines == ("closed", "lexical")
    assert (outcome.people_trials, outcome.simulator_trials) == (3, 3)
    assert (outcome.only_people, outcome.only_simulator) == (1, 1)
    assert outcome.people_ends == {"user_done": 3}
    assert outcome.simulator_ends == {"user_done": 2, "max_turns": 1}
    cells = {cell.task_id: cell for cell in outcome.cells}
    # Recall of people on the first task: (1 + 1/2) / 2.
    assert cells["one"].people["triplet_recall"] == pytest.approx(0.75)
    assert cells["two"].simulator["triplet_recall"] == pytest.approx(0.5)
    recall = outcome.measure("triplet_recall")
    assert recall is not None
    assert (recall.people.value, recall.simulator.value) == (
        pytest.approx((0.75 + 1) / 2),
        pytest.approx((0.25 + 0.5) / 2),
    )
    assert recall.difference.value == pytest.approx(-0.5)
    assert (recall.difference.n, recall.difference.no_interval) == (2, "fewer than 5 groups")
    # Stages after 2, 4, 6 replies: 2, 3, 4 of 12.
    share = outcome.measure("stage_share")
    assert share is not None
    assert share.people.value == pytest.approx(((2 + 3) / 2 + 3) / 2 / 12)
    assert share.simulator.value == pytest.approx((2 + (4 + 3) / 2) / 2 / 12)
    turns = outcome.measure("agent_turns")
    assert turns is not None
    assert turns.difference.value == pytest.approx((2 + 5) / 2 - (3 + 4) / 2)


def test_one_judge_counts_and_scopes_hold(played: Workspace):
    for trial in (1, 3):
        judge(played, trial, 0, STRICT)
    (strict,) = fidelity_of(played, Scope(), "strict", resamples=20).outcomes
    recall = strict.measure("triplet_recall")
    assert recall is not None
    assert (recall.people.value, recall.people.n, strict.judge) == (0, 1, "strict")
    (of_bo,) = fidelity_of(played, Scope(people=("Bo",)), resamples=20).outcomes
    assert (of_bo.people_trials, of_bo.tasks) == (1, 1)
    assert fidelity_of(played, Scope(simulators=("careful",)), resamples=20).outcomes == ()
    # People played neither this task nor with this agent.
    assert fidelity_of(played, Scope(runs=(7, 8)), resamples=20).outcomes == ()
    (apart,) = fidelity_of(played, Scope(runs=(4, 7)), resamples=20).outcomes
    assert (apart.cells, apart.only_people, apart.only_simulator) == ((), 1, 1)
    titles = [s.title for s in fidelity_tables(fidelity_of(played, Scope(runs=(4, 7))))]
    assert titles[-1] == "Outcome: sloppy (small) and people"
    with pytest.raises(NotFound, match="judges here: lexical, strict"):
        fidelity_of(played, Scope(), "nobody")
    play(played, "one", 2, 1, agent=OTHER)
    play(played, "one", 2, 1, user=SLOPPY, agent=OTHER)
    agents = [found.agent for found in fidelity_of(played, Scope(), resamples=20).outcomes]
    assert agents == ["", "other", "seeker"]


def test_answers_are_held_against_scores(workspace: Workspace):
    answers = {1: 2, 2: 4, 3: 5, 4: 7}
    for task in ("a", "b", "c", "d", "e"):
        for covered, answer in answers.items():
            trial = play(workspace, task, 2, covered)
            workspace.session_forms.add(
                trial, "Ann", FORM, {"satisfaction": answer, "effort": 3, "words": "fine"}
            )
    # The newest of a person counts; one without an answer to a scale is no session of it.
    workspace.session_forms.add(1, "Ann", FORM, {"satisfaction": 2, "effort": 3, "words": ""})
    workspace.session_forms.add(play(workspace, "a", 2, 2), "Bo", FORM, {"effort": 3})
    workspace.session_forms.add(play(workspace, "a", 2, None), "Bo", FORM, {"satisfaction": 6})
    report = fidelity_of(workspace, Scope(), resamples=50)
    meaning = report.meaning
    assert meaning is not None
    assert (meaning.judge, meaning.sessions, meaning.scored) == ("lexical", 22, 21)
    assert (meaning.people, meaning.baselines) == (("Ann", "Bo"), ("closed", "lexical"))
    assert list(dict.fromkeys(c.scale for c in meaning.correlations)) == ["satisfaction", "effort"]
    recall = next(c for c in meaning.of("satisfaction") if c.measure == "triplet_recall")
    assert (recall.sessions, recall.tasks, recall.spearman.value) == (20, 5, pytest.approx(1))
    assert (recall.kendall.value, recall.kendall_within.value) == (pytest.approx(1), 1)
    assert recall.spearman.no_interval == "no resample differs"
    assert recall.points[0].model_dump() == {
        "trial_id": 1,
        "task_id": "a",
        "person": "Ann",
        "x": 2,
        "y": 0.25,
    }
    share = next(c for c in meaning.of("satisfaction") if c.measure == "stage_share")
    assert (share.sessions, share.spearman.reason) == (21, "all scores are the same")
    effort = next(c for c in meaning.of("effort") if c.measure == "triplet_recall")
    assert effort.kendall.reason == "all answers are the same"
    tables = [table for table in fidelity_tables(report) if table.view == "meaning"]
    assert [table.title for table in tables] == [
        "“How content are you?” and the scores",
        "“How content are you?” and the scores, within tasks",
        "“How much work was it?” and the scores",
        "“How much work was it?” and the scores, within tasks",
    ]
    cells = tables[0].lines[0]
    assert [cell.place for cell in cells] == [meaning.correlations[0]] * 4
    assert cells[2].statistic == meaning.correlations[0].spearman
    assert tables[1].lines[0][3].statistic == meaning.correlations[0].kendall_within
    notes = " ".join(tables[0].notes)
    assert "22 sessions have a form, 21 of them scores by judge lexical." in notes
    assert "Offline baselines take part: closed, lexical." in notes


def test_tables_in_reading_order(reported):
    tables = fidelity_tables(reported.report, worst=3)
    views = list(dict.fromkeys(table.view for table in tables))
    assert views == ["cues", "findings", "worst"]
    first = tables[0]
    assert first.title == "Cues met or not: simulators and people"
    assert [line[0].text for line in first.lines] == ["careful (large)", "sloppy (small)"]
    assert first.lines[1][1].text == "19 (2)"
    worst = tables[-1]
    assert (len(worst.lines), worst.title) == (3, "Worst turns: 3 of 28")
    assert [cell.text for cell in worst.lines[0]] == [
        "trial 1, turn 5",
        "sloppy (small)",
        "gives gold away (Luigi Bezzera)",
        "not met",
        "not met",
    ]
    assert "Simulators: careful (large), sloppy (small). People: Ann." in circumstances(
        reported.report
    )
    assert [len(line) for table in tables for line in table.lines] == [
        len(table.headings) for table in tables for _line in table.lines
    ]


def test_the_table_of_sizes():
    table = sizes_table((0.3, 0.5), sessions=(89,))
    assert [[cell.text for cell in line] for line in table.lines] == [
        ["0.3", "89", "40"],
        ["0.5", "33", "16"],
    ]
    assert table.title == "Sessions needed, two-sided at 0.05, with a power of 80%"
    assert table.notes[1] == "With 89 sessions: Spearman 0.299 or more, Kendall 0.198 or more."
