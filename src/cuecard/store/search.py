"""Looks for words in what was said in trials, by an index, and in judges' reasons; the newest first.

The index holds no text, only parts of words: of Chinese, Japanese and Korean every pair of characters; of other words every
three letters on SQLite (a table of FTS5 without contents), whole words on PostgreSQL (lexemes with a GIN index). What it
names is read and looked through before it counts. Whoever searches brings it up to date: writing events costs nothing more.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Table, and_, bindparam, func, or_, select, text
from sqlmodel import Session

from cuecard.core.errors import DatabaseAway
from cuecard.store.codec import unpack
from cuecard.store.engine import Database
from cuecard.store.task_tables import clean, insert_of, metadata
from cuecard.store.verdict_pages import VerdictFilter, conditions

WORDS, LETTERS = 8, 200
"""How many words are looked for at most, and how long they are together."""
_WINDOW = 2000
"""The newest events, which are looked through as they are: what is said often is found there at once."""
_OF_ONE = 3
"""Places of one trial that are told at most."""
_AT_ONCE = 500
_VERDICTS = 50_000
_PARTS = 12
_SHIFT = 24
_PAIRED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE = re.compile(rf"([{_PAIRED}]+)|([^\W_{_PAIRED}]+)")
_SAYING = (
    "user_spoke",
    "agent_spoke",
    "tool_answered",
    "model_replied",
    "marked",
    "concluded",
    "trial_ended",
)
_MAKE = "CREATE VIRTUAL TABLE {} passages USING fts5(parts, content='', columnsize=0, detail=none, tokenize='ascii')"
_TABLES = "SELECT count(*) FROM sqlite_master WHERE name = 'passages'"
_EVENT: Table = metadata.tables["event"]
_TRIAL: Table = metadata.tables["trial"]
_VERDICT: Table = metadata.tables["verdict"]
_JUDGEMENT: Table = metadata.tables["judgement"]
_MARKS: Table = metadata.tables["searchmark"]
_PASSAGES: Table = metadata.tables["passage"]


class Utterance(NamedTuple):
    """Where something was said in a trial: the event, and its text as it is searched."""

    trial_id: int
    seq: int
    type: str
    text: str


class Reason(NamedTuple):
    """Why a judge decided so on an item. `id`: of the verdict."""

    id: int
    trial_id: int
    item_key: str
    judge: str
    text: str


def words_in(query: str) -> list[str]:
    """The words of a query as they are looked for: all must occur, in any place and case."""
    return clean(query)[:LETTERS].casefold().split()[:WORDS]


class Search:
    """Words in what trials and judges said. It knows nothing of who must not see what: their caller leaves that out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def behind(self) -> list[tuple[int, int, int]]:
        """Trials of which something is not in the index yet, the newest first: id, from which event, up to which."""
        last = (
            select(func.max(_EVENT.c.seq))
            .where(_EVENT.c.trial_id == _TRIAL.c.id)
            .correlate(_TRIAL)
            .scalar_subquery()
        )
        upto = func.coalesce(_MARKS.c.upto, 0)
        query = (
            select(_TRIAL.c.id, upto, last)
            .outerjoin(_MARKS, _MARKS.c.trial_id == _TRIAL.c.id)
            .where(last >= upto)
            .order_by(_TRIAL.c.id.desc())
        )
        with self._database.read() as session:
            return [(trial, at, end) for trial, at, end in session.connection().execute(query)]

    def catch_up(self, seconds: float = 0.0) -> int:
        """Bring the index up to date, for about so long if `seconds`; how many events are left. A workspace that takes no changes,
        or whose other writers do not let go, stays as it is; then only the newest events are found.
        """
        if self._database.barred:
            return 0
        behind = self.behind()[::-1]  # the newest are the last, and first
        until = time.monotonic() + seconds
        left = sum(end + 1 - at for _trial, at, end in behind)
        while behind:
            some: dict[int, tuple[int, int]] = {}
            room = _AT_ONCE
            while behind and room > 0:
                trial, at, end = behind.pop()
                stop = min(end + 1, at + room)
                some[trial] = at, stop
                room -= stop - at
                if stop <= end:
                    behind.append((trial, stop, end))
            try:
                self._add(some)
            except DatabaseAway:
                break
            left -= sum(stop - at for at, stop in some.values())
            if seconds and time.monotonic() > until:
                break
        return left

    def said(self, words: Sequence[str], limit: int = 60) -> list[Utterance]:
        """Where all these words (`words_in`) were said in one event, of a few in each trial; the newest first."""
        if not words:
            return []
        found: dict[tuple[int, int], Utterance] = {}
        of_trial = Counter[int]()

        def take(rows: Iterable[Utterance]) -> bool:
            for row in rows:
                known = row[:2] in found or of_trial[row.trial_id] >= _OF_ONE
                if not known and holds(row.text, words):
                    found[row.trial_id, row.seq] = row
                    of_trial[row.trial_id] += 1
                    if len(found) >= limit:
                        return True
            return False

        with self._database.read() as session:
            if not take(_newest(session, words)):
                named = _named(session, words, limit * 4)
                for at in range(0, len(named), limit):
                    if take(_read(session, named[at : at + limit])):
                        break
        return sorted(found.values(), key=lambda row: (-row.trial_id, row.seq))

    def reasons(
        self, words: Sequence[str], limit: int = 60, before: int | None = None
    ) -> tuple[list[Reason], int]:
        """What judges' newest reasons hold all these words, the newest first, of some 50,000 verdicts with smaller ids than
        `before`; and the `before` of those that were not looked through, 0 if there are none.
        """
        if not words:
            return [], 0
        with self._database.read() as session:
            connection = session.connection()
            end = before or (connection.execute(select(func.max(_VERDICT.c.id))).scalar() or 0) + 1
            query = (
                select(
                    _VERDICT.c.id,
                    _VERDICT.c.trial_id,
                    _VERDICT.c.item_key,
                    _JUDGEMENT.c.judge_name,
                    _VERDICT.c.rationale,
                )
                .join(_JUDGEMENT, _JUDGEMENT.c.id == _VERDICT.c.judgement_id)
                .where(
                    _VERDICT.c.id < end,
                    _VERDICT.c.id >= end - _VERDICTS,
                    *(_VERDICT.c.rationale.icontains(word, autoescape=True) for word in words),
                    *conditions("", VerdictFilter()),
                )
                .order_by(_VERDICT.c.id.desc())
                .limit(limit)
            )
            found = [Reason(*row) for row in connection.execute(query)]
        if len(found) == limit:
            return found, found[-1].id
        return found, max(0, end - _VERDICTS)

    def _add(self, some: dict[int, tuple[int, int]]) -> None:
        with self._database.read() as session:
            ranges = or_(
                *(
                    and_(_EVENT.c.trial_id == trial, _EVENT.c.seq >= at, _EVENT.c.seq < stop)
                    for trial, (at, stop) in some.items()
                )
            )
            rows = list(_rows(session, _EVENTS.where(ranges)))
        sqlite = self._database.is_sqlite
        made = [
            (row, parts)
            for row in rows
            if (parts := sorted(_parts(row.text.casefold(), whole=not sqlite)))
        ]
        with self._database.beside(patience=1.0) as connection:
            if sqlite:
                _add_sqlite(connection, some, made)
            else:
                _add_postgres(connection, made)
            adding = insert_of(connection.dialect.name, _MARKS)
            more = func.max if sqlite else func.greatest
            newest = {"upto": more(_MARKS.c.upto, adding.excluded.upto)}
            connection.execute(
                adding.on_conflict_do_update(index_elements=["trial_id"], set_=newest),
                [{"trial_id": trial, "upto": stop} for trial, (_at, stop) in sorted(some.items())],
            )


