"""What packs and merges are told as, on the screen and on the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.review import TaskState
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.core.review import Clash
    from cuecard.store.shared import Arrived, LeftOut, SignedFor

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
    N_("second golds"): ("gold_built",),
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
}
_GROUP_OF = {kind: group for group, kinds in _GROUPS.items() for kind in kinds}
STATE = {
    TaskState.DRAFT: N_("draft"),
    TaskState.IN_REVIEW: N_("in review"),
    TaskState.RETURNED: N_("returned"),
    TaskState.APPROVED: N_("approved"),
    TaskState.RETIRED: N_("archived"),
}


def arrived_rows(arrived: Iterable[Arrived]) -> list[tuple[str, int, int]]:
    """What came, how much of it is new, how much was known; in a fixed order, nothing left out."""
    added, known = Counter[str](), Counter[str]()
    for one in arrived:
        group = _GROUP_OF.get(one.kind, one.kind)
        added[group] += one.added
        known[group] += one.known
    order = [*_GROUPS, *sorted(set(added) - set(_GROUPS))]
    return [(_(group), added[group], known[group]) for group in order if group in added]


def counted(kinds: Iterable[str]) -> list[tuple[str, int]]:
    """How much there is of what, for entries of these kinds."""
    counts = Counter(_GROUP_OF.get(kind, kind) for kind in kinds)
    return [(_(group), counts[group]) for group in _GROUPS if counts[group]]


def signed_for_text(signed: SignedFor) -> str:
    """Who packed it, by whom it is said to be, and how much of it was not known here."""
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
    """What happened, in a few words."""
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
    """What follows from it, and what to do."""
    people = ", ".join(one_line(person, 40) for person in clash.people) or _("Somebody")
    numbers = [str(number) for number in clash.revisions]
    match clash.kind:
        case "forks":
            text = _(
                "Revisions {all} stand side by side; {head} counts until an author merges them:"
                " open the task in the app, then F12."
            )
            ordered = ", ".join(sorted(numbers, key=int))
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
    """Why labels stay out, and that nothing is lost by it."""
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
