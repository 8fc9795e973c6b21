"""Tags that people put on tasks, runs and trials; everybody sees them, and any may take them away again."""

import re
from collections import defaultdict
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import uuid4

from sqlmodel import col, func, select

from cuecard.core.errors import CuecardError, NotFound
from cuecard.core.i18n import _
from cuecard.core.text import for_display, one_line
from cuecard.store.engine import Database
from cuecard.store.roles import ensure_person
from cuecard.store.task_tables import TagRow, TaskRow
from cuecard.store.trial_tables import RunRow, TrialRow

TagKind = Literal["task", "run", "trial"]
MAX_TAG = 40
ARCHIVED = "archived"
"""The tag of a run that lists leave out."""
NAME = "name: "
"""How the tag of a trial begins that is its name."""
_NAMED = {"task": TaskRow.id, "run": RunRow.uid, "trial": TrialRow.uid}


class Tags:
    """Tags by what they are on: the id of a task, the uid of a run or trial."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, kind: TagKind, *, run: int | None = None) -> dict[str, tuple[str, ...]]:
        """The tags of all things of a kind that have any, by name; of trials, of those of one `run`."""
        query = select(TagRow.about, TagRow.tag, TagRow.off).where(TagRow.kind == kind)
        if run is not None:
            trials = select(TrialRow.uid).where(TrialRow.run_id == run)
            query = query.where(col(TagRow.about).in_(trials))
        found: dict[str, dict[str, bool]] = defaultdict(dict)
        with self._database.read() as session:
            for about, tag, off in session.exec(query.order_by(col(TagRow.at), col(TagRow.uid))):
                found[about][tag] = not off
        tags = {
            about: tuple(sorted(tag for tag, on in each.items() if on))
            for about, each in found.items()
        }
        return {about: each for about, each in tags.items() if each}

    def change(
        self,
        kind: TagKind,
        about: str,
        person: str,
        add: Collection[str] = (),
        remove: Collection[str] = (),
    ) -> None:
        """Put these tags on it and take those away; what it has or lacks already stays so. Raises `NotFound` for what is
        not saved here, and `CuecardError` for an unusable tag.
        """
        wanted = {checked_tag(tag): False for tag in add} | dict.fromkeys(remove, True)
        here = self.of(kind).get(about, ())
        changes = {tag: off for tag, off in wanted.items() if (tag in here) is off}
        latest = select(func.max(TagRow.at)).where(TagRow.kind == kind, TagRow.about == about)
        with self._database.append() as session:
            if session.exec(select(_NAMED[kind]).where(_NAMED[kind] == about)).first() is None:
                raise NotFound(_("It is not saved in this workspace"), about)
            by, now = ensure_person(session, person).name, datetime.now(UTC)
            # The newest counts: what changes a tag is newer than what was there, whatever the clock says.
            if (last := session.exec(latest).first()) is not None:
                now = max(now, last + timedelta(microseconds=1))
            session.add_all(
                TagRow(uid=uuid4().hex, kind=kind, about=about, tag=tag, off=off, person=by, at=now)
                for tag, off in changes.items()
            )

    def name_of_trial(self, uid: str) -> str:
        """The name that people gave a trial, "" for none."""
        return name_in(self.of("trial").get(uid, ()))

    def name_trial(self, uid: str, person: str, name: str) -> None:
        """Give a trial a name in place of the one it has, or with "" none. Raises `NotFound`, and `CuecardError` for an
        unusable name.
        """
        before = [tag for tag in self.of("trial").get(uid, ()) if tag.startswith(NAME)]
        wanted = [f"{NAME}{name}"] if name else []
        self.change("trial", uid, person, wanted, set(before) - set(wanted))


def name_in(tags: Collection[str]) -> str:
    """The name of a trial with these tags, "" for none."""
    return next((tag.removeprefix(NAME) for tag in tags if tag.startswith(NAME)), "")


def without_name(tags: Collection[str]) -> tuple[str, ...]:
    """The tags that are not the name of a trial."""
    return tuple(tag for tag in tags if not tag.startswith(NAME))


def of_run(tags: Collection[str]) -> tuple[str, ...]:
    """The tags of a run but for the one that says that it is archived."""
    return tuple(tag for tag in tags if tag != ARCHIVED)


def tags_in(*texts: str) -> list[str]:
    """The tags that somebody wrote: commas part them, so that one may have blanks. Raises `CuecardError`."""
    return [checked_tag(tag) for tag in re.split("[,，]", ",".join(texts)) if tag.strip()]


def checked_tag(text: str) -> str:
    """The tag without surrounding blanks. Raises `CuecardError` if it cannot be one."""
    tag = text.strip()
    if tag and len(tag) <= MAX_TAG and "," not in tag and for_display(tag) == tag == one_line(tag):
        return tag
    told = _("A tag has 1 to {n} characters on one line, without a comma.").format(n=MAX_TAG)
    raise CuecardError(_("This cannot be a tag"), told)