def holds(text: str, words: Sequence[str]) -> bool:
    """Whether all the words (`words_in`) occur."""
    folded = text.casefold()
    return all(word in folded for word in words)


def said_in(body: dict[str, Any]) -> str:
    """What of a stored event is searched: what was said, asked of tools, answered and handed in. What a simulated user
    decided, and why, is left out: who labels it must not read it. Of long texts there is the beginning.
    """
    match body["type"]:
        case "user_spoke" | "agent_spoke":
            return str(body["reply"]["text"])
        case "tool_answered":
            answer = body["answer"]
            text = answer.get("text") or answer.get("head", "")
            entries = answer.get("entries") or ()
            told = [each.get(name, "") for each in entries for name in ("title", "content")]
            if any(told) and all(each in text for each in told):
                told = []  # most worlds answer with the entries as text
            asked = _texts(body["call"].get("arguments"))
            return "\n".join(filter(None, (*asked, text, *told)))
        case "model_replied" if body["part"] != "user":
            reply = body["reply"]
            # What is no call of tools is said in an event of its own.
            shown = (reply.get("reasoning"), reply.get("text") if reply.get("tool_calls") else "")
            return "\n".join(filter(None, map(_beginning, shown)))
        case "marked" if body["part"] != "user":
            return "\n".join(_texts({k: v for k, v in body["mark"].items() if k in _MARKED}))
        case "concluded":
            return "\n".join(_texts({**body["prediction"], "family": None, "kind": None}))
        case "trial_ended":
            return str(body.get("detail") or "")
        case _:
            return ""


