"""Writes a bundle of what one person did, or of whole runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.annotate.sharing.bundle import (
    MAX_FILE,
    MAX_UNPACKED,
    SUFFIX,
    Header,
    body_of,
    compressed,
    header_line,
    header_of,
    is_compressed,
)
from cuecard.core.errors import Conflict, CuecardError
from cuecard.core.i18n import _
from cuecard.core.system import replace_file
from cuecard.core.text import slug
from cuecard.store.bundle_records import Bundle

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class WrittenBundle:
    """A bundle that was written. `size` in bytes; `kinds`: one word for each of its entries, as in `Arrived`; `drafts`:
    the person's unsaved edits, which are never packed.
    """

    path: Path
    header: Header
    size: int
    kinds: tuple[str, ...] = ()
    drafts: int = 0


@dataclass(frozen=True)
class Preview:
    """What a bundle would hold, as in `WrittenBundle`, and its file's name."""

    name: str
    kinds: tuple[str, ...]
    drafts: int


def preview_bundle(workspace: Workspace, person: str, since: datetime | None = None) -> Preview:
    """What `write_bundle` would write; no kinds if there is nothing."""
    bundle = workspace.exchange.bundle(person, since=since)
    name = default_name(header_of(bundle, b"", since))
    return Preview(name, _own(bundle, since), len(workspace.drafts.of(person)))


def bundle_bytes(bundle: Bundle, since: datetime | None = None) -> bytes:
    """The bundle file's bytes; equal content gives equal bytes."""
    body = body_of(bundle)
    return compressed(header_line(header_of(bundle, body, since)) + body)


def write_bundle(
    workspace: Workspace,
    person: str,
    path: Path | None = None,
    *,
    since: datetime | None = None,
    runs: Sequence[int] = (),
) -> WrittenBundle:
    """Write what `person` did (at `since` or later) to `path`, or to a file named after them in the current folder;
    with `runs`, these runs in full instead. An existing bundle is replaced. Raises `CuecardError` if there is nothing
    to pack, it is too large, or the file cannot be written; `NotFound` for an unknown run.
    """
    bundle = (
        workspace.exchange.bundle_of_runs(person, runs)
        if runs
        else workspace.exchange.bundle(person, since=since)
    )
    if bundle.empty:
        raise CuecardError(
            _("There is nothing to pack"),
            _("{person} has done nothing in this workspace that could travel.").format(
                person=person
            )
            if since is None
            else _("{person} has done nothing since {time}.").format(
                person=person, time=since.isoformat(timespec="minutes")
            ),
            _("Is this the right workspace (--db) and the right name (--as)? Drafts do not travel: save a revision."),
            in_app=_("Is this the right workspace and the right name (6)? Drafts do not travel: save a revision."),
        )  # fmt: skip
    body = body_of(bundle)
    header = header_of(bundle, body, since)
    data = compressed(header_line(header) + body)
    if len(body) > MAX_UNPACKED or len(data) > MAX_FILE:
        raise CuecardError(
            _("This is more than a pack can hold"),
            _("A pack unpacks to at most {n} MB.").format(n=MAX_UNPACKED >> 20),
            _("Pack runs one at a time, or copy the workspace (with the app closed)."),
        )
    path = path or Path(default_name(header, bundle.runs[0].name if bundle.runs else ""))
    _replace(path, data)
    drafts = 0 if runs else len(workspace.drafts.of(person))
    return WrittenBundle(path, header, len(data), _own(bundle, since), drafts)


def _own(bundle: Bundle, since: datetime | None) -> tuple[str, ...]:
    signed = [
        revision
        for revision in bundle.revisions
        if any(
            s.author == bundle.person and (since is None or s.at >= since)
            for s in revision.signatures
        )
    ]
    own = () if bundle.runs else signed
    return (
        *("revision" for _revision in own),
        *(entry.body.kind for entry in bundle.contributions),
        *("label" for _label in bundle.labels),
        *("effort" for _effort in bundle.effort),
        *("reveal" for _reveal in bundle.reveals),
        *("adjudication" for _decision in bundle.adjudications),
        *("label_set" for _drawn in bundle.label_sets),
        *("run" for _run in bundle.runs),
        *("trial" for _trial in bundle.trials),
        *("event" for trial in bundle.trials for _event in trial.events),
        *("judgement" for trial in bundle.trials for _judgement in trial.judgements),
        *("judge_call" for trial in bundle.trials for _call in trial.calls),
        *("shadow" for trial in bundle.trials for _shadow in trial.shadows),
        *("session_form" for trial in bundle.trials for _form in trial.forms),
        *("trial_note" for trial in bundle.trials for _note in trial.notes),
    )


def default_name(header: Header, run: str = "") -> str:
    """The file's name, `ana-2026-11-21.cuepack`: the person, or the first run, and the day of the newest entry."""
    day = header.until.strftime("-%Y-%m-%d") if header.until else ""
    return f"{slug(run or header.person)}{day}{SUFFIX}"


def _replace(path: Path, data: bytes) -> None:
    """Write the file atomically. Only bundles are replaced."""
    try:
        if path.exists() and (path.is_dir() or not is_compressed(path)):
            raise Conflict(
                _("This is not a pack"),
                _("{path} is something else, and was left as it is.").format(path=path),
                _("Choose another name with -o."),
                in_app=_("Choose another name."),
            )
        replace_file(path, data)
    except OSError as error:
        raise CuecardError(
            _("The pack cannot be written"),
            f"{path}: {error.strerror or error}",
            _("Choose another place with -o."),
            in_app=_("Choose another place."),
        ) from error
