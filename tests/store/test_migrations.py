"""The tables as migrations make them are the tables as the models say, and keep their history."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import make_url, text

from cuecard.core.config import Prompt
from cuecard.core.contributions import (
    Action,
    Contribution,
    PinnedComment,
    contribution_uid,
    revision_uid,
)
from cuecard.core.engine.events import EVENT_BODY, Event, EventBody, UserSpoke
from cuecard.core.engine.messages import ModelReply, PlayerRef, Usage, UserReply
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.errors import CuecardError
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.records import Shadow, TrialRecord
from cuecard.core.verdicts import Judgement
from cuecard.store.codec import pack
from cuecard.store.engine import Database
from cuecard.store.role_rules import QUEUE
from cuecard.store.schema import APPEND_ONLY, HEAD, MIGRATIONS, VERSIONS, ensure_head, upgrade
from cuecard.store.task_tables import metadata
from cuecard.store.trial_tables import TakeRow, WorkerRow
from cuecard.store.workspace import Workspace

TRIGGERS = {
    "sqlite": "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": (
        "SELECT event_object_table FROM information_schema.triggers"
        " WHERE trigger_schema = current_schema() AND trigger_name <> 'cuecard_keep_origin'"
    ),
}


def opened(url: str) -> Database:
    made = make_url(url)
    return Database(
        made if made.get_backend_name() == "sqlite" else made.set(drivername="postgresql+psycopg")
    )


def test_the_list_of_versions_is_that_of_the_scripts() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(scripts)) == VERSIONS


def is_ours(name: str | None, *_what: object) -> bool:
    """The tables of the queue are PgQueuer's."""
    return not (name or "").startswith(QUEUE)


@pytest.mark.parametrize("start", [None, *VERSIONS])
def test_from_every_version_the_head_equals_the_models(url: str, start: str | None) -> None:
    if url.startswith("postgres") and start not in (None, "0001", *VERSIONS[7:]):
        pytest.skip("from the first version it goes through all of them")
    database = opened(url)
    if start is not None:
        with database.connection() as connection:
            upgrade(connection, start)
    ensure_head(database)
    ensure_head(database)
    with database.read() as session:
        connection = session.connection()
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
        assert found == [HEAD]
        opts: dict[str, Any] = {"compare_type": True, "include_name": is_ours}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, metadata) == []
        kept = set(connection.execute(text(TRIGGERS[connection.dialect.name])).scalars())
    assert set(filter(is_ours, kept)) == set(APPEND_ONLY)
    database.close()


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
def test_workspaces_of_before_hide_what_came_later(url: str) -> None:
    """Who may not see a second gold does not see that it was decided between the two."""
    columns = "uid, task_id, revision, kind, by, about, at, tick, body, packed"
    database = opened(url)
    with database.connection() as connection:
        upgrade(connection, "0013")
        # Version 13 knew nothing of it.
        connection.exec_driver_sql(
            f"CREATE OR REPLACE VIEW contributionlog AS SELECT {columns} FROM contribution"
        )
    ensure_head(database)
    with database.read() as session:
        rule = session.connection().execute(text("SELECT pg_get_viewdef('contributionlog')"))
        assert "gold_decided" in rule.scalar_one()
    database.close()


def test_a_migration_that_fails_leaves_nothing_behind(url: str) -> None:
    database = opened(url)

    class Stop(Exception):
        pass

    def broken() -> None:
        with database.connection() as connection:
            upgrade(connection)
            raise Stop

    with pytest.raises(Stop):
        broken()
    ensure_head(database)
    database.close()