_MARKED = ("summary", "notes", "title", "input", "output", "text")


def _beginning(text: Any) -> str:
    """A text, of which a large one is a stub."""
    return cast(dict[str, str], text).get("head", "") if isinstance(text, dict) else text or ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        inside = cast("dict[str, Any] | list[Any]", value)
        for one in inside.values() if isinstance(inside, dict) else inside:
            yield from _texts(one)


def _parts(folded: str, *, whole: bool) -> set[str]:
    """What of a text stands in the index."""
    found = set[str]()
    for pairs, word in _PIECE.findall(folded):
        if pairs:
            found.update(pairs[at : at + 2] for at in range(len(pairs)))
        elif whole:
            found.add(word[:LETTERS])
        else:
            found.update(word[at : at + 3] for at in range(len(word)))
    return found


def _asked(words: Sequence[str], *, whole: bool) -> list[tuple[str, bool]]:
    """Parts that a text must hold to hold all the words, and whether longer ones will do, too."""
    exact, begun = list[str](), list[str]()
    for pairs, word in _PIECE.findall(" ".join(words)):
        step = 2 if pairs else 3
        piece = pairs or word
        if len(piece) < step or (whole and word):
            begun.append(piece)
        else:
            last = len(piece) - step
            exact += [piece[at : at + step] for at in (*range(0, last, step), last)]
    if exact and not whole:
        begun = []  # to look for all that begins so would only cost
    if len(begun) > 1:
        begun = [piece for piece in begun if len(piece) > 2] or begun[:1]
    return [*((part, False) for part in exact[:_PARTS]), *((part, True) for part in begun[:_PARTS])]


_EVENTS = select(
    _EVENT.c.trial_id,
    _EVENT.c.seq,
    _EVENT.c.type,
    _EVENT.c.body,
    _EVENT.c.packed,
).where(_EVENT.c.type.in_(_SAYING))


_EVENTS_AT = "SELECT trial_id, seq, type, body, packed FROM event WHERE"


def _rows(session: Session, query: Any) -> Iterator[Utterance]:
    for row in session.connection().execute(query):
        yield Utterance(
            row.trial_id, row.seq, row.type, said_in(json.loads(unpack(row.body, row.packed)))
        )


