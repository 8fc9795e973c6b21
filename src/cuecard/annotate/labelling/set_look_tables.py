"""The records of where a labelling set stands while people label it, and tables and sentences of them."""

from collections.abc import Iterable
from typing import Literal

from cuecard.annotate.labelling.comparison_inputs import Subject
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.core.i18n import N_, _, ngettext, plural
from cuecard.core.tables.table import Statistic, Table
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family


class ShareLook(Frozen):
    """A share by people of all units that the set was drawn from: of one subject, or of one agent's. `more`: about how many
    labelled units are wanting until its half-width is what was asked for; None where nothing was, or the set is too small.
    """

    subject: Subject
    family: Family | Literal[""] = ""
    agent: str = ""
    labelled: int
    size: int
    share: Statistic
    half_width: float
    more: int | None = None


class OrderLook(Frozen):
    """Agents of one family, best first as far as they are told apart: `decided` pairs (better, worse), `open` ones. `more`:
    about how many labelled units until all pairs are told, None if the set is too small.
    """

    family: Family
    decided: tuple[tuple[str, str], ...]
    open: tuple[tuple[str, str], ...]
    more: int | None = None


class SetLook(Frozen):
    """`unit`: what was drawn. `drawn` of them, `settled` by people who can tell; of `unclear` ones they cannot, or tie. `before`: how many
    had been settled before the set was drawn, so that they are known and tell nothing of the others.
    `half_width`, `order`: what labelling goes on for; None and False mean to its end. `reason`: why nothing can be told.
    """

    set_id: int
    name: str
    unit: Literal["items", "trials"]
    drawn: int
    settled: int
    unclear: int
    before: int = 0
    half_width: float | None
    order: bool
    shares: tuple[ShareLook, ...] = ()
    agents: tuple[ShareLook, ...] = ()
    orders: tuple[OrderLook, ...] = ()
    reason: str = ""

    @property
    def whole(self) -> bool:
        """Whether it is labelled to its planned end, as far as people can tell."""
        return self.settled + self.unclear == self.drawn

    @property
    def reached(self) -> bool:
        """Whether what labelling goes on for is there, so that it may stop."""
        width = self.half_width
        if self.reason or (width is None and not self.order):
            return False
        narrow = width is None or all(one.half_width <= width for one in self.shares)
        return narrow and not (self.order and any(one.open for one in self.orders))

    @property
    def more(self) -> int | None:
        """About how many labelled units more; None if the set holds too few."""
        found = [one.more for one in self.shares if self.half_width is not None]
        found += [one.more for one in self.orders if self.order]
        known = [n for n in found if n is not None]
        return max(known, default=None) if len(known) == len(found) else None


_SHARES: dict[Subject, str] = {
    "gold": N_("gold items that are covered"),
    "predicted": N_("predicted triples that are right"),
    "row": N_("whole rows that are right"),
    "cue": N_("cues that were met"),
    "leak": N_("turns that leak"),
    "status": N_("statuses read as the user did"),
}


def circumstances(look: SetLook) -> list[str]:
    """How far the set is, and whether it may end, as sentences."""
    drawn = (
        plural("{n:,} item", "{n:,} items", look.drawn)
        if look.unit == "items"
        else plural("{n:,} trial", "{n:,} trials", look.drawn)
    )
    lines = [
        _("Set {id}, “{name}”: {settled:,} of {drawn} decided by people.").format(
            id=look.set_id, name=look.name, settled=look.settled, drawn=drawn
        )
    ]
    if look.unclear:
        lines.append(
            ngettext(
                "On {n} of them people cannot tell, or are level: it counts as not labelled.",
                "On {n} of them people cannot tell, or are level: they count as not labelled.",
                look.unclear,
            ).format(n=look.unclear)
        )
    if look.reason:
        return [*lines, _("No interval that holds at every look: {why}.").format(why=look.reason)]
    if look.whole:
        return [*lines, _("It is labelled to its end.")]
    return [*lines, *filter(None, [ahead(look)])]


def ahead(look: SetLook) -> str:
    """What is still to come until labelling may stop, in a line; "" where nothing can be told, or nothing is to come."""
    if look.reason or not look.settled or look.whole:
        return ""
    width = _points(max(one.half_width for one in look.shares))
    goals = [_("±{width} points").format(width=_points(look.half_width))] if look.half_width else []
    goals += [_("the order of agents")] if look.order else []
    if not goals:
        return _("shares by people are known to ±{width} percentage points so far").format(
            width=width
        )
    goal = _(" and ").join(goals)
    if look.reached:
        return _("{goal} reached: labelling may stop here").format(goal=goal)
    if look.more is None:
        told = _("more than this set holds")
    elif look.unit == "items":
        told = plural("about {n:,} item more", "about {n:,} items more", look.more)
    else:
        told = plural("about {n:,} trial more", "about {n:,} trials more", look.more)
    return _("±{width} points so far · until {goal}: {told}").format(
        width=width, goal=goal, told=told
    )


def _points(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0")


def look_tables(look: SetLook) -> tuple[Table, ...]:
    """Shares by people of what the set was drawn from, then of each agent; empty where nothing can be told."""
    if look.reason:
        return ()
    notes = (
        _(
            "Intervals are 95% at all looks together, by betting (Waudby-Smith & Ramdas), for the items of these runs."
        ),
        _("For tasks of this kind, once the set is labelled to its end: `cuecard agree --effect`."),
    )
    if look.before:
        known = ngettext(
            "{n} of what was drawn had been labelled before: it is known, and tells nothing of the others.",
            "{n} of what was drawn had been labelled before: they are known, and tell nothing of the others.",
            look.before,
        ).format(n=f"{look.before:,}")
        notes = (known, *notes)
    found = [_shares(_("Shares by people, however often one looks"), look, look.shares, notes)]
    if look.agents:
        told = [_order(one) for one in look.orders]
        found.append(_shares(_("Shares by people, of each agent"), look, look.agents, told))
    return tuple(found)


def _shares(
    title: str, look: SetLook, shares: tuple[ShareLook, ...], notes: Iterable[str]
) -> Table:
    headings = [_("Share"), _("labelled"), _("of"), _("share [95%]"), "±"]
    if look.half_width is not None and shares == look.shares:
        headings.append(_("to come"))
    rows = [
        (
            _name(one),
            one.labelled,
            f"{one.size:,}",
            one.share,
            f"{one.half_width:.3f}",
            "–" if one.more is None else f"{one.more:,}",
        )
        for one in shares
    ]
    return Table.of(
        title, headings, [row[: len(headings)] for row in rows], tuple(notes), view="effect"
    )


def _name(one: ShareLook) -> str:
    if not one.agent:
        return _(_SHARES[one.subject])
    return _("{family}: agent {agent}").format(family=_(FAMILY_WORDS[one.family]), agent=one.agent)


def _order(one: OrderLook) -> str:
    told = [
        _("{left} is above {right}").format(left=left, right=right) for left, right in one.decided
    ]
    all_ = len(one.decided) + len(one.open)
    counted = ngettext(
        "{n} of {all} pair of agents is told apart",
        "{n} of {all} pairs of agents are told apart",
        all_,
    ).format(n=len(told), all=all_)
    said = _(": ").join([_(FAMILY_WORDS[one.family]), counted, *filter(None, [_("; ").join(told)])])
    return _("{sentence}.").format(sentence=said)
