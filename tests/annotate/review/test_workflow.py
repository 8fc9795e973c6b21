"""Random people do random things: only what the rules allow succeeds, and nobody sees too much."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.review import assignment, reviewing, workflow
from cuecard.annotate.review.workflow import DIMENSIONS, EMBEDDED_PROTOCOL, protocol_of
from cuecard.annotate.waiting import pending_for
from cuecard.core.config_schema import Config, DimensionConfig, ReviewConfig
from cuecard.core.contributions import Action, PinnedComment, ReviewDecision, TaskState
from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.records import Review
from cuecard.core.tasks.gold import FAMILIES
from cuecard.store.workspace import Workspace

pytestmark = pytest.mark.both_databases


def test_without_a_configuration_the_protocol_is_the_embedded_one() -> None:
    protocol = protocol_of(Config())
    assert protocol.stamp == EMBEDDED_PROTOCOL.stamp
    assert protocol.stamp.startswith("1-")
    assert all(protocol.dimensions(family) == DIMENSIONS[family] for family in DIMENSIONS)


def test_a_family_that_is_configured_replaces_its_dimensions_and_changes_the_stamp() -> None:
    own = DimensionConfig(key="clarity", label="Is it clear?")
    config = Config(
        review=ReviewConfig(
            version="2026-1", dimensions={"facts": (own,)}, lease_hours=24, coordinators=("Cleo",)
        )
    )
    protocol = protocol_of(config)
    assert [(d.key, d.label, d.help) for d in protocol.dimensions("facts")] == [
        ("clarity", "Is it clear?", "")
    ]
    assert protocol.dimensions("graph") == DIMENSIONS["graph"]
    assert protocol.lease == timedelta(hours=24)
    assert protocol.coordinators == {"Cleo"}
    version, _dash, digest = protocol.stamp.rpartition("-")
    assert version == "2026-1"
    assert digest != EMBEDDED_PROTOCOL.stamp.rpartition("-")[2]
    # The hash is over what is rated, so a list that changed under an old version shows.
    same = protocol_of(config.model_copy(update={"review": ReviewConfig()}))
    assert same.stamp == EMBEDDED_PROTOCOL.stamp


def test_the_protocol_is_known_without_loading_what_linters_and_results_know_of_families() -> None:
    asked = (
        "import sys; from cuecard.core.config_schema import Config;"
        "from cuecard.annotate.review.workflow import protocol_of; protocol_of(Config());"
        "print(*(name for name in sys.modules if '.annotate.lint' in name or '.results' in name))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)
    assert not done.stdout.strip()


KEYS = [dimension.key for dimension in DIMENSIONS["facts"]]
PEOPLE = ["ann", "bob", "cho", "dee", "eva"]
NOW = datetime.now(UTC)
_numbers = count()


def make_review(task_id: str, revision: int, person: str, decision: str = "approve", **changes):
    ratings = dict.fromkeys(KEYS, "pass") | changes.pop("ratings", {})
    told = changes.pop("comments", [("", "please mend")] if decision == "return" else [])
    comments = [PinnedComment(place=place, text=text) for place, text in told]
    return Review(
        task_id=task_id,
        revision=revision,
        reviewer=person,
        ratings=ratings,
        decision=ReviewDecision(decision),
        comments=tuple(comments),
        created_at=datetime.now(UTC),
        **changes,
    )


@dataclass
class Model:
    """The rules, told once more in the simplest way."""

    state: TaskState = TaskState.DRAFT
    head: int = 1
    authors: set[str] = field(default_factory=lambda: {"ann"})
    reviews: dict[int, dict[str, str]] = field(default_factory=dict)

    def here(self) -> dict[str, str]:
        return self.reviews.setdefault(self.head, {})

    def allows(self, action: str, person: str) -> bool:
        match action:
            case "save":
                return self.state is not TaskState.RETIRED
            case "submit":
                possible = self.state in (TaskState.DRAFT, TaskState.RETURNED)
                return possible and person in self.authors and len(self.here()) < 2
            case "withdraw":
                return self.state is TaskState.IN_REVIEW and person in self.authors
            case "reopen":
                return self.state is TaskState.APPROVED and person in self.authors
            case "approve" | "return":
                free = person not in self.authors and person not in self.here()
                return self.state is TaskState.IN_REVIEW and free and len(self.here()) < 2
            case _:
                raise AssertionError(action)

    def apply(self, action: str, person: str) -> None:
        match action:
            case "save":
                self.head += 1
                self.authors.add(person)
                self.state = TaskState.DRAFT
            case "submit":
                self.state = TaskState.IN_REVIEW
            case "withdraw" | "reopen":
                self.state = TaskState.DRAFT
            case _:
                self.here()[person] = action
                if len(self.here()) == 2:
                    returned = "return" in self.here().values()
                    self.state = TaskState.RETURNED if returned else TaskState.APPROVED


def perform(workspace: Workspace, make_task, model: Model, action: str, person: str, task_id: str):
    match action:
        case "save":
            workspace.tasks.save(make_task(task_id, f"{next(_numbers)}"), author=person)
        case "submit":
            workflow.submit(workspace, task_id, person)
        case "withdraw":
            workflow.withdraw(workspace, task_id, person, "not yet")
        case "reopen":
            workflow.reopen(workspace, task_id, person, "an error")
        case _:
            reviewing.review(workspace, make_review(task_id, model.head, person, action))


ACTIONS = st.tuples(
    st.sampled_from(
        ["submit", "submit", "approve", "approve", "return", "withdraw", "reopen", "save"]
    ),
    st.sampled_from(PEOPLE),
)


@given(st.lists(ACTIONS, min_size=4, max_size=18))
@settings(
    max_examples=examples(8),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_illegal_move_succeeds_and_blindness_holds(
    shared_workspace: Workspace, make_task, steps
):
    workspace, model, task_id = shared_workspace, Model(), f"task-{next(_numbers)}"
    workspace.tasks.save(make_task(task_id), author="ann")
    for action, person in steps:
        allowed = model.allows(action, person)
        if allowed:
            perform(workspace, make_task, model, action, person, task_id)
            model.apply(action, person)
        else:
            with pytest.raises(NotAllowed):
                perform(workspace, make_task, model, action, person, task_id)
        assert workspace.reviews.state(task_id) is model.state
        check_views(workspace, model, task_id, [person, PEOPLE[next(_numbers) % len(PEOPLE)]])


def check_views(workspace: Workspace, model: Model, task_id: str, people: list[str]) -> None:
    given = model.here()
    for person in people:
        sheet = reviewing.review_sheet(workspace, task_id, person)
        seen = {review.reviewer for review in sheet.visible if review.revision == model.head}
        # While two disagree a third may still be asked, so only those whose affair it is read them.
        party = person in given or person in model.authors
        agreed = len(set(given.values())) == 1
        whole = len(given) >= 2 and (agreed or party)
        expected = set(given) if whole else {person} & set(given)
        assert seen == expected
        assert (sheet.obstacle == "") == model.allows("approve", person)
        assert (sheet.mine is not None) == (person in given)
        assert "author" not in type(sheet).model_fields
        lines = assignment.queue_for(workspace, person, EMBEDDED_PROTOCOL, NOW)
        queue = {line.task.id: line.task for line in lines}
        assert (task_id in queue) == model.allows("approve", person)
        assert all(summary.author == "" for summary in queue.values())
        possible = workflow.actions_of(workspace, task_id, person)
        for action in ("submit", "withdraw", "reopen"):
            assert (Action(action) in possible) == model.allows(action, person)


def submitted(workspace: Workspace, make_task) -> str:
    workspace.tasks.save(make_task(), author="ann")
    workflow.submit(workspace, "t", "ann")
    return "t"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"ratings": {KEYS[0]: "fail"}}, "cannot be approved"),
        (
            {"decision": "return", "ratings": {KEYS[0]: "fail"}, "comments": []},
            "Say in a comment why",
        ),
        ({"decision": "return", "comments": [("", "  ")]}, "Say in a comment what"),
        ({"ratings": {"taste": "pass"}}, "no dimension taste"),
    ],
)
def test_incomplete_reviews_are_refused(workspace: Workspace, make_task, changes, complaint):
    task_id = submitted(workspace, make_task)
    with pytest.raises(NotAllowed, match=complaint):
        reviewing.review(workspace, make_review(task_id, 1, "bob", **changes))
    assert workspace.reviews.counts(task_id, 1) == 0


def test_every_dimension_must_be_rated(workspace: Workspace, make_task):
    task_id = submitted(workspace, make_task)
    bare = make_review(task_id, 1, "bob").model_copy(update={"ratings": {KEYS[0]: "pass"}})
    with pytest.raises(NotAllowed, match="Not rated yet"):
        reviewing.review(workspace, bare)


def test_a_replaced_revision_cannot_be_reviewed(workspace: Workspace, make_task):
    task_id = submitted(workspace, make_task)
    workspace.tasks.save(make_task(note="new"), author="ann")
    workflow.submit(workspace, task_id, "ann")
    with pytest.raises(NotAllowed, match="replaced by revision 2"):
        reviewing.review(workspace, make_review(task_id, 1, "bob"))


def test_a_second_review_of_an_earlier_reviewer_shows_what_changed(workspace: Workspace, make_task):
    task_id = submitted(workspace, make_task)
    reviewing.review(workspace, make_review(task_id, 1, "bob", "return"))
    assert reviewing.review(workspace, make_review(task_id, 1, "cho")) is TaskState.RETURNED
    assert [t.id for t in pending_for(workspace, "ann").returned] == [task_id]
    assert pending_for(workspace, "bob").returned == ()
    with pytest.raises(NotAllowed, match="already has its"):
        workflow.submit(workspace, task_id, "ann")
    workspace.tasks.save(make_task(note="mended"), author="ann")
    workflow.submit(workspace, task_id, "ann")
    assert [t.id for t in pending_for(workspace, "bob").to_review] == [task_id]
    sheet = reviewing.review_sheet(workspace, task_id, "bob")
    assert sheet.previous is not None
    assert (sheet.previous.notes, sheet.task.notes) == ("", "mended")
    assert reviewing.review_sheet(workspace, task_id, "dee").previous is None


def test_reasons_are_required_and_kept(workspace: Workspace, make_task):
    task_id = submitted(workspace, make_task)
    with pytest.raises(NotAllowed, match="reason"):
        workflow.withdraw(workspace, task_id, "ann", " ")
    with pytest.raises(NotAllowed, match="withdrawn before"):
        workflow.retire(workspace, task_id, "ann", "wrong")
    with pytest.raises(NotAllowed, match="Only an author"):  # whatever its state
        workflow.retire(workspace, task_id, "bob", "wrong")
    workflow.withdraw(workspace, task_id, "ann", "too early")
    assert workspace.reviews.history(task_id)[-1].reason == "too early"
    with pytest.raises(NotAllowed, match="Only an author"):
        workflow.retire(workspace, task_id, "bob", "wrong")
    workflow.retire(workspace, task_id, "ann", "wrong")
    assert workspace.reviews.state(task_id) is TaskState.RETIRED
    assert workflow.actions_of(workspace, task_id, "ann") == (Action.RESTORE,)
    assert workflow.actions_of(workspace, task_id, "bob") == ()
    with pytest.raises(NotAllowed, match="Only an author"):
        workflow.restore(workspace, task_id, "bob")
    assert workflow.restore(workspace, task_id, "ann", "needed") is TaskState.DRAFT
    with pytest.raises(NotAllowed, match="archived"):
        workflow.restore(workspace, task_id, "ann")


def test_handing_in_twice_is_refused(workspace: Workspace, make_task):
    task_id = submitted(workspace, make_task)
    reviewing.review(workspace, make_review(task_id, 1, "bob"))
    with pytest.raises(NotAllowed, match="twice"):
        reviewing.review(workspace, make_review(task_id, 1, "bob"))


def test_unknown_tasks(workspace: Workspace):
    with pytest.raises(CuecardError, match="no such task"):
        workflow.submit(workspace, "absent", "ann")


def test_five_dimensions_for_each_family():
    assert set(DIMENSIONS) == set(FAMILIES)
    for dimensions in DIMENSIONS.values():
        assert len({dimension.key for dimension in dimensions}) == 5
        assert all(dimension.label and dimension.help.endswith(".") for dimension in dimensions)


def test_home_of_a_newcomer_is_empty(workspace: Workspace):
    assert pending_for(workspace, "nobody").total == 0
