"""What each role may read and write, asked of PostgreSQL itself, past the program."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors, sql
from pydantic import JsonValue

from cuecard.core.contributions import (
    Answered,
    Claimed,
    GoldBuilt,
    PinnedComment,
    QcDecided,
    Released,
    ReviewDecision,
    Reviewed,
    Submitted,
    comment_id,
)
from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import ModelReply, PlayerRef
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.errors import CuecardError, NotAllowed, NotFound
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.records import KeptFigures, TrialCell, TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.role_rules import RULES, VIEWS
from cuecard.store.schema import APPEND_ONLY
from cuecard.store.task_tables import metadata
from cuecard.store.workspace import Sight, Workspace, database_at
from cuecard.tui.commands.context import Context
from postgres_server import Databases
from role_stage import OwnRoles, own_roles

ALL = frozenset({"Ana", "Bo", "Di", "Gus", "Lea", "Max", "Zoe", "Cleo"})
ITEM = Item(kind=ItemKind.TRIPLE, index=0)
SEEN = {
    # Ana wrote the task, Bo has reviewed it, Di has it, Gus built a second gold.
    "review": {"Bo", "Cleo"},
    "answer": {"Bo", "Cleo"},
    "skip": {"Zoe", "Cleo"},
    "form": {"Di", "Cleo"},
    "draft": {"Di", "Cleo"},
    "gold": {"Gus", "Ana", "Cleo"},
    "qc": {"Bo", "Cleo"},
    # Lea has labelled the item, Max is still to label it.
    "verdict": ALL - {"Max"},
    "call": ALL - {"Max"},
    "figures": ALL - {"Max"},
    "label": ALL - {"Max"},
    "note": ALL - {"Max"},
    "tag": ALL - {"Max"},
    "stratum": ALL - {"Max"},
    "adjudication": ALL - {"Max"},
}


def review(decision: str, said: str) -> Reviewed:
    comments = (PinnedComment(place="", text=said),)
    return Reviewed(ratings={}, decision=ReviewDecision(decision), comments=comments)


@pytest.fixture
def stage(postgres: Databases, make_task: Callable[..., Task]) -> Iterator[OwnRoles]:
    """For one test that changes something."""
    with played(postgres, make_task) as stage:
        yield stage


@pytest.fixture(scope="module")
def kept(postgres: Databases, make_task: Callable[..., Task]) -> Iterator[OwnRoles]:
    """For tests that leave it as it is."""
    with played(postgres, make_task) as stage:
        yield stage


@contextmanager
def played(postgres: Databases, make_task: Callable[..., Task]) -> Generator[OwnRoles]:
    """Everybody does what they do by their own role; what they say is called like the keys of `SEEN`."""
    with own_roles(postgres, sorted(ALL), ["Cleo"]) as stage:
        at = stage.at
        ana, bo, cleo, lea = at("Ana"), at("Bo"), at("Cleo"), at("Lea")
        ana.tasks.save(make_task("t"), author="Ana")
        ana.reviews.act("t", "Ana", Submitted())
        until = datetime(2099, 1, 1, tzinfo=UTC)
        for person in ("Bo", "Di", "Zoe"):
            at(person).reviews.act("t", person, Claimed(person=person, until=until))
        at("Zoe").reviews.act("t", "Zoe", Released(person="Zoe", reason="s3cret skip"))
        given = bo.reviews.act("t", "Bo", review("approve", "s3cret review"))
        said = Answered(comment=comment_id(given.uid, 0), text="s3cret answer")
        bo.reviews.act("t", "Bo", said)
        at("Di").review_forms.keep("t", 1, "Di", {"said": "s3cret form"})
        at("Di").drafts.save("new", "Di", 0, {"id": "s3cret draft"})
        at("Gus").reviews.act("t", "Gus", GoldBuilt(gold={"answer": "s3cret gold"}))
        cleo.reviews.act(
            "t", "Cleo", QcDecided(verdict="keep", proposed="keep", reason="s3cret qc")
        )
        trial = make_trial(cleo)
        verdict = Verdict(item=ITEM, decision=Decision.NO, rationale="s3cret verdict")
        judge = PlayerRef(name="j", kind="llm")
        judged = cleo.verdicts.add(trial.id, Judgement(judge=judge, verdicts=(verdict,)))
        call = RecordedCall(key="k", model="m", reply=ModelReply(text="s3cret call"))
        cleo.judge_calls.add(trial.id, "j", 0, call)
        figures = KeptFigures(
            judgement_id=judged.id, trial_id=trial.id, stamp="", body="s3cret figures"
        )
        cleo.figures.keep([figures], "en")
        drawn = SetItem(
            trial_id=trial.id, item=ITEM, stratum="s3cret stratum", raters=2, people=("Lea", "Max")
        )
        cleo.label_sets.create(name="s", created_by="Cleo", items=[drawn])
        lea.verdicts.label_item(trial.id, ITEM, "Lea", LabelValue.YES, "s3cret label")
        lea.trial_notes.add(trial.id, "Lea", "comment", "turn/0", "s3cret note")
        lea.tags.change("trial", trial.uid, "Lea", ["s3cret tag"])
        lea.verdicts.note_reveal(trial.id, ITEM, "Lea")
        cleo.adjudications.add(trial.id, ITEM, "Cleo", LabelValue.YES, "", "s3cret adjudication")
        yield stage


def make_trial(workspace: Workspace) -> TrialRecord:
    player = PlayerRef(name="offline", kind="offline", baseline=True)
    run = workspace.runs.create(
        name="r", kind="grid", created_by="Cleo", samples=1, limits=Limits()
    )
    players = {"agent": player, "user": player, "world": player}
    return workspace.runs.add_trials(
        run.id, [TrialCell(task_id="t", revision=1, sample=0, seed=1, **players)]
    )[0]


def everything(connection: psycopg.Connection) -> str:
    """All that a role can read: of every relation every column that it may, what the planner knows, and functions."""
    columns = connection.execute(
        "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p')"
        " AND a.attnum > 0 AND has_column_privilege(c.oid, a.attnum, 'SELECT')"
    ).fetchall()
    found: list[tuple[Any, ...]] = []
    for table in {table for table, _column in columns}:
        names = sql.SQL(", ").join(sql.Identifier(c) for t, c in columns if t == table)
        query = sql.SQL("SELECT {} FROM {}").format(names, sql.Identifier(table))
        found += connection.execute(query).fetchall()
    found += connection.execute(
        "SELECT * FROM pg_stats WHERE schemaname = current_schema()"
    ).fetchall()
    functions = connection.execute(
        "SELECT proname, pronargs FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
        " AND prorettype <> 'trigger'::regtype"
    ).fetchall()
    for name, arguments in functions:
        given = sql.SQL(", ").join(
            {0: (), 1: (sql.Literal("Ana"),), 2: (sql.Literal("t"), sql.Literal(1))}[arguments]
        )
        call = sql.SQL("SELECT {}({})")
        found += connection.execute(call.format(sql.Identifier(name), given)).fetchall()
    return " ".join(
        cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)
        for row in found
        for cell in row
    )


def test_every_table_has_a_rule_and_every_view_a_reason(kept: OwnRoles) -> None:
    assert set(RULES) == set(metadata.tables)
    with kept.psql("Cleo") as connection:
        relations = connection.execute(
            "SELECT relname, relkind::text FROM pg_class"
            " WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v', 'm', 'p')"
        ).fetchall()
    tables = {name for name, kind in relations if kind == "r"}
    queue = {f"cuecard_pgqueuer{end}" for end in ("", "_log", "_schedules", "_statistics")}
    assert tables == set(RULES) | {"alembic_version"} | queue
    within = {"copiedrun", "countedreview"}
    assert {name for name, kind in relations if kind != "r"} == {*VIEWS, *within}


def test_what_is_hidden_cannot_be_read_in_any_way(kept: OwnRoles) -> None:
    with psycopg.connect(kept.url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute("ANALYZE")
        read = {"owner": everything(owner)}
    for person in ALL:
        with kept.psql(person) as connection:
            read[person] = everything(connection)
    for secret, wanted in SEEN.items():
        found = {person for person, text in read.items() if f"s3cret {secret}" in text}
        assert found == {*wanted, "owner"}, secret
    # Who has the task is not told either.
    with kept.psql("Ana") as connection:
        log = connection.execute("SELECT kind, by, about, body FROM contributionlog").fetchall()
    hidden = [row for row in log if row[0] in ("reviewed", "claimed", "released")]
    assert len(hidden) == 5
    assert not any(name in str(row) for row in hidden for name in ("Bo", "Di", "Zoe"))
    # Nor who has seen what.
    with kept.psql("Max") as connection:
        assert connection.execute("SELECT * FROM reveal").fetchall() == []


def test_what_is_said_of_copies_of_a_trial_is_hidden_as_long_as_the_trial_waits(
    stage: OwnRoles,
) -> None:
    (run,) = stage.owner.runs.all()
    (trial,) = stage.owner.runs.trials(run.id)
    cell = TrialCell(
        task_id="t", revision=1, sample=0, seed=1, agent=trial.agent, user=trial.user,
        world=trial.world,
    )  # fmt: skip
    again, other = cell.model_copy(update={"seed": 2}), stage.at("Cleo")
    uid = run.uid
    for name in ("one", "two", "three"):
        plan: dict[str, JsonValue] = {"replay": run.id} if name == "three" else {"rescored": uid}
        copy = other.runs.create(
            name=name, kind="grid", created_by="Cleo", samples=1, limits=Limits(),
            plan=plan, cells=[cell, again],
        )  # fmt: skip
        uid = copy.uid  # The second is a copy of a copy.
        for at, each in zip((name, "unlike"), other.runs.trials(copy.id), strict=True):
            said = Verdict(item=ITEM, decision=Decision.NO, rationale=f"s3cret {at}")
            judge = PlayerRef(name="j", kind="llm")
            other.verdicts.add(each.id, Judgement(judge=judge, verdicts=(said,)))

    def read(person: str) -> set[str]:
        with stage.psql(person) as connection:
            text = everything(connection)
        return {name for name in ("one", "two", "three", "unlike") if f"s3cret {name}" in text}

    assert read("Max") == {"unlike"}
    assert read("Lea") == {"one", "two", "three", "unlike"}
    with pytest.raises(NotAllowed, match="1 item"):
        stage.at("Max").verdicts.heads(copy.id)
    with stage.psql("Max") as connection, pytest.raises(errors.RaiseException, match="a copy of"):
        connection.execute("UPDATE run SET plan = '{}'")
    stage.at("Max").verdicts.label_item(trial.id, ITEM, "Max", LabelValue.NO)
    assert read("Max") == {"one", "two", "three", "unlike"}


def test_reviews_open_as_they_do_in_the_app(stage: OwnRoles) -> None:
    def readers() -> set[str]:
        found: set[str] = set()
        for person in ALL:
            with stage.psql(person) as connection:
                query = "SELECT count(*) FROM contribution WHERE kind = 'reviewed'"
                rows = connection.execute(query).fetchone()
                reviews = stage.at(person).reviews.visible_to(person, "t")
                if rows and rows[0] > 1:
                    found.add(person)
                assert person == "Cleo" or rows == (len(reviews),)
        return found

    # A forged state opens nothing.
    with stage.psql("Di") as connection:
        connection.execute("UPDATE standing SET seen = 'all', reviews = 3")
    assert readers() == set()
    stage.at("Di").reviews.act("t", "Di", review("return", "no"))
    assert readers() == {"Ana", "Bo", "Di", "Cleo"}
    assert stage.at("Lea").reviews.counts("t", 1) == 2
    assert stage.at("Zoe").reviews.state("t") == stage.owner.reviews.state("t") == "returned"
    stage.at("Zoe").reviews.act("t", "Zoe", review("approve", "yes"))
    assert readers() == ALL


FORGED = (
    "INSERT INTO label (trial_id, item_key, person, value, comment, created_at, phase, seconds, gold_wrong, source)"
    " VALUES (1, 'triple/0', 'Lea', 'no', '', now(), 'blind', 0, false, '')",
    "INSERT INTO contribution (uid, task_id, revision, kind, by, about, at, tick, body)"
    " VALUES ('x', 't', 1, 'reviewed', 'Di', 'approve', now(), 1, '{}')",
    "INSERT INTO contribution (uid, task_id, revision, kind, by, about, at, tick, body)"
    " VALUES ('x', 't', 1, 'claimed', 'Max', 'Di', now(), 1, '{}')",
    "INSERT INTO revision (task_id, number, uid, parents, tick, hash, title, author, message, origins, created_at)"
    " SELECT task_id, 2, 'x', parents, tick, hash, title, 'Ana', '', '[]', now() FROM revision",
    "INSERT INTO cosign SELECT uid, 'Bo', now(), 0, '', '[]' FROM revision",
    "INSERT INTO reveal VALUES (1, 'triple/0', 'Lea', now())",
    "INSERT INTO reveal VALUES (1, 'triple/9', 'Lea', now())",
    "INSERT INTO adjudication (trial_id, item_key, by, value, cause, comment, at)"
    " VALUES (1, 'triple/0', 'Cleo', 'yes', '', '', now())",
    "INSERT INTO draft (task_id, person, base, origins, updated_at) VALUES ('t', 'Di', 1, '[]', now())",
    "INSERT INTO run (uid, name, kind, created_by, created_at, state, samples, limits, plan, reason)"
    " VALUES ('x', 'x', 'grid', 'Cleo', now(), 'open', 1, '{}', '{}', '')",
    "INSERT INTO roleentry (at, kind, role, person, coordinator, by)"
    " VALUES (now(), 'mapped', session_user, 'Max', true, session_user)",
    "INSERT INTO roleentry (at, kind, role, person, coordinator, by)"
    " VALUES (now(), 'acted', session_user, 'Lea', true, session_user)",
    "UPDATE run SET created_by = 'Max'",
    "UPDATE trial SET agent = '{}'",
    "ALTER TABLE label DISABLE TRIGGER USER",
    "ALTER TABLE label DISABLE ROW LEVEL SECURITY",
    "DROP POLICY cuecard_select ON label",
    "SET session_replication_role = replica",
    "CREATE FUNCTION stolen() RETURNS text LANGUAGE sql AS 'SELECT 1'",
    "CREATE OR REPLACE FUNCTION cuecard_sees_all() RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "SELECT stratum FROM setitem",
    "SELECT * FROM countedreview",
)


def test_nobody_writes_in_anothers_name_or_changes_what_is_kept(kept: OwnRoles) -> None:
    with kept.psql("Max") as connection:
        for statement in FORGED:
            with pytest.raises(errors.InsufficientPrivilege) as refused:
                connection.execute(statement.encode())
            assert "triple/0" not in str(refused.value), statement
        for table in APPEND_ONLY:
            for statement in ("UPDATE {0} SET {1} = {1}", "DELETE FROM {0}", "TRUNCATE {0}"):
                column = next(iter(metadata.tables[table].columns)).name
                with pytest.raises(errors.InsufficientPrivilege):
                    connection.execute(statement.format(table, column).encode())
        # What others began is neither seen nor changed.
        assert connection.execute("UPDATE draft SET base = 9").rowcount == 0
        assert connection.execute("DELETE FROM reviewform").rowcount == 0
        assert connection.execute("SET session_authorization = DEFAULT").rowcount == -1
    # A coordinator makes nobody a coordinator, and changes no history.
    with kept.psql("Cleo") as connection:
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(FORGED[10].encode())
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("DELETE FROM label")
    with pytest.raises(NotAllowed, match="does not let you"):
        kept.at("Max").reviews.act("t", "Di", review("approve", ""))


def test_who_works_here(kept: OwnRoles) -> None:
    def reader(person: str, given: str | None) -> str:
        context = Context(kept.address(person), given, None)
        try:
            return context.reader
        finally:
            context.workspace.close()

    assert reader("Max", None) == reader("Max", "Max") == "Max"
    with pytest.raises(NotAllowed, match="Only coordinators"):
        reader("Max", "Lea")
    assert kept.owner.roles.acted() == []
    assert reader("Cleo", "Lea") == "Lea"
    (acted,) = kept.owner.roles.acted()
    assert (acted.role, acted.person) == (kept.roles["Cleo"], "Lea")
    assert kept.at("Max").roles.mine().sentence.startswith("You are Max")
    # The owner is nobody in particular.
    assert kept.owner.roles.person("", "root") == "root"
    with pytest.raises(NotAllowed, match="Only the owner"):
        kept.at("Cleo").roles.add("Eve", kept.roles["Max"])


def test_roles_come_and_go(stage: OwnRoles) -> None:
    roles = stage.owner.roles
    with pytest.raises(NotFound, match="no such role"):
        roles.add("Eve", "nobody here")
    with pytest.raises(NotAllowed, match="Nothing can be hidden"):
        roles.add("Eve", "postgres")
    roles.coordinate("Max", True)
    assert stage.at("Max").roles.mine().coordinator
    roles.coordinate("Max", False)
    assert not stage.at("Max").roles.mine().coordinator
    roles.remove("Max")
    with pytest.raises(CuecardError):
        stage.at("Max").tasks.count()
    with pytest.raises(NotAllowed, match=r"does not know you.*stands for nobody"):
        Workspace.open(stage.address("Max"))
    with stage.psql("Max") as stranger, pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.execute("SELECT cuecard_authors('t', 1)")
    assert "Max" in {person.name for person in stage.owner.people.all()}
    with pytest.raises(NotFound):
        roles.remove("Max")


async def test_members_offer_first_and_nobody_else_may_use_the_queue(stage: OwnRoles) -> None:
    """Also of a workspace whose queue an earlier version left out, or let everybody use."""
    member = stage.at("Max")
    player = PlayerRef(name="offline", kind="offline", baseline=True)
    cell = TrialCell(
        task_id="t", revision=1, agent=player, user=player, world=player, sample=0, seed=1
    )
    earlier = (
        "SELECT 1",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON cuecard_pgqueuer TO PUBLIC",
        "DROP TABLE cuecard_pgqueuer, cuecard_pgqueuer_log, cuecard_pgqueuer_statistics,"
        " cuecard_pgqueuer_schedules; DROP TYPE cuecard_pgqueuer_status CASCADE;"
        " DROP FUNCTION cuecard_fn_pgqueuer_changed",
    )
    for done in earlier:
        with psycopg.connect(stage.url.replace("+psycopg", ""), autocommit=True) as owner:
            owner.execute(done.encode())
            Workspace.open(stage.url).close()
            asked = "SELECT has_table_privilege('public', 'cuecard_pgqueuer', 'SELECT, INSERT')"
            assert owner.execute(asked).fetchone() == (False,)
        run = member.runs.create(
            name=done, kind="grid", created_by="Max", samples=1, limits=Limits(), cells=[cell]
        )
        (trial,) = member.runs.trials(run.id)
        async with member.workers.queue("Max") as mine, stage.at("Bo").workers.queue("Bo", 1) as bo:
            assert await mine.offer(run.id, {"/1": [trial.id]}) == 1
            assert [claim.trial_id for claim in await bo.take(run.id, 1)] == [trial.id]


def test_what_takes_the_owner_is_refused_before_it_begins(stage: OwnRoles, tmp_path: Path) -> None:
    asks: tuple[Callable[[Workspace], object], ...] = (
        lambda ws: ws.copies.back_up(tmp_path / "copy.db", print),
        lambda ws: ws.copies.move(database_at(tmp_path / "moved.db", create=True), print),
        lambda ws: ws.audit(print),
        lambda ws: ws.roles.add("Eve", "eve"),
        lambda ws: ws.roles.coordinate("Bo", True),
        lambda ws: ws.roles.remove("Bo"),
    )
    for person in ("Max", "Cleo"):
        for ask in asks:
            with pytest.raises(NotAllowed, match=r"Only the owner.*") as refused:
                ask(stage.at(person))
            assert stage.roles[person] in refused.value.message
            assert "postgres" in refused.value.hint
    assert list(tmp_path.iterdir()) == []
    with psycopg.connect(stage.url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute("UPDATE alembic_version SET version_num = '0010'")
    with pytest.raises(NotAllowed, match="Only the owner"):
        Workspace.open(stage.address("Max"))


def test_figures_that_would_lack_something_are_refused(stage: OwnRoles) -> None:
    (run,) = stage.owner.runs.all()
    for person in ALL - {"Max"}:
        assert len(stage.at(person).verdicts.heads(run.id)) == 1
    asks: tuple[Callable[[Workspace], object], ...] = (
        lambda ws: ws.verdicts.heads(run.id),
        lambda ws: ws.verdicts.of_run(run.id),
        lambda ws: ws.verdict_pages.marks([run.id]),
        lambda ws: ws.exchange.bundle_of_runs("Max", [run.id]),
    )
    for ask in asks:
        with pytest.raises(NotAllowed, match="1 item"):
            ask(stage.at("Max"))
    maxs = stage.at("Max")
    assert maxs.label_sets.progress("Max")[1].given == 1
    assert maxs.label_sets.parts()[1].strata == {"": (1, 0)}
    (drawn,) = maxs.label_sets.queue(1, "Max")
    assert (drawn.item, drawn.stratum, drawn.people) == (ITEM, "", ("Lea", "Max"))
    assert not Sight(maxs, "Max").may_tell(drawn.trial_id, ITEM)
    maxs.verdicts.label_item(drawn.trial_id, ITEM, "Max", LabelValue.NO)
    assert len(maxs.verdicts.of_run(run.id)[0].judgement.verdicts) == 1
    assert maxs.label_sets.progress("Max")[1].given == 2
    assert {label.person for label in maxs.verdicts.item_labels()} == {"Lea", "Max"}


def test_a_team_that_shares_a_role_works_as_before(
    postgres: Databases, make_task: Callable[..., Task]
) -> None:
    """A role that owns nothing, to which somebody gave rights by hand, and no role is mapped."""
    with own_roles(postgres, []) as stage:
        role = f"team_{uuid.uuid4().hex}"
        stage.roles["team"] = role
        with psycopg.connect(stage.url.replace("+psycopg", ""), autocommit=True) as owner:
            owner.execute(f"CREATE ROLE {role} LOGIN".encode())
            owner.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}".encode())
            owner.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role}".encode())
        team = stage.at("team")
        team.tasks.save(make_task("t"), author="Ann")
        team.reviews.act("t", "Ann", Submitted())
        team.reviews.act("t", "Bo", review("approve", "fine"))
        assert team.roles.person("Di", "team") == "Di"
        mine = team.roles.mine()
        assert (mine.proven, mine.owner, mine.role) == (False, False, role)
        assert "nothing is hidden from SQL" in mine.sentence
        with stage.psql("team") as connection:
            rows = connection.execute("SELECT count(*) FROM contribution").fetchone()
            assert rows == (2,)
            # Nobody makes themselves a coordinator so.
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(FORGED[10].encode())
