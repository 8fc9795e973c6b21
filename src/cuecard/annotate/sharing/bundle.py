"""The file format of a bundle: compressed within limits, a header, then one entry a line in a fixed order."""

import base64
import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, TypeAdapter

from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen
from cuecard.store.bundle_records import (
    Bundle,
    SharedAdjudication,
    SharedContribution,
    SharedEffort,
    SharedLabel,
    SharedLabelSet,
    SharedReveal,
    SharedRevision,
    SharedRun,
    SharedTrial,
)
from cuecard.store.codec import to_json

SUFFIX = ".cuepack"
MAX_FILE = 128 * 1024 * 1024
MAX_UNPACKED = 512 * 1024 * 1024
_MAGIC = b"\x1f\x8b"
# Neither time nor system: the same content gives the same bytes everywhere.
_FRAME = _MAGIC + b"\x08\x00\x00\x00\x00\x00\x02\xff"


class Unreadable(Exception):
    """Why a file cannot be read as a bundle, translated."""


def compressed(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = packer.compress(data) + packer.flush()
    return _FRAME + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def is_compressed(path: Path) -> bool:
    """Whether a file begins as bundles do. Raises `OSError`."""
    with path.open("rb") as file:
        return file.read(2) == _MAGIC


def opened(path: Path, *, limit: int = MAX_UNPACKED) -> bytes:
    """The uncompressed content of a file, at most `limit` bytes. Raises `Unreadable`."""
    try:
        if path.is_dir():
            raise Unreadable(_("is a folder; name the pack files in it"))
        with path.open("rb") as file:
            # As much as there is, not as the file says: it may be a pipe.
            data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise Unreadable(_("is larger than {n} MB; no pack is").format(n=MAX_FILE >> 20))
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    return uncompressed(data, limit=limit)


def uncompressed(data: bytes, *, limit: int = MAX_UNPACKED) -> bytes:
    """The inverse of `compressed`. Raises `Unreadable`."""
    if not data:
        raise Unreadable(_("is empty"))
    if not data.startswith(_MAGIC):
        raise Unreadable(_("is not a pack"))
    opener = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        # Never more than asked for: a small file may claim to hold gigabytes.
        found = opener.decompress(data, limit + 1)
    except zlib.error as error:
        raise Unreadable(_("is damaged; ask for the file again")) from error
    if len(found) > limit:
        raise Unreadable(_("unpacks to more than {n} MB; no pack does").format(n=limit >> 20))
    if not opener.eof:
        raise Unreadable(_("ends too early; it was not copied in full"))
    if opener.unused_data:
        raise Unreadable(_("has something behind its end; ask for the file again"))
    return found


FORMAT = 1
"""The format's version that this program writes, and the newest that it reads."""
Kind = Literal[
    "task",
    "revision",
    "contribution",
    "label",
    "effort",
    "reveal",
    "adjudication",
    "label_set",
    "payload",
    "run",
    "trial",
]


class Header(Frozen):
    """The first line of a bundle. `person` made it; `since`: entries from then on, None for all; `until`: the time of
    the newest (instead of the time of packing, so that equal content has an equal header). `entries`: counts by kind.
    `sha256`: over the header without it, and the lines that follow.
    """

    cuecard: Literal["pack"] = "pack"
    format: int = FORMAT
    person: str
    since: datetime | None = None
    until: datetime | None = None
    entries: dict[Kind, Annotated[int, Field(ge=0)]] = {}
    sha256: str = ""


class TaskLine(Frozen):
    """The content of revisions; `task` stands last, it is long."""

    entry: Literal["task"] = "task"
    hash: str
    task: dict[str, JsonValue]


class RevisionLine(Frozen):
    entry: Literal["revision"] = "revision"
    revision: SharedRevision


class ContributionLine(Frozen):
    entry: Literal["contribution"] = "contribution"
    contribution: SharedContribution


class LabelLine(Frozen):
    entry: Literal["label"] = "label"
    label: SharedLabel


class EffortLine(Frozen):
    entry: Literal["effort"] = "effort"
    effort: SharedEffort


class RevealLine(Frozen):
    entry: Literal["reveal"] = "reveal"
    reveal: SharedReveal


class AdjudicationLine(Frozen):
    entry: Literal["adjudication"] = "adjudication"
    adjudication: SharedAdjudication


class LabelSetLine(Frozen):
    entry: Literal["label_set"] = "label_set"
    label_set: SharedLabelSet


class PayloadLine(Frozen):
    """A large text of logs, or a prompt: as `text`, or as base64 in `data` if it is no UTF-8."""

    entry: Literal["payload"] = "payload"
    hash: str
    text: str | None = None
    data: str = ""


class RunLine(Frozen):
    entry: Literal["run"] = "run"
    run: SharedRun


class TrialLine(Frozen):
    entry: Literal["trial"] = "trial"
    trial: SharedTrial


Line = Annotated[
    TaskLine
    | RevisionLine
    | ContributionLine
    | LabelLine
    | EffortLine
    | RevealLine
    | AdjudicationLine
    | LabelSetLine
    | PayloadLine
    | RunLine
    | TrialLine,
    Field(discriminator="entry"),
]


@cache
def line_adapter() -> TypeAdapter[Line]:
    return TypeAdapter(Line)


def body_of(bundle: Bundle) -> bytes:
    """All lines but the header; independent of the order in which the parcel was put together."""
    return b"".join(to_json(line) + b"\n" for line in _lines(bundle))


def header_of(bundle: Bundle, body: bytes, since: datetime | None) -> Header:
    # What came to the format later is counted only where there is some, so that what holds none of it is
    # read by earlier versions.
    later: dict[Kind, int] = {
        "reveal": len(bundle.reveals),
        "adjudication": len(bundle.adjudications),
        "label_set": len(bundle.label_sets),
        "payload": len(bundle.payloads),
        "run": len(bundle.runs),
        "trial": len(bundle.trials),
    }
    header = Header(
        person=bundle.person,
        since=since,
        until=max(_moments(bundle), default=None),
        entries={
            "task": len(bundle.tasks),
            "revision": len(bundle.revisions),
            "contribution": len(bundle.contributions),
            "label": len(bundle.labels),
            "effort": len(bundle.effort),
            **{kind: count for kind, count in later.items() if count},
        },
    )
    return header.model_copy(update={"sha256": digest(header, body)})


def digest(header: Header, body: bytes) -> str:
    """SHA-256 over the header's line without its digest and the lines of the body, 64 hex digits."""
    return hashlib.sha256(header_line(header.model_copy(update={"sha256": ""})) + body).hexdigest()


def header_line(header: Header) -> bytes:
    return to_json(header.model_dump(mode="json")) + b"\n"


def _lines(bundle: Bundle) -> Iterator[dict[str, Any]]:
    for hash_, task in sorted(bundle.tasks.items()):
        yield {"entry": "task", "hash": hash_, "task": task.model_dump(mode="json")}
    for revision in in_order(bundle.revisions):
        yield {"entry": "revision", "revision": revision.model_dump(mode="json")}
    yield from _run_lines(bundle)
    for entry in sorted(bundle.contributions, key=lambda e: (e.task_id, e.tick, e.at, e.uid)):
        yield {"entry": "contribution", "contribution": entry.model_dump(mode="json")}
    for label in sorted(bundle.labels, key=_label_order):
        yield {"entry": "label", "label": label.model_dump(mode="json", exclude_defaults=True)}
    for effort in sorted(
        bundle.effort, key=lambda x: (x.task_id, x.at, x.kind, x.amount, x.text, x.person)
    ):
        yield {"entry": "effort", "effort": effort.model_dump(mode="json")}
    for reveal in sorted(bundle.reveals, key=lambda x: (x.trial, x.item, x.at)):
        yield {"entry": "reveal", "reveal": reveal.model_dump(mode="json")}
    for decision in sorted(
        bundle.adjudications, key=lambda x: (x.trial, x.item, x.at, x.value, x.cause, x.comment)
    ):
        yield {"entry": "adjudication", "adjudication": decision.model_dump(mode="json")}
    for drawn in sorted(bundle.label_sets, key=lambda x: (x.at, x.uid)):
        yield {"entry": "label_set", "label_set": drawn.model_dump(mode="json")}


def _run_lines(bundle: Bundle) -> Iterator[dict[str, Any]]:
    for digest, content in sorted(bundle.payloads.items()):
        try:
            yield {"entry": "payload", "hash": digest, "text": content.decode()}
        except UnicodeDecodeError:
            yield {"entry": "payload", "hash": digest, "data": base64.b64encode(content).decode()}
    for run in sorted(bundle.runs, key=lambda x: (x.created_at, x.uid)):
        yield {"entry": "run", "run": run.model_dump(mode="json")}
    for trial in sorted(bundle.trials, key=lambda x: x.order):
        yield {"entry": "trial", "trial": trial.model_dump(mode="json")}


def _label_order(label: SharedLabel) -> tuple[Any, ...]:
    return label.trial, label.item, label.at, label.value, label.comment, label.phase, label.source


def in_order(revisions: Iterable[SharedRevision]) -> list[SharedRevision]:
    """By task, parents first, then by time. Parents that are not among them do not matter."""
    known = {revision.uid: revision for revision in revisions}
    depth: dict[str, int] = {}
    for start in known:
        todo = [start]
        while todo:
            uid = todo[-1]
            parents = [parent for parent in known[uid].parents if parent in known]
            # A forged circle is not followed: what is on the way counts as 0.
            unknown = [parent for parent in parents if parent not in depth]
            if unknown and uid not in depth:
                depth[uid] = 0
                todo += unknown
                continue
            depth[uid] = 1 + max((depth[parent] for parent in parents), default=0)
            todo.pop()
    return sorted(
        known.values(),
        key=lambda r: (r.task_id, depth[r.uid], min(s.order for s in r.signatures), r.uid),
    )


def _moments(bundle: Bundle) -> Iterator[datetime]:
    for revision in bundle.revisions:
        yield from (s.at for s in revision.signatures if s.author == bundle.person)
    yield from (entry.at for entry in bundle.contributions)
    yield from (label.at for label in bundle.labels)
    yield from (effort.at for effort in bundle.effort)
    yield from (reveal.at for reveal in bundle.reveals)
    yield from (decision.at for decision in bundle.adjudications)
    yield from (drawn.at for drawn in bundle.label_sets)
    yield from (run.created_at for run in bundle.runs)
    for trial in bundle.trials:
        yield from (each.at for each in trial.events[-1:])
        yield from (each.at for each in (*trial.judgements, *trial.shadows))
        yield from (each.at for each in (*trial.forms, *trial.notes))
