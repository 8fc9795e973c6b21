"""The tables as migrations make them are the tables as the models say, and keep their history."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import make_url, text

from cuecard.core.errors import CuecardError
from cuecard.core.events import Event, EventBody, UserSpoke
from cuecard.core.parts import UserReply
from cuecard.core.verdicts import Judgement
from cuecard.store.engine import Database
from cuecard.store.migrate import MIGRATIONS, ensure_head, upgrade
from cuecard.store.migrations import HEAD, VERSIONS
from cuecard.store.records import LabelValue, Review, TrialRecord
from cuecard.store.tables import metadata
from cuecard.store.workspace import Workspace

APPEND_ONLY = {
    "content",
    "revision",
    "move",
    "review",
    "event",
    "judgement",
    "verdict",
    "label",
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


@pytest.mark.parametrize("start", [None, *VERSIONS])
def test_from_every_version_the_head_equals_the_models(url: str, start: str | None) -> None:
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
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
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
    review_by: Callable[..., Review],
) -> None:
    trial = make_trial()
    workspace.runs.append_events([(trial.id, at(0, UserSpoke(turn=0, reply=UserReply(text="hi"))))])
    workspace.verdicts.add(trial.id, judged("a", 1))
    workspace.verdicts.label(workspace.verdicts.queue("Ann")[0].verdict_id, "Ann", LabelValue.YES)
    workspace.reviews.add(review_by("Cy"))
    database = opened(url)
    for table in APPEND_ONLY:
        column = next(iter(metadata.tables[table].columns)).name
        for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
            with pytest.raises(CuecardError, match="append-only"), database.write() as session:
                session.connection().exec_driver_sql(statement)
        with database.read() as session:
            count = session.connection().exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()
        assert count, table
    database.close()


def test_references_are_checked(url: str, workspace: Workspace) -> None:
    database = opened(url)
    insert = "INSERT INTO draft (task_id, person, base, updated_at) VALUES ('t', 'nobody', 0, '2026-01-01 00:00:00')"
    with pytest.raises(CuecardError), database.write() as session:
        session.connection().exec_driver_sql(insert)
    assert workspace.drafts.of("nobody") == []
    database.close()