def test_history_can_be_neither_changed_nor_deleted(
    url: str,
    workspace: Workspace,
    make_trial: Callable[..., TrialRecord],
    at: Callable[[int, EventBody], Event],
    judged: Callable[..., Judgement],
    hand_in: Callable[..., Contribution],
) -> None:
    trial = make_trial()
    workspace.runs.append_events([(trial.id, at(0, UserSpoke(turn=0, reply=UserReply(text="hi"))))])
    workspace.prompts.keep(Prompt(text="p").hash, "p")
    workspace.judge_calls.add(
        trial.id, "a", 0, RecordedCall(key="model/0", model="m", reply=ModelReply())
    )
    workspace.verdicts.add(trial.id, judged("a", 1))
    item = workspace.verdicts.queue("Ann")[0]
    workspace.verdicts.label(item.verdict_id, "Ann", LabelValue.YES)
    workspace.verdicts.reveal(item.verdict_id, "Ann")
    drawn = [SetItem(trial_id=trial.id, item=item.item)]
    workspace.label_sets.create(name="s", created_by="Ann", items=drawn)
    workspace.adjudications.add(trial.id, item.item, "Ann", LabelValue.YES)
    said = Shadow(
        trial_id=trial.id,
        turn=1,
        state="s",
        player=PlayerRef(name="sim", kind="persona"),
        reply=UserReply(text="hi"),
        at=datetime.now(UTC),
    )
    assert workspace.shadows.add(said)
    workspace.player_moves.become_player(trial.id, "Ann")
    workspace.session_forms.add(trial.id, "Ann", (), {})
    workspace.trial_notes.add(trial.id, "Ann", "bookmark", "turn/0")
    workspace.tags.change("task", "t", "Ann", ["hard"])
    hand_in("Cy")
    workspace.orders.give(trial.run_id, "pause", "Ann")
    workspace.effort.add("t", "Ann", "query", 1, "who?")
    workspace.drafts.save("t", "Ann", 1, {"id": "t"})
    workspace.drafts.throw_away("t", "Ann")
    database = opened(url)
    uid = workspace.tasks.revision("t").uid
    with database.write() as session:
        session.connection().exec_driver_sql(
            "INSERT INTO cosign (uid, author, message, origins, at, tick) "
            f"VALUES ('{uid}', 'Cy', '', '[]', '2026-01-01 00:00:00', 1)"
        )
        now = datetime.now(UTC)
        worker = WorkerRow(
            id="w", host="h", machine="m", pid=1, started="", person="Ann", since=now, beat_at=now, concurrency=1,
            players="",
        )  # fmt: skip
        session.add(worker)
        session.flush()
        session.add(TakeRow(trial_id=trial.id, fence=1, worker="w", at=now, why="first"))
        session.connection().exec_driver_sql(
            "INSERT INTO roleentry (at, kind, role, person, coordinator, by) "
            "VALUES ('2026-01-01 00:00:00', 'acted', 'ann', 'Cy', true, 'ann')"
        )
    for table in APPEND_ONLY:
        column = next(iter(metadata.tables[table].columns)).name
        for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
            with pytest.raises(CuecardError, match="append-only"), database.write() as session:
                session.connection().exec_driver_sql(statement)
        with database.read() as session:
            count = session.connection().exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()
        assert count, table
    database.close()


LONG = "a long thought " * 300
OLD_USAGE = {"prompt": 10, "completion": 2, "cached": 1}
OLD_BODIES = tuple(
    json.dumps(body)
    for body in (
        {"type": "user_spoke", "turn": 0, "reply": {"text": "hi"}},
        *(
            {
                "type": "model_replied",
                "part": part,
                "turn": 0,
                "step": step,
                "model": "m",
                "reply": {"text": said, "usage": OLD_USAGE},
            }
            for part, step, said in (("agent", 0, "yes"), ("agent", 1, LONG), ("user", 0, "no"))
        ),
        {"type": "trial_ended", "termination": "max_turns"},
    )
)
OLD_KEYS = ("user/0", "agent/0/model/0", "agent/0/model/1", "user/0/model/0", "end")


def test_a_database_of_the_first_version_keeps_all_it_has(url: str) -> None:
    """Rows as version 0001 wrote them, small ones as text and large ones compressed."""
    player = '{"name":"offline","kind":"offline"}'
    database = opened(url)
    with database.connection() as connection:
        upgrade(connection, "0001")
        for statement in (
            "INSERT INTO person VALUES ('Ann', '2026-01-01 00:00:00')",
            "INSERT INTO content VALUES ('h', '{}', NULL)",
            "INSERT INTO task VALUES ('t', 'T', 'graph', 'en', '', NULL, 1, 'draft', 'Ann', 't',"
            " '2026-01-01 00:00:00')",
            "INSERT INTO revision VALUES ('t', 1, 'h', 'T', 'Ann', '', '2026-01-01 00:00:00')",
            "INSERT INTO run VALUES (1, 'r', 'grid', 'Ann', '2026-01-01 00:00:00', 'done', 1, '{}')",
            "INSERT INTO draft VALUES ('t', 'Ann', 1, '{}', NULL, '2026-01-01 00:00:00')",
            f"INSERT INTO trial VALUES (1, 1, 't', 1, '{player}', '{player}', '{player}', 0, 0,"
            " 'max_turns', '', '2026-01-01 00:00:00', '2026-01-01 00:00:00')".replace(":", r"\:"),
            f"INSERT INTO judgement VALUES (1, 1, 'a', '{player}', '', '', NULL,"
            " '2026-01-01 00:00:00')".replace(":", r"\:"),
        ):
            connection.execute(text(statement.replace('":"', r'"\:"')))
        for seq, (key, body) in enumerate(zip(OLD_KEYS, OLD_BODIES, strict=True)):
            small, packed = pack(body.encode())
            connection.execute(
                text(
                    "INSERT INTO event (trial_id, seq, key, type, at, body, packed) VALUES"
                    " (1, :seq, :key, :type, '2026-01-01 00:00:00', :body, :packed)"
                ),
                {
                    "seq": seq,
                    "key": key,
                    "type": body.split('"')[3],
                    "body": small,
                    "packed": packed,
                },
            )
    database.close()
    with Workspace.open(url) as workspace:
        events = workspace.runs.events(1)
        assert [event.body for event in events] == [EVENT_BODY.validate_json(b) for b in OLD_BODIES]
        assert workspace.runs.log(1) == events == list(workspace.runs.outline(1).events)
        assert {event.take for event in events} == {0}
        workspace.runs.append_events([(1, event) for event in events])
        run = workspace.runs.get(1)
        assert (run.plan, run.reason, run.finished) == ({}, "", 1)
        usage = {(line.payer, line.model): line for line in workspace.runs.usage(1)}
        assert {key: line.calls for key, line in usage.items()} == {
            ("agent", "m"): 2,
            ("user", "m"): 1,
        }
        assert usage["agent", "m"].usage == Usage(prompt=20, completion=4, cached=2)
        assert usage["agent", "m"].cost is None
        assert workspace.verdicts.of_trial(1)[0].judgement.trial_hash == ""
        draft = workspace.drafts.get("t", "Ann")
        assert draft is not None
        assert (draft.data, draft.origins, draft.left_at) == ({}, (), None)
        assert workspace.effort.of("t") == []
    database = opened(url)
    for table in sorted(APPEND_ONLY):
        column = next(iter(metadata.tables[table].columns)).name
        with database.read() as session:
            statement = f"SELECT count(*) FROM {table}"
            count = session.connection().exec_driver_sql(statement).scalar()
        if count:
            with pytest.raises(CuecardError, match="append-only"), database.write() as session:
                session.connection().exec_driver_sql(f"UPDATE {table} SET {column} = {column}")
    database.close()


