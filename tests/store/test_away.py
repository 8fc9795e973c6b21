"""What a lost database is called, and that an open workspace comes back with it."""

from __future__ import annotations

import re
import signal

import pytest
import sqlalchemy

import postgres_server
from cuecard.core.errors import CuecardError, DatabaseAway
from cuecard.store.workspace import Workspace
from postgres_server import Databases


@pytest.mark.parametrize("host", ["127.0.0.1:1", "host.invalid"])
def test_a_server_that_is_not_there_is_away(host: str) -> None:
    with pytest.raises(DatabaseAway) as told:
        Workspace.open(f"postgresql://ann:geheim@{host}/x")
    assert "geheim" not in str(told.value)


def test_a_missing_database_and_a_missing_role_are_not_away(postgres: Databases) -> None:
    for wrong in ({"database": "nowhere"}, {"username": "nobody"}):
        with pytest.raises(CuecardError, match="does not let you in") as told:
            Workspace.open(postgres.base.set(**wrong).render_as_string(hide_password=False))
        assert not isinstance(told.value, DatabaseAway)
        assert "does not exist" in told.value.message
    with pytest.raises(CuecardError, match="definition of service") as unknown:
        Workspace.open("postgresql://?service=nobody-wrote-it")
    assert not isinstance(unknown.value, DatabaseAway)


def test_a_session_that_the_server_ended_is_away_once(postgres: Databases) -> None:
    with postgres.workspace() as url, Workspace.open(url) as workspace:
        workspace.people.add("Ann")
        name = sqlalchemy.make_url(url).database
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"

        def ended_in_the_middle() -> None:
            with workspace._database.write() as session:
                session.connection()
                postgres.run(end, name=name)
                session.execute(sqlalchemy.text("SELECT 1"))

        with pytest.raises(DatabaseAway):
            ended_in_the_middle()
        postgres.run(end, name=name)  # Nobody is in the middle of anything: nobody notices.
        assert workspace.people.exists("Ann")
        workspace.people.add("Ben")


def test_a_connection_that_is_out_while_the_workspace_closes_is_closed_when_it_comes_back(
    postgres: Databases,
) -> None:
    with postgres.workspace() as url:
        workspace = Workspace.open(url)
        with workspace._database.read() as session:
            held = session.connection().connection.dbapi_connection
            workspace.close()
            assert held is not None
            assert not held.closed
        assert held.closed


def test_a_restarted_server_is_found_again_and_a_wrong_password_is_not_away() -> None:
    with postgres_server.own_server() as running, Workspace.open(running.url) as workspace:
        workspace.people.add("Ann")
        running.stop(signal.SIGKILL)
        with pytest.raises(DatabaseAway):
            workspace.people.all()
        with pytest.raises(DatabaseAway):
            workspace.people.add("Ben")
        running.start()
        workspace.people.add("Ben")
        assert [each.name for each in workspace.people.all()] == ["Ann", "Ben"]
        access = running.home / "data" / "pg_hba.conf"
        access.write_text(re.sub("trust", "scram-sha-256", access.read_text()))
        running.stop(signal.SIGINT)
        running.start()
        with pytest.raises(CuecardError, match="does not let you in") as told:
            Workspace.open(running.url)
        assert not isinstance(told.value, DatabaseAway)
