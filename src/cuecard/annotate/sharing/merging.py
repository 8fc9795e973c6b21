"""Merging concurrent revisions (forks), and what is said of a merge of bundles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cuecard.annotate.authoring.edit import as_task
from cuecard.core.contributions import TaskState
from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.review import RevisionNode, tips_of
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.core.records import Revision
    from cuecard.core.review import Clash
    from cuecard.core.tasks.models import Task
    from cuecard.store.bundle_records import ImportCount, LeftOut, SignedFor
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Tip:
    """A revision that nobody has built on; `authors` as the reader may know them."""

    revision: Revision
    authors: tuple[str, ...]

    @property
    def data(self) -> dict[str, Any]:
        return self.revision.task.model_dump(mode="json")


@dataclass(frozen=True)
class Fork:
    """Two concurrent revisions: `mine` was saved by this person, or else is the head. `base`: the data of their common
    ancestor, revision `base_number` (0: none); `more`: how many further concurrent revisions there are.
    """

    task_id: str
    head: int
    mine: Tip
    theirs: Tip
    base: dict[str, Any]
    base_number: int
    more: int = 0

    @property
    def other(self) -> int:
        """The number of the one that is not the head."""
        numbers = (self.mine.revision.number, self.theirs.revision.number)
        return next(number for number in numbers if number != self.head)


def fork_of(workspace: Workspace, task_id: str, person: str) -> Fork | None:
    """The head and the concurrent revision beside it; None if there is none. Raises `NotFound`."""
    log = workspace.reviews.seen_log(person, task_id)
    tips = tips_of(log.revisions)
    if len(tips) < 2:
        return None
    head, other = tips[:2]
    mine, theirs = (head, other)
    if person in other.authors and person not in head.authors:
        mine, theirs = other, head
    began = common_ancestor(log.revisions, head, other)
    base: dict[str, Any] = {}
    if began is not None:
        base = workspace.tasks.revision(task_id, began.number).task.model_dump(mode="json")
    first, second = (
        Tip(workspace.tasks.revision(task_id, node.number), tuple(filter(None, node.authors)))
        for node in (mine, theirs)
    )
    if not base and first.revision.task.family == second.revision.task.family:
        base = {"gold": {"family": first.revision.task.family}}
    return Fork(
        task_id=task_id,
        head=head.number,
        mine=first,
        theirs=second,
        base=base,
        base_number=began.number if began else 0,
        more=len(tips) - 2,
    )


def join_fork(
    workspace: Workspace, fork: Fork, data: Mapping[str, Any], person: str, message: str = ""
) -> Revision:
    """Save `data` as a revision with both as parents. Raises `FileProblems` if it is no valid task, `Conflict` if the
    head has changed.
    """
    task: Task = as_task(data)
    return workspace.tasks.save(
        task, author=person, message=message.strip(), base=fork.head, also=(fork.other,)
    )


def common_ancestor(
    revisions: Sequence[RevisionNode], one: RevisionNode, other: RevisionNode
) -> RevisionNode | None:
    """The nearest common ancestor of two revisions; None if there is none."""
    nodes = {node.uid: node for node in revisions}
    common = _below(nodes, one) & _below(nodes, other)
    stood_on = {parent for uid in common for parent in nodes[uid].parents}
    tops = [nodes[uid] for uid in common - stood_on]
    return max(tops, key=lambda node: node.order, default=None)


def _below(nodes: Mapping[str, RevisionNode], start: RevisionNode) -> set[str]:
    """A revision's ancestors, itself included."""
    found: set[str] = set()
    todo = [start.uid]
    while todo:
        uid = todo.pop()
        if uid in nodes and uid not in found:
            found.add(uid)
            todo += nodes[uid].parents
    return found


_GROUPS: dict[str, tuple[str, ...]] = {
    N_("tasks"): ("task",),
    N_("revisions"): ("revision",),
    N_("signatures of known revisions"): ("signature",),
    N_("steps of the workflow"): (
        "submitted",
        "withdrawn",
        "reopened",
        "retired",
        "restored",
        "third_asked",
    ),
    N_("reviews"): ("reviewed",),
    N_("comments and answers"): ("commented", "answered"),
    N_("claims and releases"): ("claimed", "released"),
    N_("priorities"): ("prioritised",),
    N_("independent golds"): ("gold_built", "gold_decided"),
    N_("decisions of quality control"): ("qc_decided",),
    N_("skills"): ("skills_set",),
    N_("labels"): ("label",),
    N_("decisions seen after labelling"): ("reveal",),
    N_("adjudications"): ("adjudication",),
    N_("labelling sets"): ("label_set",),
    N_("entries of effort"): ("effort",),
    N_("runs"): ("run",),
    N_("trials"): ("trial",),
    N_("events"): ("event",),
    N_("judgements"): ("judgement",),
    N_("calls of judges"): ("judge_call",),
    N_("what simulators would have said"): ("shadow",),
    N_("forms about sessions"): ("session_form",),
    N_("bookmarks and comments on trials"): ("trial_note",),
    N_("tags"): ("tag",),
}
_GROUP_OF = {kind: group for group, kinds in _GROUPS.items() for kind in kinds}
STATE = {
    TaskState.DRAFT: N_("draft"),
    TaskState.IN_REVIEW: N_("in review"),
    TaskState.RETURNED: N_("returned"),
    TaskState.APPROVED: N_("approved"),
    TaskState.RETIRED: N_("archived"),
}


