"""What members may read and write on PostgreSQL, who are no coordinators: a rule for each table, made policies, views and
rights of roles.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

_ALL = "(SELECT cuecard_sees_all())"
_ME = "(SELECT cuecard_person())"
_WAITS = "(SELECT w.trial_id, w.item_key FROM cuecard_waiting() w)"
_TRIAL = "trial_id NOT IN (SELECT w.trial_id FROM cuecard_waiting() w)"
_WAITING = "(SELECT t.uid FROM trial t WHERE t.id IN (SELECT w.trial_id FROM cuecard_waiting() w))"
_ITEM = f"(trial_id, item_key) NOT IN {_WAITS}"
_OPEN_REVIEWS = "(SELECT o.task_id, o.revision FROM cuecard_open_reviews() o)"
_SEEN = f"""{_ALL} OR by = {_ME} OR CASE
    WHEN kind IN ('reviewed', 'third_asked') THEN (task_id, revision) IN {_OPEN_REVIEWS}
    WHEN kind IN ('claimed', 'released') THEN about = {_ME}
    WHEN kind IN ('gold_built', 'gold_decided') THEN task_id IN (SELECT cuecard_wrote({_ME}))
        OR (task_id, revision) IN (SELECT b.task_id, b.revision FROM cuecard_built() b)
    WHEN kind = 'answered' THEN about IN (SELECT cuecard_commented())
    WHEN kind = 'qc_decided' THEN task_id NOT IN (SELECT cuecard_blind_tasks())
    ELSE true END"""


class Rule(NamedTuple):
    """What a member, who is no coordinator, may do with a table. `by`: the column that holds in whose name a row is;
    `sees`: the SQL condition of the rows that they see, besides their own; `more`: rights besides reading and adding;
    `checks`: what must hold of a row that they add; `columns`: what they may read, if not all.
    """

    by: str = ""
    sees: str = "true"
    more: str = ""
    checks: str = "true"
    columns: str = ""


_OWN = "false"
RULES: dict[str, Rule] = {
    "adjudication": Rule("by", _ITEM),
    "claim": Rule(more="UPDATE"),
    "content": Rule(),
    "contribution": Rule(
        "by",
        _SEEN,
        checks=f"({_ALL} OR kind NOT IN ('prioritised', 'claimed', 'released') OR about = {_ME})",
    ),
    "allowance": Rule(more="UPDATE, DELETE"),
    "cosign": Rule("author"),
    "draft": Rule("person", _OWN, "UPDATE, DELETE"),
    "effort": Rule("person"),
    "event": Rule(),
    "judgecall": Rule(sees=_TRIAL),
    "judgement": Rule(sees=_TRIAL),
    "label": Rule("person", _ITEM),
    "labelset": Rule("created_by"),
    "passage": Rule(),
    "payload": Rule(),
    "person": Rule(),
    "reveal": Rule("person", _OWN),
    "reviewform": Rule("reviewer", _OWN, "UPDATE, DELETE"),
    "revision": Rule("author"),
    "roleentry": Rule(checks=f"{_ALL} AND kind = 'acted' AND role = session_user::text"),
    "run": Rule("created_by", more="UPDATE (name, state, limits, plan, reason)"),
    "runlease": Rule(more="UPDATE, DELETE"),
    "runorder": Rule("person"),
    "searchmark": Rule(more="UPDATE"),
    "seatmove": Rule("person"),
    "sessionform": Rule("person"),
    "setitem": Rule(columns="set_id, position, trial_id, item_key, raters, people"),
    "shadow": Rule(sees=_TRIAL),
    "standing": Rule(more="UPDATE"),
    "tag": Rule("person", f"kind <> 'trial' OR about NOT IN {_WAITING}"),
    "take": Rule(),
    "task": Rule(more="UPDATE"),
    "throwndraft": Rule("person", _OWN),
    "trial": Rule(more="UPDATE (termination, detail, ended_at)"),
    "trialfigures": Rule(sees=_TRIAL, more="UPDATE"),
    "trialnote": Rule("person", _TRIAL),
    "usage": Rule(more="UPDATE"),
    "verdict": Rule(sees=_ITEM),
    "worker": Rule("person", more="UPDATE, DELETE"),
}
"""By table. What is not here no member may read or write."""
VIEWS = ("contributionlog", "labelledcount", "rolenow", "setitemlog")
"""What members read besides: see roles.sql."""
QUEUE = "cuecard_"
"""What the names of PgQueuer's tables begin with, which stand beside ours; see `store.queue`."""
_QUEUE_TABLES = f"{QUEUE}pgqueuer, {QUEUE}pgqueuer_log, {QUEUE}pgqueuer_statistics"
_QUEUE_THERE = f"SELECT to_regclass('{QUEUE}pgqueuer') IS NOT NULL"
_QUEUE_OPEN = f"coalesce(has_table_privilege('public', to_regclass('{QUEUE}pgqueuer'), 'INSERT'), {{missing}})"
_MAPPED = "SELECT role FROM rolenow JOIN pg_roles ON rolname = role WHERE person <> ''"

_SCHEMA = "SELECT quote_ident(current_schema())"
_FUNCTIONS = (
    "SELECT string_agg(oid::regprocedure::text, ', ') FROM pg_proc"
    " WHERE pronamespace = current_schema()::regnamespace AND prosecdef"
)
OWNER = (
    "SELECT session_user::text, relowner::regrole::text, pg_has_role(session_user, relowner, 'MEMBER')"
    " FROM pg_class WHERE oid = 'alembic_version'::regclass"
)
"""The role of this session, the one that owns the tables, and whether the first may act as the second."""