OLD_MOVES = (
    (1, "in_review", "Ann", "", "02"),
    (1, "returned", "Di", "", "04"),
    (2, "draft", "Ann", "", "05"),
    (2, "in_review", "Ann", "again", "06"),
    (2, "draft", "Ann", "too early", "07"),
    (2, "in_review", "Ann", "", "08"),
    (2, "approved", "Cy", "", "10"),
    (2, "retired", "Ann", "old", "11"),
    (2, "approved", "Ann", "", "12"),
    (2, "draft", "Ann", "an error", "13"),
)
OLD_REVIEWS = (
    (1, "Cy", "approve", "[]", "03"),
    (1, "Di", "return", '[["query","why?"]]', "04"),
    (2, "Di", "approve", "[]", "09"),
    (2, "Cy", "approve", "[]", "10"),
)


def test_moves_and_reviews_of_old_become_contributions(url: str) -> None:
    """Rows as version 0003 wrote them."""
    database = opened(url)
    with database.connection() as connection:
        upgrade(connection, "0003")

        def insert(statement: str, *values: object) -> None:
            names = [f"v{index}" for index in range(len(values))]
            marks = ", ".join(f":{name}" for name in names)
            connection.execute(
                text(f"{statement} VALUES ({marks})"), dict(zip(names, values, strict=True))
            )

        for person in ("Ann", "Cy", "Di"):
            insert("INSERT INTO person", person, "2026-01-01 00:00:00")
        insert("INSERT INTO content", "h1", "{}", None)
        insert("INSERT INTO content", "h2", "{}", None)
        insert(
            "INSERT INTO task",
            *("t", "T", "graph", "en", "", None, 2, "draft", "Ann", "t", "2026-01-01 00:00:00"),
        )
        revision = (
            "INSERT INTO revision (task_id, number, hash, title, author, message, created_at)"
        )
        for number, minute in ((1, "01"), (2, "05")):
            at = f"2026-01-01 00:{minute}:00"
            insert(revision, "t", number, f"h{number}", "T", "Ann", "", at)
        for index, (number, state, by, reason, minute) in enumerate(OLD_MOVES):
            at = f"2026-01-01 00:{minute}:00"
            insert("INSERT INTO move", index + 1, "t", number, state, by, reason, at)
        for number, by, decision, comments, minute in OLD_REVIEWS:
            at = f"2026-01-01 00:{minute}:00"
            insert("INSERT INTO review", "t", number, by, "{}", decision, comments, at)
    database.close()
    with Workspace.open(url) as workspace:
        moves = [(m.revision, m.state, m.by, m.reason) for m in workspace.reviews.history("t")]
        assert moves == [move[:4] for move in OLD_MOVES]
        assert workspace.reviews.history("t")[-1].action is Action.REOPEN
        log = workspace.reviews.log("t")
        assert [node.uid for node in log.revisions] == [
            (first := revision_uid("t", "h1", ())),
            revision_uid("t", "h2", (first,)),
        ]
        uids = {node.number: node.uid for node in log.revisions}
        for entry in log.contributions:
            named = ("t", uids[entry.revision], entry.by, entry.at, entry.tick, entry.body)
            assert entry.uid == contribution_uid(*named)
        reviews = workspace.reviews.visible_to("Ann", "t")
        assert [(r.revision, r.reviewer) for r in reviews] == [(n, p) for n, p, *_ in OLD_REVIEWS]
        assert reviews[1].comments == (PinnedComment(place="query", text="why?"),)
        assert workspace.reviews.counts("t", 2) == 2


def test_references_are_checked(url: str, workspace: Workspace) -> None:
    database = opened(url)
    insert = "INSERT INTO draft (task_id, person, base, updated_at) VALUES ('t', 'nobody', 0, '2026-01-01 00:00:00')"
    with pytest.raises(CuecardError), database.write() as session:
        session.connection().exec_driver_sql(insert)
    assert workspace.drafts.of("nobody") == []
    database.close()
