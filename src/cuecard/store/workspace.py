"""Opens and upgrades a workspace; what of others' decisions a person may be shown (`Sight`); where events go in."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from cuecard.core.archive import PATIENCE, Done
from cuecard.core.engine.events import AgentSpoke, Event, TrialStarted
from cuecard.core.errors import CuecardError, DatabaseAway
from cuecard.core.i18n import _
from cuecard.core.secrets import guard_address, public_form
from cuecard.core.verdicts import Item
from cuecard.core.worker_archive import Claim
from cuecard.store import as_url
from cuecard.store import errors as troubles
from cuecard.store.allowances import Allowances, Orders
from cuecard.store.database_file import check_file
from cuecard.store.engine import BUSY_SECONDS, Database, began_to_write
from cuecard.store.labels import TrialNotes
from cuecard.store.leases import Leases
from cuecard.store.play_sessions import PlayerMoves, SessionForms, Shadows
from cuecard.store.roles import Effort, People, Roles, check_owner
from cuecard.store.runs import Runs
from cuecard.store.schema import ensure_head
from cuecard.store.tasks import Tasks
from cuecard.store.trial_logs import JudgeCalls, KeptPrompts
from cuecard.store.verdicts import Figures, Verdicts
from cuecard.store.writer import EventWriter, Session

if TYPE_CHECKING:
    from cuecard.store.audit_findings import OnAudit, Part
    from cuecard.store.bundles import Exchange
    from cuecard.store.copies import Copies
    from cuecard.store.drafts import Drafts, ReviewForms
    from cuecard.store.label_sets import Adjudications, LabelSets
    from cuecard.store.queue import Workers
    from cuecard.store.reviews import Reviews
    from cuecard.store.search import Search
    from cuecard.store.tags import Tags
    from cuecard.store.verdict_pages import VerdictPages


class Workspace:
    """An open workspace, with an attribute for each kind of thing it keeps: `workspace.tasks.revision("espresso")`.
    Calls block; they may come from any thread.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer: EventWriter | None = None
        self._lock = threading.Lock()
        self.patience = PATIENCE
        """Seconds that what is recorded waits for a database that is away, until it is given up."""
        self.people = People(database)
        self.roles = Roles(database)
        self.tasks = Tasks(database)
        self.effort = Effort(database)
        self.leases = Leases(database, self._settle_events)
        self.allowances = Allowances(database)
        self.orders = Orders(database)
        self.runs = Runs(database, self.leases, self._settle_events)
        self.shadows = Shadows(database)
        self.player_moves = PlayerMoves(database)
        self.session_forms = SessionForms(database)
        self.judge_calls = JudgeCalls(database)
        self.verdicts = Verdicts(database)
        self.prompts = KeptPrompts(database)
        self.figures = Figures(database)
        self.trial_notes = TrialNotes(database)

    @classmethod
    def open(
        cls,
        url_or_path: str | Path,
        *,
        create: bool = True,
        busy: float = BUSY_SECONDS,
        waiting: Callable[[CuecardError], None] | None = None,
    ) -> Workspace:
        """Open the workspace at a path or URL; it is created (if `create`) and upgraded where needed. `busy`: seconds to
        wait for others who write to a SQLite file. `waiting` is told for whom an upgrade on PostgreSQL waits.

        If it is of this version, opening only reads: it does not wait for writers, and works with a file or folder that
        cannot be written (see `read_only`). Raises `NotFound` if it does not exist and `create` is false, or its folder
        does not exist; `CuecardError` if it is not a workspace, damaged, unreadable, of a newer version, or of an older
        one and not writable.
        """
        database = database_at(url_or_path, create=create, busy=busy)
        try:
            ensure_head(database, waiting)
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def url(self) -> str:
        """The address with its password: for opening it again, never for showing."""
        return self._database.url.render_as_string(hide_password=False)

    @property
    def public_url(self) -> str:
        """The address without password, to be shown."""
        return self._database.public_url

    @property
    def read_only(self) -> str:
        """Why nothing can be saved, "" if it can."""
        return self._database.barred.reason if self._database.barred else ""

    def version(self) -> str:
        """Another text than before if anything was saved since, by anybody. Costs next to nothing. Raises
        `CuecardError`.
        """
        return self._database.version()

    def attempt(self, call: Callable[[Workspace], Done]) -> Done:
        """The result of `call`. If the database goes away under it, `DatabaseAway.wrote` tells whether it had begun to write."""
        began_to_write.set(False)
        with self._database.one_moment():
            return call(self)

    def try_writing(self) -> None:
        """Raises the `CuecardError` that a write would raise; what waits to be recorded is tried again."""
        if not self.read_only:
            self._database.try_writing()
        if self._writer is not None:
            self._writer.try_again()

    def when_away(self, listener: Callable[[DatabaseAway], None] | None) -> None:
        """Have `listener` called, on any thread, with each error that says that the database is away."""
        self._database.on_away = listener

    def give_up(self) -> None:
        """Let nothing wait any more for a database that is away."""
        self.patience = 0.0
        if self._writer is not None:
            self._writer.try_again()

    @cached_property
    def drafts(self) -> Drafts:
        """Unsaved edits; this and what follows is loaded on first use."""
        from cuecard.store.drafts import Drafts

        return Drafts(self._database)

    @cached_property
    def review_forms(self) -> ReviewForms:
        """Reviews that were begun."""
        from cuecard.store.drafts import ReviewForms

        return ReviewForms(self._database)

    @cached_property
    def reviews(self) -> Reviews:
        """What people did to tasks."""
        from cuecard.store.reviews import Reviews

        return Reviews(self._database)

    @cached_property
    def tags(self) -> Tags:
        """Tags of tasks, runs and trials."""
        from cuecard.store.tags import Tags

        return Tags(self._database)

    @cached_property
    def label_sets(self) -> LabelSets:
        """Sets of items for people to label."""
        from cuecard.store.label_sets import LabelSets

        return LabelSets(self._database)

    @cached_property
    def adjudications(self) -> Adjudications:
        """What third people decided where labels differ."""
        from cuecard.store.label_sets import Adjudications

        return Adjudications(self._database)

    @cached_property
    def verdict_pages(self) -> VerdictPages:
        """Verdicts, page by page."""
        from cuecard.store.verdict_pages import VerdictPages

        return VerdictPages(self._database)

    @property
    def workers(self) -> Workers:
        """The trials that are offered to workers, and who these are; loaded on first use."""
        from cuecard.store.queue import Workers

        return Workers(self._database, self.leases)

    @property
    def search(self) -> Search:
        """Words in what trials and judges said; loaded on first use."""
        from cuecard.store.search import Search

        return Search(self._database)

    @property
    def exchange(self) -> Exchange:
        """Export and import of bundles; loaded on first use, because few sessions need it."""
        from cuecard.store.bundles import Exchange

        return Exchange(self._database, self.leases)

    @property
    def copies(self) -> Copies:
        """Moving the workspace to another database, and backing it up; loaded on first use."""
        from cuecard.store.copies import Copies

        return Copies(self._database, self.leases)

    def audit(self, told: OnAudit) -> list[Part]:
        """Read everything, and hold it against its names and against what it was counted from."""
        from cuecard.store.audit import audit

        check_owner(self._database, _("Reading the workspace whole"))

        return audit(self._database, told)

    def sink(self, trial_id: int, claim: Claim | None = None) -> StoreSink:
        """What the engine gives the events of this trial to, to have them written: as long as `claim` stands, if given."""
        return StoreSink(self, trial_id, claim)

    @property
    def event_writer(self) -> EventWriter:
        """The thread that writes events, started on first use."""
        with self._lock:
            if self._writer is None:
                self._writer = EventWriter(self._database, lambda: self.patience)
            return self._writer

    def close(self) -> None:
        """Write all pending events, release the runs, and close the database."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
        self.leases.close()
        self._database.close()

    def _settle_events(self) -> None:
        if self._writer is not None:
            self._writer.settle()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def database_at(url_or_path: str | Path, *, create: bool, busy: float = BUSY_SECONDS) -> Database:
    """The database at a path or URL, whatever it holds. `busy`: see `Database`. Raises as `Workspace.open`."""
    url = _parsed(url_or_path)
    guard_address(url.render_as_string(hide_password=False))
    barred = check_file(url, create) if url.get_backend_name() == "sqlite" else None
    return Database(url, barred, busy)


def _parsed(url_or_path: str | Path) -> URL:
    try:
        url = make_url(as_url(url_or_path))
    except (ArgumentError, ValueError):
        # Neither text nor cause: both may hold a password in a place where nobody looks for it.
        raise troubles.bad_url("") from None
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("sqlite", "postgresql+psycopg"):
        raise troubles.bad_url(public_form(url.render_as_string(hide_password=True)))
    return url


class Sight:
    """What one person may be shown of others' decisions on items, so that items they still have to label stay blind.
    Decisions are verdicts, adjudications, what the trial's user decided, and other people's labels. Ask `may_tell`
    before showing any, and call `record` afterwards: later labels on shown items are not blind. `reveal`: the person
    asked to see everything. `person` "": nobody looks (statistics).
    """

    def __init__(self, workspace: Workspace, person: str = "", *, reveal: bool = False) -> None:
        self._workspace = workspace
        self.person = person
        self._reveal = reveal
        # A bit an item, for a person may be told everything about very many trials.
        self._told: defaultdict[int, int] = defaultdict(int)
        self._bits: dict[Item, int] = {}
        self._fresh = False
        self._hidden: set[tuple[int, str]] = set()

    @property
    def hidden(self) -> int:
        """How many items were asked about and had to stay hidden."""
        return len(self._hidden)

    @property
    def shown(self) -> int:
        """How many items were shown; `record` marks them as seen."""
        return sum(items.bit_count() for items in self._told.values())

    def may_tell(self, trial_id: int, item: Item) -> bool:
        """Whether decisions on the item may be shown. If so, the item counts as shown, otherwise as hidden."""
        if self._waiting and (trial_id, item.key) in self._waiting:
            self._hidden.add((trial_id, item.key))
            return False
        if self.person:
            self._fresh = True
            self._told[trial_id] |= 1 << self._bits.setdefault(item, len(self._bits))
        return True

    def waits(self, trial_id: int, item: Item) -> bool:
        """Whether decisions on the item may not be shown yet; asking counts for nothing."""
        return (trial_id, item.key) in self._waiting

    def hide(self, trial_id: int, item: Item) -> None:
        """Count the item as hidden for a reason of the caller's own."""
        self._hidden.add((trial_id, item.key))

    def may_open(self, trial_id: int) -> bool:
        """Whether a whole trial may be shown, because none of its items waits for the person's label."""
        waiting = self._by_trial.get(trial_id, ())
        self._hidden.update((trial_id, key) for key in waiting)
        return not waiting

    def record(self) -> None:
        """Save which items were shown. A read-only workspace is passed over, as nobody can label in it, except that
        with `reveal` it raises `CuecardError`.
        """
        if self._fresh and (self._reveal or not self._workspace.read_only):
            self._workspace.verdicts.note_reveals(self._all_told(), self.person)
            self._fresh = False

    def _all_told(self) -> Iterator[tuple[int, Item]]:
        items = list(self._bits)
        for trial_id, left in self._told.items():
            while left:
                bit = left & -left
                yield trial_id, items[bit.bit_length() - 1]
                left ^= bit

    @cached_property
    def _waiting(self) -> frozenset[tuple[int, str]]:
        if self._reveal or not self.person:
            return frozenset()
        return self._workspace.label_sets.waiting_everywhere(self.person)

    @cached_property
    def _by_trial(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for trial_id, key in self._waiting:
            found.setdefault(trial_id, []).append(key)
        return found


class StoreSink:
    """Where the engine writes a trial's events: `append` returns when the event is on the disk.

    For an event that resuming would make again from earlier ones (an agent's utterance, from its model's recorded
    replies) `append` returns at once. It is still written before all later events; if writing fails, the next `append`
    raises the error.
    """

    def __init__(self, workspace: Workspace, trial_id: int, claim: Claim | None = None) -> None:
        self._writer = workspace.event_writer
        self._trial_id = trial_id
        self._session = Session(claim)

    async def append(self, event: Event) -> None:
        """Raises what `Runs.append_events` raises, and raises it again for every later event. If cancelled, it still
        waits until the event is written or refused; a refusal is raised in place of `CancelledError`.
        """
        lazy = _follows(event) and not self._writer.crowded
        job = self._writer.submit(self._trial_id, event, self._session, lazy=lazy)
        if lazy:
            return
        try:
            await job.wait()
        finally:
            if job.error is not None:
                raise job.error

    def stream(self, turn: int, text: str) -> None:
        """Does nothing: unfinished text is not saved."""


def _follows(event: Event) -> bool:
    """Whether resuming would make this event again. An interrupted utterance would not come back."""
    if isinstance(event.body, AgentSpoke):
        return not event.body.reply.interrupted
    return isinstance(event.body, TrialStarted)
