"""The one way to everything that is saved.

A `Workspace` may be used from any thread; each call opens and ends its own short session.
"""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from cuecard.core.scrubbing import guard_address, public_form
from cuecard.store import troubles
from cuecard.store.access import check_file
from cuecard.store.adjudications import Adjudications
from cuecard.store.drafts import Drafts
from cuecard.store.effort import Effort
from cuecard.store.engine import Database
from cuecard.store.figures import Figures
from cuecard.store.judge_calls import JudgeCalls
from cuecard.store.label_sets import LabelSets
from cuecard.store.leases import Leases
from cuecard.store.locate import as_url
from cuecard.store.migrate import ensure_head
from cuecard.store.people import People
from cuecard.store.prompts import KeptPrompts
from cuecard.store.review_forms import ReviewForms
from cuecard.store.reviews import Reviews
from cuecard.store.runs import Runs
from cuecard.store.seat_moves import SeatMoves
from cuecard.store.session_forms import SessionForms
from cuecard.store.shadows import Shadows
from cuecard.store.tasks import Tasks
from cuecard.store.trial_notes import TrialNotes
from cuecard.store.verdict_pages import VerdictPages
from cuecard.store.verdicts import Verdicts
from cuecard.store.writer import EventWriter

if TYPE_CHECKING:
    from cuecard.store.exchange import Exchange


class Workspace:
    """An open workspace. Its rooms: `people`, `tasks`, `drafts`, `effort`, `reviews`, `review_forms`,
    `runs`, `leases`, `shadows`, `seat_moves`, `session_forms`, `judge_calls`, `verdicts`, `verdict_pages`,
    `label_sets`, `adjudications`, `prompts`, `figures`, `trial_notes`, `exchange`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer: EventWriter | None = None
        self._lock = threading.Lock()
        self.people = People(database)
        self.tasks = Tasks(database)
        self.drafts = Drafts(database)
        self.effort = Effort(database)
        self.reviews = Reviews(database)
        self.review_forms = ReviewForms(database)
        self.leases = Leases(database)
        self.runs = Runs(database, self.leases, self._settle_events)
        self.shadows = Shadows(database)
        self.seat_moves = SeatMoves(database)
        self.session_forms = SessionForms(database)
        self.judge_calls = JudgeCalls(database)
        self.verdicts = Verdicts(database)
        self.verdict_pages = VerdictPages(database)
        self.label_sets = LabelSets(database)
        self.adjudications = Adjudications(database)
        self.prompts = KeptPrompts(database)
        self.figures = Figures(database)
        self.trial_notes = TrialNotes(database)

    @classmethod
    def open(cls, url_or_path: str | Path, *, create: bool = True) -> Workspace:
        """Open the workspace at a path or URL, created (if `create`) and upgraded where needed.

        Opening one of this version only reads: it waits for nobody who writes, and does with a file or a folder
        that cannot be written (`read_only`). Raises `NotFound` if it is not there and `create` is false, or its
        folder does not exist; `CuecardError` if it is not a workspace, damaged, not readable, of a newer version,
        or of an older one and not writable.
        """
        url = _parsed(url_or_path)
        guard_address(url.render_as_string(hide_password=False))
        barred = check_file(url, create) if url.get_backend_name() == "sqlite" else None
        database = Database(url, barred)
        try:
            ensure_head(database)
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def url(self) -> str:
        """The address, password included: for opening again, never for showing."""
        return self._database.url.render_as_string(hide_password=False)

    @property
    def public_url(self) -> str:
        """The address as it may be shown."""
        return self._database.public_url

    @property
    def read_only(self) -> str:
        """Why nothing can be saved here, "" where it can."""
        return self._database.barred.reason if self._database.barred else ""

    @property
    def exchange(self) -> Exchange:
        """Imported on first use: few sessions pack or merge."""
        from cuecard.store.exchange import Exchange

        return Exchange(self._database, self.leases)

    @property
    def event_writer(self) -> EventWriter:
        """The thread that writes events, started on first use."""
        with self._lock:
            if self._writer is None:
                self._writer = EventWriter(self._database)
            return self._writer

    def close(self) -> None:
        """Write what waits, and let go of runs and of the database."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


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
