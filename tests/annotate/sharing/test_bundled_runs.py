"""Runs that travel: packed whole, taken once, refused whole when anything of them is wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apart import PausedByPerson, fresh, held, merge_files, packed, unpacked
from cuecard.annotate.results.pool import gather
from cuecard.annotate.sharing.bundle import write_bundle
from cuecard.annotate.sharing.merging import arrived_rows, left_out_text
from cuecard.core.engine.events import (
    Event,
    EventBody,
    ModelReplied,
    RunState,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialRetried,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    ModelReply,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.errors import FileProblems, NotFound
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.records import Shadow, TrialCell
from cuecard.core.tasks.base import FormQuestion
from cuecard.core.worker_archive import AlreadyPlayed
from cuecard.store.bundle_records import SharedPayload, SharedTrial
from cuecard.store.workspace import Workspace
from effect_runs import judged_run, judgement, triple

AT = datetime(2026, 11, 22, 3, tzinfo=UTC)
PROMPT = "You are a search agent."
DIGEST = hashlib.sha256(PROMPT.encode()).hexdigest()
LONG = "Lone \udc80 surrogates and 天 " * 300


def played_on(workspace: Workspace, trial: int, *bodies: EventBody, take: int = 0) -> None:
    start = len(workspace.runs.log(trial))
    events = [Event(seq=start + n, take=take, at=AT, body=body) for n, body in enumerate(bodies)]
    workspace.runs.append_events([(trial, event) for event in events])


def reply(text: str, turn: int = 0) -> ModelReplied:
    told = ModelReply(text=text, usage=Usage(prompt=100, completion=7), cost=0.1)
    return ModelReplied(part="agent", turn=turn, step=0, model="m", reply=told, prompt=DIGEST)


def search() -> ToolAnswered:
    call = ToolCall(name="search", arguments={"query": "?"})
    answer = ToolAnswer(text="found " * 900)
    return ToolAnswered(part="agent", turn=0, step=0, call=call, answer=answer)


def rich_run(workspace: Workspace) -> int:
    """A run of two agents on two tasks with everything that can be recorded of a trial; its last trial is open."""
    run, trials = judged_run(workspace, {"a": ("yn", "yy"), "b": ("ny", "n?")})
    first, last = trials["a", 0], trials["b", 1]
    workspace.prompts.keep(DIGEST, PROMPT)
    played_on(workspace, last, TrialRetried(keep=False), take=1)
    for body in (reply(LONG), search()):
        played_on(workspace, last, body, take=1)
    workspace.verdicts.add(first, judgement("yy"))
    called = RecordedCall(key="k", model="j", reply=ModelReply(text="yes", cost=0.2), prompt=DIGEST)
    workspace.judge_calls.add(first, "strict", 0, called)
    workspace.verdicts.label_item(first, triple(0), "Ben", LabelValue.NO, "no!")
    workspace.verdicts.note_reveal(first, triple(0), "Ben")
    workspace.adjudications.add(first, triple(0), "Cy", LabelValue.YES, "human_slip")
    for name, some in (("inside", (first,)), ("beyond", (first, other_trial(workspace)))):
        items = [SetItem(trial_id=trial, item=triple(0)) for trial in some]
        workspace.label_sets.create(name=name, created_by="Cy", items=items)
    asked = (FormQuestion(key="satisfaction", label="How was it?"),)
    workspace.session_forms.add(first, "Dee", asked, {"satisfaction": 5})
    player = PlayerRef(name="sim", kind="persona", model="s")
    said = Shadow(
        trial_id=first, turn=1, state="x", player=player, reply=UserReply(text="hm"), at=AT
    )
    workspace.shadows.add(said)
    workspace.trial_notes.add(first, "Eve", "comment", "turn/1", "here it went wrong")
    gone = workspace.trial_notes.add(first, "Eve", "bookmark", "turn/2")
    workspace.trial_notes.take_back(gone.uid, "Eve")
    uid = workspace.runs.trial(first).uid
    workspace.tags.change("trial", uid, "Eve", ["odd", "slow"])
    workspace.tags.change("trial", uid, "Ben", remove=["slow"])
    workspace.tags.change("run", workspace.runs.get(run).uid, "Cy", ["baseline"])
    return run


def other_trial(workspace: Workspace) -> int:
    run = workspace.runs.create(
        name="other", kind="grid", created_by="ann", samples=1, limits=workspace.runs.get(1).limits
    )
    trial = workspace.runs.trials(1)[0]
    return workspace.runs.add_trials(
        run.id,
        [
            TrialCell(
                **{
                    name: getattr(trial, name)
                    for name in ("task_id", "revision", "agent", "user", "world")
                },
                sample=0,
                seed=0,
            )
        ],
    )[0].id


def picture(workspace: Workspace, run: int) -> dict[str, Any]:
    """All that a workspace holds of a run, without local numbers."""
    trials = workspace.runs.trials(run)
    ids = {trial.id: trial.uid for trial in trials}
    rows = gather(workspace, [run]).rows
    return {
        "rows": [
            row._replace(
                run=row.run.model_dump(exclude={"id", "state"}),
                trial=row.trial._replace(id=0, run_id=0),
                kind=None,
            )
            for row in rows
        ],
        "logs": [workspace.runs.log(trial) for trial in ids],
        "judgements": [
            [(one.created_at, one.judgement) for one in workspace.verdicts.of_trial(trial)]
            for trial in ids
        ],
        "calls": [workspace.judge_calls.of(trial, "strict", 0) for trial in ids],
        "labels": [
            label.model_dump(exclude={"trial_id", "verdict_id"})
            for label in workspace.verdicts.item_labels(phase=None)
        ],
        "decided": [a.model_dump(exclude={"trial_id"}) for a in workspace.adjudications.newest()],
        "sets": [found.name for found in workspace.label_sets.all()],
        "forms": [
            form.model_dump(exclude={"trial_id"}) for form in workspace.session_forms.newest()
        ],
        "shadows": [one.model_dump(exclude={"trial_id"}) for one in workspace.shadows.of()],
        "notes": [note.model_dump(exclude={"trial_id"}) for note in workspace.trial_notes.of()],
        "tags": (workspace.tags.of("run"), workspace.tags.of("trial", run=run)),
        "prompt": workspace.prompts.get(DIGEST),
    }


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, int]]:
    with fresh(tmp_path_factory.mktemp("origin") / "w.db") as workspace:
        yield workspace, rich_run(workspace)


@pytest.fixture(scope="module")
def bundle(origin: tuple[Workspace, int]) -> PausedByPerson:
    workspace, run = origin
    return held(workspace.exchange.bundle_of_runs("Ana", [run]))


def test_a_run_comes_whole_and_once(origin: tuple[Workspace, int], tmp_path: Path) -> None:
    source, run = origin
    written = write_bundle(source, "Ana", tmp_path / "run.cuepack", runs=[run])
    assert written.header.entries["run"] == 1
    with fresh(tmp_path / "other.db") as other:
        # Other numbers than there.
        other.runs.create(
            name="x", kind="grid", created_by="Bo", samples=1, limits=source.runs.get(run).limits
        )
        dry = merge_files(other, [written.path], "Bo", dry=True)
        assert dry.added
        assert len(other.runs.all()) == 1
        report = merge_files(other, [written.path], "Bo")
        assert (report.added, report.left_out) == (dry.added, ())
        (there,) = [one for one in other.runs.all() if one.uid == source.runs.get(run).uid]
        assert there.state is RunState.PAUSED
        told, theirs = picture(source, run), picture(other, there.id)
        # What lies beyond the run stays.
        assert (told.pop("sets"), theirs.pop("sets")) == (["beyond", "inside"], ["inside"])
        assert theirs == told
        assert {"Ben", "Cy", "Dee", "Eve", "ann"} <= set(report.people)
        again = merge_files(other, [written.path], "Bo")
        assert (again.added, again.left_out) == (0, ())
        assert picture(other, there.id) == {**theirs, "sets": ["inside"]}
        whole = other.exchange.bundle_of_runs("Ana", [there.id])
        assert packed(whole) == written.path.read_bytes()
        rows = {words: (added, known) for words, added, known in arrived_rows(report.arrived)}
        assert rows["trials"] == (4, 0)
        assert rows["judgements"] == (5, 0)


def test_what_is_new_is_added_and_nothing_is_changed(tmp_path: Path) -> None:
    with fresh(tmp_path / "a.db") as source, fresh(tmp_path / "b.db") as other:
        run = rich_run(source)
        early = held(source.exchange.bundle_of_runs("Ana", [run]))
        other.exchange.import_([early], by="Bo")
        (there,) = other.runs.all()
        mine, yours = source.runs.trials(run)[-1].id, other.runs.trials(there.id)[-1].id
        ended = TrialEnded(termination=Termination.API_ERROR, detail="HTTP 503")
        played_on(source, mine, reply("short", 1), ended, take=1)
        source.verdicts.add(mine, judgement("nn"))
        source.runs.set_state(run, RunState.DONE)
        late = held(source.exchange.bundle_of_runs("Ana", [run]))
        report = other.exchange.import_([late], by="Bo")
        added = {one.kind: one.added for one in report.arrived if one.added}
        assert added == {"event": 2, "judgement": 1}
        assert {k: v for k, v in picture(other, there.id).items() if k != "sets"} == {
            k: v for k, v in picture(source, run).items() if k != "sets"
        }
        assert other.runs.get(there.id).state is RunState.DONE
        # The earlier bundle again takes nothing back; a judgement made here since is newer and counts.
        other.verdicts.add(yours, judgement("yy"))
        assert other.exchange.import_([early, late], by="Bo").added == 0
        (newest, *_older) = other.verdicts.of_trial(yours)
        assert newest.judgement.verdicts == judgement("yy").verdicts


def test_a_run_that_is_played_is_packed_without_its_holder_and_not_merged_into(
    tmp_path: Path,
) -> None:
    with fresh(tmp_path / "a.db") as source, fresh(tmp_path / "b.db") as other:
        run = rich_run(source)
        source.runs.set_state(run, RunState.RUNNING)
        source.leases.take(run, "Ana")
        assert source.runs.get(run).state is RunState.RUNNING
        given = held(source.exchange.bundle_of_runs("Ana", [run]))
        assert "lease" not in given.of("run")[0].model_dump()
        other.exchange.import_([given], by="Bo")
        (there,) = other.runs.all()
        assert (there.state, there.lease) == (RunState.PAUSED, None)
        # Whoever plays it there is not written into from outside, and may be told beforehand what would come.
        lease = other.leases.take(there.id, "Bo")
        with pytest.raises(AlreadyPlayed, match="Bo plays it on"):
            other.exchange.import_([given], by="Bo")
        other.exchange.import_([given], by="Bo", dry=True)
        other.leases.release(lease)
        other.exchange.import_([given], by="Bo")


def test_a_trial_that_was_played_on_in_two_places_stays_as_it_is(tmp_path: Path) -> None:
    with fresh(tmp_path / "a.db") as source, fresh(tmp_path / "b.db") as other:
        run = rich_run(source)
        other.exchange.import_([source.exchange.bundle_of_runs("Ana", [run])], by="Bo")
        mine, yours = source.runs.trials(run)[-1], other.runs.trials(1)[-1]
        played_on(source, mine.id, UserSpoke(turn=1, reply=UserReply(text="here")), take=1)
        played_on(other, yours.id, UserSpoke(turn=1, reply=UserReply(text="there")), take=1)
        before = other.runs.log(yours.id)
        report = other.exchange.import_([source.exchange.bundle_of_runs("Ana", [run])], by="Bo")
        (left,) = report.left_out
        assert (left.trial, left.reason, left.kind) == (mine.uid, "other_log", "trial")
        assert "two places" in left_out_text(left)
        assert other.runs.log(yours.id) == before


def test_what_stands_twice_in_a_file_is_taken_once(bundle: PausedByPerson, tmp_path: Path) -> None:
    first, *others = bundle.of("trial")
    parts = ("calls", "judgements", "shadows", "forms", "notes")
    doubled = first.model_copy(update={part: getattr(first, part) * 2 for part in parts})
    # The uid of a note is one of all trials, and nobody takes back another's.
    noted = next(note for note in first.notes if note.kind == "comment")
    foul = {"uid": "f" * 32, "kind": "taken_back", "person": "Mo", "about": noted.uid}
    stolen = others[0].model_copy(update={"notes": (*first.notes, noted.model_copy(update=foul))})
    bundle = bundle.but("trial", (doubled, stolen, *others[1:]))
    with fresh(tmp_path / "w.db") as workspace:
        workspace.exchange.import_([bundle], by="Bo")
        (run,) = workspace.runs.all()
        id = workspace.runs.trials(run.id)[0].id
        assert len(workspace.verdicts.of_trial(id)) == len(first.judgements)
        assert len(workspace.shadows.of()) == len(workspace.trial_notes.of()) == 1


Change = Callable[[SharedTrial], dict[str, Any]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: {"run": "nowhere"}, "run of this trial is missing"),
        (lambda t: {"revision": "0" * 32}, "revision that it is about is missing"),
        (lambda t: {"events": t.events[:-2] + t.events[-1:]}, "gap"),
        (lambda t: {"events": t.events + t.events[-1:]}, "gap"),
        (lambda t: {"events": (t.events[0].model_copy(update={"body": "{}"}),)}, "cannot be read"),
        (lambda t: {"termination": Termination.CANCELLED}, "does not end as its log does"),
        (lambda t: {"usage": t.usage * 2}, "told twice"),
        (lambda t: {"created_at": AT.replace(year=1900)}, "not one of these years"),
        (lambda t: {"uid": "no uid"}, "cannot be a trial's uid"),
        (lambda t: {"seed": 2**70}, "out of range"),
        (
            lambda t: {"forms": tuple(f.model_copy(update={"answers": "["}) for f in t.forms)},
            "said of a session",
        ),
        (
            lambda t: {"notes": tuple(n.model_copy(update={"person": " x"}) for n in t.notes)},
            "begin or end with a blank",
        ),
    ],
)
def test_a_damaged_run_is_refused_whole(bundle: PausedByPerson, change: Change, said: str) -> None:
    trials = [trial.model_copy(update=change(trial)) for trial in bundle.of("trial")]
    with pytest.raises(FileProblems) as refused:
        unpacked(packed(bundle.but("trial", trials)))
    assert any(said in problem.reason for problem in refused.value.problems)


def test_texts_and_names_are_checked_too(bundle: PausedByPerson) -> None:
    def problems(kind: str, records: Iterable[Any]) -> str:
        with pytest.raises(FileProblems) as refused:
            unpacked(packed(bundle.but(kind, records)))
        return " ".join(problem.reason for problem in refused.value.problems)

    other = SharedPayload(hash=DIGEST, text="other")
    assert "does not fit its hash" in problems("payload", [*bundle.of("payload"), other])
    assert "refers to is missing" in problems("payload", [])
    unread = bundle.of("run")[0].model_copy(update={"plan": {"judges": 3}})
    assert "settings of run" in problems("run", [unread])
    # Only of trials that are in the bundle may others speak.
    label = bundle.of("label")[0].model_copy(update={"trial": "f" * 32})
    assert "speaks in the name of Ben" in problems("label", [label])
    assert held(unpacked(packed(bundle))) == bundle


def test_an_unknown_run_cannot_be_packed(origin: tuple[Workspace, int], tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        write_bundle(origin[0], "Ana", tmp_path / "x.cuepack", runs=[99])
