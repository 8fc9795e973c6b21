"""Whatever people do apart, and however their bundles come together, it is the same in the end."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from apart import Clock, packed, picture, small_task, unpacked, workspaces
from budget import examples
from cuecard.annotate.sharing.reading import BundleFile
from cuecard.core.contributions import (
    Answered,
    Body,
    Claimed,
    Commented,
    PinnedComment,
    Prioritised,
    Released,
    Reopened,
    Restored,
    Retired,
    ReviewDecision,
    Reviewed,
    Submitted,
    ThirdAsked,
    Withdrawn,
)
from cuecard.store.workspace import Workspace

PEOPLE = ("Ana", "Ben", "Cho", "Dee")
AUTHORS_ONLY = ("submitted", "withdrawn", "reopened", "retired", "restored", "third_asked")
Step = tuple[str, int, int, int]


def _bodies(clock: Clock, n: int) -> list[Body]:
    decision = ReviewDecision.APPROVE if n % 3 else ReviewDecision.RETURN
    comment = PinnedComment(place="title", text=f"no {n}")
    return [
        Submitted(on_split="third" if n % 2 else "return"),
        Reviewed(ratings={"gold": "pass"}, decision=decision, comments=(comment,), seconds=n),
        Reviewed(ratings={}, decision=ReviewDecision.APPROVE),
        Withdrawn(reason="not yet"),
        Reopened(reason="again"),
        Retired(reason="old"),
        Restored(),
        ThirdAsked(reason="who is right?"),
        Claimed(person=PEOPLE[n % 4], until=clock.now + timedelta(hours=n)),
        Released(person=PEOPLE[n % 4], reason="ill"),
        Prioritised(priority=n % 5 - 2),
        Commented(place="", text="hm"),
        Answered(comment="0" * 32 + "#0", text="yes", turns="resolved"),
    ]


def _play(spaces: list[Workspace], steps: list[Step]) -> None:
    """Each person in a workspace of their own; some steps carry somebody's bundle to somebody else."""
    clock = Clock()
    for kind, who, n, more in steps:
        who %= len(spaces)
        workspace, person, task_id = spaces[who], PEOPLE[who], f"t{more % 2}"
        heads = {s.id: s.revision for s in workspace.tasks.summaries(include_retired=True)}
        if kind == "carry":
            other = (who + 1 + more) % len(spaces)
            spaces[other].exchange.import_([_bundle(workspace, person)], by=PEOPLE[other])
        elif kind == "save" or task_id not in heads:
            task = small_task(task_id, title=f"title {n % 3}")
            workspace.tasks.save(task, author=person, at=clock())
        elif kind == "join":
            forks = workspace.reviews.standing(task_id).forks
            task = workspace.tasks.revision(task_id).task
            workspace.tasks.save(task, author=person, also=forks, at=clock())
        elif kind == "effort":
            workspace.effort.add(task_id, person, "page", 1, f"https://example.org/{n}")
        else:
            bodies = _bodies(clock, n)
            number = 1 + n % heads[task_id]
            body = bodies[more % len(bodies)]
            if body.kind in AUTHORS_ONLY and person not in workspace.tasks.authors(task_id):
                continue
            own = workspace.reviews.visible_to(person, task_id, number)
            if not isinstance(body, Reviewed) or all(r.reviewer != person for r in own):
                workspace.reviews.act(task_id, person, body, revision=number, at=clock())


def _bundle(workspace: Workspace, person: str) -> BundleFile:
    return unpacked(packed(workspace.exchange.bundle(person)), person)


steps = st.tuples(
    st.sampled_from(["save", "save", "act", "act", "act", "act", "carry", "join", "effort"]),
    st.integers(0, 3),
    st.integers(0, 8),
    st.integers(0, 25),
)


@given(st.integers(2, 4), st.lists(steps, min_size=4, max_size=16), st.integers())
# Each example is dozens of merges: shrinking one would take minutes.
@settings(
    max_examples=examples(4),
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
def test_packs_come_to_the_same_in_any_order(people: int, played: list[Step], seed: int) -> None:
    chance = random.Random(seed)
    with workspaces(people + 2) as spaces:
        own, (one_by_one, at_once) = spaces[:people], spaces[people:]
        _play(own, played)
        before = [picture(workspace) for workspace in own]
        bundles = [_bundle(space, name) for space, name in zip(own, PEOPLE, strict=False)]
        for bundle in [*chance.sample(bundles, people), *chance.sample(bundles, people)]:
            one_by_one.exchange.import_([bundle], by="Eve")
        at_once.exchange.import_(chance.sample(bundles, people), by="Eve")
        for workspace in own:
            workspace.exchange.import_(chance.sample(bundles, people), by="Ana")
        outcome = picture(at_once)
        assert picture(one_by_one) == outcome
        assert all(picture(workspace) == outcome for workspace in own)
        assert all(_within(earlier, outcome) for earlier in before)
        again = at_once.exchange.import_(bundles, by="Eve")
        assert (again.added, again.moved, again.people) == (0, (), ())
        assert again.clashes == again.clashes_before
        for task_id in outcome:
            spent = [len(workspace.effort.of(task_id)) for workspace in (one_by_one, at_once, *own)]
            assert len(set(spent)) == 1
        for name in PEOPLE[:people]:
            files = {packed(space.exchange.bundle(name)) for space in spaces}
            assert len(files) == 1


def _within(earlier: dict[str, Any], later: dict[str, Any]) -> bool:
    """Whether nothing has disappeared: revisions, signatures and contributions are all still there."""
    for task_id, was in earlier.items():
        now = later[task_id]
        signed = {uid: set(authors) for uid, _h, _p, authors, _a, _t in now["log"][0]}
        for uid, _hash, _parents, authors, _at, _tick in was["log"][0]:
            if not set(authors) <= signed[uid]:
                return False
        if not {entry[0] for entry in was["log"][1]} <= {entry[0] for entry in now["log"][1]}:
            return False
    return True