def arrived_rows(arrived: Iterable[ImportCount]) -> list[tuple[str, int, int]]:
    """What was imported by kind: how many new and how many known, in a fixed order."""
    added, known = Counter[str](), Counter[str]()
    for one in arrived:
        group = _GROUP_OF.get(one.kind, one.kind)
        added[group] += one.added
        known[group] += one.known
    order = [*_GROUPS, *sorted(set(added) - set(_GROUPS))]
    return [(_(group), added[group], known[group]) for group in order if group in added]


def counted(kinds: Mapping[str, int]) -> list[tuple[str, int]]:
    """The kinds of entries in words, with their numbers."""
    counts = Counter[str]()
    for kind, number in kinds.items():
        counts[_GROUP_OF.get(kind, kind)] += number
    return [(_(group), counts[group]) for group in _GROUPS if counts[group]]


def signed_for_text(signed: SignedFor) -> str:
    """A sentence on revisions under another name: who packed them, whose name they have, how many are new."""
    text = ngettext(
        "Packed by {packer}, signed by {author}: {n} revision, {new} new here.",
        "Packed by {packer}, signed by {author}: {n} revisions, {new} new here.",
        signed.revisions,
    )
    return text.format(
        packer=one_line(signed.packed_by, 40),
        author=one_line(signed.author, 40),
        n=f"{signed.revisions:,}",
        new=f"{signed.new:,}",
    )


def clash_title(clash: Clash) -> str:
    """The kind of clash in a few words."""
    match clash.kind:
        case "forks":
            return _("Two newest revisions")
        case "double":
            return _("Reviewed twice by one person")
        case "own":
            return _("Reviewed by an author")
        case "late":
            return _("A late review undid an approval")
        case "crowd":
            return _("More reviews than were asked for")


def clash_text(clash: Clash) -> str:
    """The consequences of a clash, and what to do."""
    people = listed(one_line(person, 40) for person in clash.people) or _("Somebody")
    numbers = [str(number) for number in clash.revisions]
    match clash.kind:
        case "forks":
            text = _(
                "Revisions {all} stand side by side; {head} counts until an author merges them:"
                " open the task in the app and choose Join from its menu."
            )
            ordered = listed(sorted(numbers, key=int))
            return text.format(all=ordered, head=numbers[0])
        case "double":
            text = _("{people} reviewed revision {n} twice, apart; the first review counts.")
        case "own":
            text = _("{people} reviewed revision {n}, having worked on it; that does not count.")
        case "late":
            text = _("A review of revision {n} came in after its approval: it is returned.")
        case "crowd":
            text = _("Revision {n} has more reviews than it needs ({people} came last).")
    return text.format(people=people, n=numbers[0])


def left_out_text(left: LeftOut) -> str:
    """Why something was not imported, and that it is not lost."""
    match left.kind:
        case "label":
            text = ngettext(
                "{n} label of {person} is about trial {trial}, which is not in this workspace.",
                "{n} labels of {person} are about trial {trial}, which is not in this workspace.",
                left.count,
            )
        case "adjudication":
            text = ngettext(
                "{n} adjudication of {person} is about trial {trial}, which is not in this workspace.",
                "{n} adjudications of {person} are about trial {trial}, which is not in this workspace.",
                left.count,
            )
        case "label_set":
            text = ngettext(
                "{n} labelling set of {person} has items of trials that are not in this workspace,"
                " {trial} for one.",
                "{n} labelling sets of {person} have items of trials that are not in this workspace,"
                " {trial} for one.",
                left.count,
            )
        case "trial":
            text = _(
                "Trial {trial}, packed by {person}, was played on in two places; it stays as it is here."
            )
    return text.format(n=left.count, person=one_line(left.person, 40), trial=left.trial[:12])