def install(connection: Connection) -> None:
    """Make, or renew, functions, views and policies, on PostgreSQL. They hide nothing until a role is mapped."""
    if connection.dialect.name == "sqlite":
        return
    schema = _scalar(connection, _SCHEMA)
    script = Path(__file__).with_name("roles.sql").read_text(encoding="utf-8")
    found = set(
        connection.execute(
            text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        ).scalars()
    )
    statements = [script.replace("{schema}", schema).replace("{seen}", _SEEN)]
    for table, rule in RULES.items():
        if table not in found or rule == Rule(more=rule.more, columns=rule.columns):
            continue
        mine = f"{rule.by} = {_ME}" if rule.by else "true"
        sees = (
            "true"
            if rule.sees == "true"
            else f"{_ALL} OR {(rule.by and mine) or 'false'} OR {rule.sees}"
        )
        policies = [
            f"SELECT USING ({sees})",
            f"INSERT WITH CHECK (({_ALL} OR {mine}) AND {rule.checks})",
        ]
        if rule.more:
            # Which columns of others' rows may change, the rights say.
            theirs = f"({_ALL} OR {mine})" if rule.sees == _OWN else "(true)"
            policies += [f"UPDATE USING {theirs} WITH CHECK {theirs}", f"DELETE USING {theirs}"]
        statements.append(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
        for policy in policies:
            name = f"cuecard_{policy.split()[0].lower()}"
            statements.append(f'DROP POLICY IF EXISTS {name} ON "{table}"')
            statements.append(f'CREATE POLICY {name} ON "{table}" FOR {policy}')
    execute(connection, *statements)
    make_queue(connection)
    # Rows that came from another server tell of roles that may not be on this one.
    for role in connection.execute(text(_MAPPED)).scalars():
        grant(connection, role)


def queue_due(connection: Connection) -> bool:
    """Whether this role owns the workspace, and the queue of workers is still to be made or to be closed to strangers."""
    _role, _owner, owns = connection.execute(text(OWNER)).one()
    missing = str(find_spec("pgqueuer") is not None)
    return owns and _scalar(connection, f"SELECT {_QUEUE_OPEN.format(missing=missing)}") is True


def install_queue(connection: Connection) -> None:
    """Make the tables of the queue of workers, if their package is there and they are not; members alone may use them.
    As the owner of the workspace.
    """
    make_queue(connection)
    for role in connection.execute(text(_MAPPED)).scalars():
        grant(connection, role)


def make_queue(connection: Connection) -> None:
    """The tables of the queue of workers, as `install_queue` makes them, without anybody's rights."""
    if not connection.execute(text(_QUEUE_THERE)).scalar_one():
        if find_spec("pgqueuer") is None:
            return
        from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment
        from pgqueuer.domain.settings import DBSettings

        made = QueryBuilderEnvironment(DBSettings(prefix=QUEUE))
        execute(connection, made.build_install_query(create_schema=False))
    # An earlier version let everybody in.
    sequences = f"{QUEUE}pgqueuer_id_seq, {QUEUE}pgqueuer_log_id_seq"
    execute(
        connection,
        f"REVOKE ALL ON {_QUEUE_TABLES} FROM PUBLIC",
        f"REVOKE ALL ON SEQUENCE {sequences} FROM PUBLIC",
    )


def close_schema(connection: Connection) -> None:
    """Let nobody else make functions there, which the owner's functions could then call."""
    execute(connection, f"REVOKE CREATE ON SCHEMA {_scalar(connection, _SCHEMA)} FROM PUBLIC")


def grant(connection: Connection, role: str, *, nothing: bool = False) -> None:
    """Give a role the rights of a member, who owns nothing, so that triggers and policies hold; or take all away."""
    quote = connection.dialect.identifier_preparer.quote_identifier
    name, schema = quote(role), _scalar(connection, _SCHEMA)
    statements = [
        f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM {name}",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {name}",
        f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA {schema} FROM {name}",
    ]
    if not nothing:
        for table, rule in RULES.items():
            read = f"SELECT ({rule.columns})" if rule.columns else "SELECT"
            rights = ", ".join(filter(None, (read, "INSERT", rule.more)))
            statements.append(f"GRANT {rights} ON {quote(table)} TO {name}")
        statements += [
            f"GRANT SELECT ON alembic_version, {', '.join(VIEWS)} TO {name}",
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {name}",
            f"GRANT USAGE ON SCHEMA {schema} TO {name}",
        ]
        if connection.execute(text(_QUEUE_THERE)).scalar_one():
            statements.append(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {_QUEUE_TABLES} TO {name}")
    # What sees as the owner answers members alone, and nobody else who may connect.
    functions = _scalar(connection, _FUNCTIONS)
    statements.append(f"REVOKE ALL ON FUNCTION {functions} FROM PUBLIC")
    for member in connection.execute(text(_MAPPED)).scalars():
        statements.append(f"GRANT EXECUTE ON FUNCTION {functions} TO {quote(member)}")
    execute(connection, *statements)


def _scalar(connection: Connection, query: str) -> Any:
    return connection.execute(text(query)).scalar_one()


def execute(connection: Connection, *statements: str) -> None:
    """Several statements at once, which take no parameters."""
    # Without parameters several statements go at once, and % stays what it is.
    connection.exec_driver_sql(";\n".join(statements), execution_options={"no_parameters": True})