def _newest(session: Session, words: Sequence[str]) -> Iterator[Utterance]:
    window = (
        select(_EVENT)
        .order_by(_EVENT.c.trial_id.desc(), _EVENT.c.seq.desc())
        .limit(_WINDOW)
        .subquery()
    )
    row = window.c
    query = select(row.trial_id, row.seq, row.type, row.body, row.packed).where(
        row.type.in_(_SAYING)
    )
    # LIKE of SQLite knows no case of A to Z. On PostgreSQL, lower() of other letters takes most of the time, and is not needed.
    sqlite = session.connection().dialect.name == "sqlite"
    small = row.body if sqlite else func.lower(row.body.collate("C"))
    for pairs, word in _PIECE.findall(" ".join(words)):
        if not pairs and not word.isascii():
            continue  # the database may not know its capitals
        here = row.body.contains(pairs) if pairs else small.contains(word)
        query = query.where(or_(row.packed.is_not(None), here))
    return _rows(session, query.order_by(row.trial_id.desc(), row.seq.desc()))


def _named(session: Session, words: Sequence[str], most: int) -> list[tuple[int, int]]:
    """Trial and number of events that the index names, the newest first."""
    connection = session.connection()
    sqlite = connection.dialect.name == "sqlite"
    asked = _asked(words, whole=not sqlite)
    if not asked or (sqlite and not connection.exec_driver_sql(_TABLES).scalar()):
        return []
    if sqlite:
        match = " AND ".join(f'"{part}"{"*" * more}' for part, more in asked)
        query = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rowid DESC LIMIT ?"
        rowids = connection.exec_driver_sql(query, (match, most)).scalars()
        return [(rowid >> _SHIFT, rowid & (1 << _SHIFT) - 1) for rowid in rowids]
    match = " & ".join(f"'{part}'{':*' * more}" for part, more in asked)
    query = text(
        "SELECT trial_id, seq FROM passage WHERE parts @@ CAST(:match AS tsquery)"
        " ORDER BY trial_id DESC, seq DESC LIMIT :most"
    )
    return [(t, s) for t, s in connection.execute(query, {"match": match, "most": most})]


def _read(session: Session, places: list[tuple[int, int]]) -> list[Utterance]:
    # SQLite looks at every row for a list of pairs, but not for this; as text it need not be compiled.
    here = " OR ".join(f"trial_id = {trial:d} AND seq = {seq:d}" for trial, seq in places)
    found = {row[:2]: row for row in _rows(session, text(f"{_EVENTS_AT} {here}"))} if here else {}
    return [found[place] for place in places if place in found]


def _add_sqlite(
    connection: Connection,
    some: dict[int, tuple[int, int]],
    made: list[tuple[Utterance, list[str]]],
) -> None:
    known = connection.execute(select(_MARKS.c.trial_id, _MARKS.c.upto))
    marks: dict[int, int] = {row.trial_id: row.upto for row in known}
    if not marks:  # of a copy, which has no marks, as of a new one
        connection.exec_driver_sql("DROP TABLE IF EXISTS passages")
    connection.exec_driver_sql(_MAKE.format("IF NOT EXISTS"))
    rows = [
        (row.trial_id << _SHIFT | row.seq, " ".join(parts))
        for row, parts in made
        if row.seq >= marks.get(row.trial_id, 0)  # somebody else may have been first
    ]
    if rows:
        connection.exec_driver_sql("INSERT INTO passages(rowid, parts) VALUES (?, ?)", rows)


def _add_postgres(connection: Connection, made: list[tuple[Utterance, list[str]]]) -> None:
    if made:
        adding = insert_of("postgresql", _PASSAGES)
        parts = func.array_to_tsvector(bindparam("found"))
        connection.execute(
            adding.values(trial_id=bindparam("t"), seq=bindparam("s"), parts=parts)
            .on_conflict_do_nothing(),
            [{"t": row.trial_id, "s": row.seq, "found": found} for row, found in made],
        )  # fmt: skip
