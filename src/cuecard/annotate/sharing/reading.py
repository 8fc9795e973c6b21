"""Reads bundles from files and validates everything in them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from cuecard.annotate.sharing.bundle import (
    FORMAT,
    SUFFIX,
    AdjudicationLine,
    ContributionLine,
    EffortLine,
    Header,
    Kind,
    LabelLine,
    LabelSetLine,
    Line,
    PayloadLine,
    RevealLine,
    RevisionLine,
    RunLine,
    TaskLine,
    TrialLine,
    Unreadable,
    digest,
    line_adapter,
    opened,
)
from cuecard.annotate.sharing.checking import (
    adjudication_problems,
    contribution_problems,
    effort_problems,
    label_problems,
    label_set_problems,
    name_problem,
    payload_of,
    reveal_problems,
    revision_problems,
    run_problems,
    task_problem,
    trial_problems,
)
from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.formats.files import find_files
from cuecard.core.i18n import _
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import task_dialect
from cuecard.core.text import one_line
from cuecard.core.validation import Dialect, problems_of
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
from cuecard.store.codec import from_json

_MOST_PROBLEMS = 10
_LONGEST_LINE = 48 * 1024 * 1024
_MOST_LINES = 3_000_000
_DIALECT = Dialect(title="", shape="")


@dataclass(frozen=True)
class BundleFile:
    """A bundle that was read and validated."""

    path: Path
    header: Header
    content: Bundle


def read_bundles(paths: Sequence[Path]) -> list[BundleFile]:
    """These bundles, and those in folders among `paths`. Raises `FileProblems` with what is wrong in each."""
    bundles: list[BundleFile] = []
    problems: list[FileProblem] = []
    files: list[Path] = []
    for path in paths:
        found = find_files(path, (SUFFIX,))
        problems += found.problems
        if not found.files and not found.problems:
            reason = _("is a folder without packs (*{suffix})").format(suffix=SUFFIX)
            problems.append(FileProblem(str(path), "", reason))
        files += found.files
    for path in dict.fromkeys(files):
        try:
            bundles.append(read_bundle(path))
        except FileProblems as error:
            problems += error.problems
    if problems:
        raise _refused(problems)
    return bundles


def read_bundle(path: Path) -> BundleFile:
    """One bundle. Raises `FileProblems` with what is wrong, at which entry, and how to fix it."""
    try:
        header, bundle = parse_bundle(opened(path), str(path))
    except Unreadable as error:
        raise _refused([FileProblem(str(path), "", str(error))]) from error
    return BundleFile(path, header, bundle)


def parse_bundle(data: bytes, file: str) -> tuple[Header, Bundle]:
    """A bundle from its uncompressed bytes; `file` is for messages. Raises `FileProblems`."""
    first, _newline, body = data.partition(b"\n")
    reader = _Reader(file)
    try:
        header = _header(first)
        if digest(header, body) != header.sha256:
            raise Unreadable(_("was changed after it was packed; ask for the file again"))
        reader.read(header, body)
    except Unreadable as error:
        raise _refused([FileProblem(file, "", str(error))]) from error
    if reader.problems:
        raise _refused(reader.problems)
    return header, reader.bundle(header.person)


def _header(line: bytes) -> Header:
    nothing = _("is not a pack")
    try:
        raw = from_json(line) if len(line) < 1 << 16 else None
    except (ValueError, RecursionError):
        raw = None
    if not isinstance(raw, dict) or raw.get("cuecard") != "pack":
        raise Unreadable(nothing)
    version = raw.get("format")
    if not isinstance(version, int):
        raise Unreadable(nothing)
    if version > FORMAT:
        text = _("has format {n}, which this Cuecard does not know yet; update Cuecard")
        raise Unreadable(text.format(n=version))
    try:
        header = Header.model_validate(raw)
    except ValidationError as error:
        raise Unreadable(_("has a broken header: {why}").format(why=_why(error))) from error
    if bad := name_problem(header.person):
        raise Unreadable(bad)
    return header


@dataclass
class _Reader:
    """Reads and validates entry by entry; an entry may refer only to earlier ones."""

    file: str
    problems: list[FileProblem] = field(default_factory=list[FileProblem])
    tasks: dict[str, Task] = field(default_factory=dict[str, Task])
    revisions: dict[str, SharedRevision] = field(default_factory=dict[str, SharedRevision])
    authors: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    contributions: dict[str, SharedContribution] = field(
        default_factory=dict[str, SharedContribution]
    )
    labels: list[SharedLabel] = field(default_factory=list[SharedLabel])
    effort: list[SharedEffort] = field(default_factory=list[SharedEffort])
    reveals: list[SharedReveal] = field(default_factory=list[SharedReveal])
    adjudications: list[SharedAdjudication] = field(default_factory=list[SharedAdjudication])
    label_sets: list[SharedLabelSet] = field(default_factory=list[SharedLabelSet])
    payloads: dict[str, bytes] = field(default_factory=dict[str, bytes])
    runs: dict[str, SharedRun] = field(default_factory=dict[str, SharedRun])
    trials: dict[str, SharedTrial] = field(default_factory=dict[str, SharedTrial])

    def read(self, header: Header, body: bytes) -> None:
        """Raises `Unreadable`; what is wrong with entries is in `problems` then."""
        found: Counter[Kind] = Counter()
        for number, line in enumerate(_lines(body), start=2):
            if number > _MOST_LINES or len(line) > _LONGEST_LINE:
                raise Unreadable(_("is too large; no pack is"))
            entry = self._entry(line, number)
            if entry is not None:
                found[entry.entry] += 1
                self._take(entry, header.person, number)
            if len(self.problems) >= _MOST_PROBLEMS:
                self._wrong(number, _("and maybe more; the rest was not read"))
                return
        said = {kind: count for kind, count in header.entries.items() if count}
        if not self.problems and said != dict(found):
            raise Unreadable(_("does not hold as many entries as it says"))

    def bundle(self, person: str) -> Bundle:
        return Bundle(
            person=person,
            tasks=self.tasks,
            revisions=tuple(self.revisions.values()),
            contributions=tuple(self.contributions.values()),
            labels=tuple(self.labels),
            effort=tuple(self.effort),
            reveals=tuple(self.reveals),
            adjudications=tuple(self.adjudications),
            label_sets=tuple(self.label_sets),
            payloads=self.payloads,
            runs=tuple(self.runs.values()),
            trials=tuple(self.trials.values()),
        )

    def _entry(self, line: bytes, number: int) -> Line | None:
        try:
            return line_adapter().validate_json(line)
        except ValidationError as error:
            self._wrong(number, _why(error))
            return None

    def _take(self, entry: Line, person: str, number: int) -> None:
        match entry:
            case TaskLine():
                self._task(entry, number)
            case RevisionLine(revision=revision):
                if not self._bad(number, revision_problems(revision, self.tasks, self.revisions)):
                    self.revisions[revision.uid] = revision
                    self.authors[revision.task_id].update(s.author for s in revision.signatures)
            case ContributionLine(contribution=given):
                authors = self.authors[given.task_id]
                if not self._bad(
                    number, contribution_problems(given, person, self.revisions, authors)
                ):
                    self.contributions[given.uid] = given
            case LabelLine(label=label):
                if not self._bad(
                    number, label_problems(label, self._speaks(label.person, person, label.trial))
                ):
                    self.labels.append(label)
            case EffortLine(effort=effort):
                if not self._bad(number, effort_problems(effort, person)):
                    self.effort.append(effort)
            case RevealLine(reveal=reveal):
                if not self._bad(
                    number,
                    reveal_problems(reveal, self._speaks(reveal.person, person, reveal.trial)),
                ):
                    self.reveals.append(reveal)
            case AdjudicationLine(adjudication=decision):
                if not self._bad(
                    number,
                    adjudication_problems(
                        decision, self._speaks(decision.by, person, decision.trial)
                    ),
                ):
                    self.adjudications.append(decision)
            case LabelSetLine(label_set=drawn):
                if not self._bad(
                    number,
                    label_set_problems(
                        drawn, self._speaks(drawn.by, person, *(i.trial for i in drawn.items))
                    ),
                ):
                    self.label_sets.append(drawn)
            case PayloadLine(hash=digest, text=text, data=data):
                content = payload_of(digest, text, data)
                if content is None:
                    self._wrong(number, _("it was changed: what it says does not fit its hash"))
                else:
                    self.payloads[digest] = content
            case RunLine(run=run):
                if not self._bad(number, run_problems(run)):
                    self.runs[run.uid] = run
            case TrialLine(trial=trial):
                problems = trial_problems(trial, self.runs, self.revisions, self.payloads)
                if not self._bad(number, problems):
                    self.trials[trial.uid] = trial

    def _speaks(self, name: str, person: str, *trials: str) -> str:
        """The only name an entry may bear: the packer's; on trials whose run is in the bundle, any valid `name`."""
        whole = trials and all(trial in self.trials for trial in trials)
        return name if whole and not name_problem(name) else person

    def _task(self, line: TaskLine, number: int) -> None:
        try:
            task = Task.model_validate(line.task)
        except ValidationError as error:
            for problem in problems_of(error, self.file, {}, task_dialect())[:3]:
                self._wrong(number, str(problem.reason), problem.place)
            return
        if not self._bad(number, [task_problem(line.hash, task)]):
            self.tasks[line.hash] = task

    def _bad(self, number: int, problems: Iterator[str] | Sequence[str]) -> bool:
        found = [problem for problem in problems if problem]
        for problem in found[:3]:
            self._wrong(number, problem)
        return bool(found)

    def _wrong(self, number: int, reason: str, place: str = "") -> None:
        where = _("entry {n}").format(n=number - 1)
        where = f"{where}, {place}" if place else where
        self.problems.append(FileProblem(self.file, where, reason, number))


def _lines(body: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(body):
        end = body.find(b"\n", at)
        end = len(body) if end < 0 else end
        yield body[at:end]
        at = end + 1


def _why(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if first["type"] == "union_tag_invalid":
        text = _("is of a kind that this Cuecard does not know: {kind}")
        return text.format(kind=one_line(str(first.get("ctx", {}).get("tag")), 40))
    if first["type"] == "extra_forbidden":
        text = _("says something that this Cuecard does not know: {name}; update Cuecard")
        return text.format(name=one_line(str(first["loc"][-1]), 40))
    problem = problems_of(error, "", {}, _DIALECT)[0]
    return one_line(f"{problem.place} {problem.reason}".strip(), 200)


def _refused(problems: Sequence[FileProblem]) -> FileProblems:
    return FileProblems(
        _("This pack cannot be merged"),
        problems,
        _("Nothing was merged. Ask whoever packed the file for a new one (`cuecard pack`)."),
        in_app=_(
            "Nothing was merged. Ask whoever packed the file for a new one (k on the list of tasks)."
        ),
    )
