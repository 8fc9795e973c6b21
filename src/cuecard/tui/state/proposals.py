"""What a screen shows of a proposal: its rows, what is ticked, and one item in full."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cuecard.annotate.assist.apply import apply, standing
from cuecard.annotate.assist.pending import Pending
from cuecard.annotate.assist.proposal import Deed, ProposedItem, Spent
from cuecard.annotate.authoring.changes import changes_between
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tasks import OriginKind
from cuecard.core.text import one_line
from cuecard.tui.state.change_entries import entries_of, two_texts
from cuecard.tui.state.entries import Entry, Paragraph, Piece

KIND_LABEL: dict[OriginKind, str] = {
    "triples": N_("Triples from a source"),
    "persona": N_("A persona and its stages"),
    "checkpoints": N_("Checkpoints and their ambiguities"),
    "facts": N_("Facts, a question and its answer"),
    "translation": N_("The task in the other language"),
}
MARKS: dict[Deed, str] = {"add": "+", "remove": "−", "set": "±", "name": "↔"}
_LONG = 300


class ProposalView:
    """The items of a proposal for a task's `data`, and what is ticked."""

    def __init__(self, data: Mapping[str, Any], pending: Pending) -> None:
        self.proposal = pending.proposal
        self.items: Sequence[ProposedItem] = pending.proposal.items
        known = {item.id for item in self.items}
        self._ticked = set(pending.ticked) & known
        self._data = data

    @property
    def ticked(self) -> tuple[str, ...]:
        """The ids of what is to be accepted, in the order of the proposal."""
        return tuple(item.id for item in self.items if item.id in self._ticked)

    @property
    def pending(self) -> Pending:
        return Pending(proposal=self.proposal, ticked=self.ticked)

    def toggle(self, row: int) -> None:
        self._ticked ^= {self.items[row].id}

    def tick(self, ids: Collection[str]) -> None:
        """Tick these and no others."""
        self._ticked = set(ids)

    def is_ticked(self, row: int) -> bool:
        return self.items[row].id in self._ticked

    def summary(self) -> str:
        """`Triples from a source · hosted · 12 items, 9 ticked, 3 in doubt`."""
        counts = [
            ngettext("{n} item", "{n} items", len(self.items)).format(n=len(self.items)),
            _("{n} ticked").format(n=len(self.ticked)),
        ]
        if doubtful := sum(bool(item.checked) for item in self.items):
            counts.append(_("{n} in doubt").format(n=doubtful))
        return " · ".join(
            (_(KIND_LABEL[self.proposal.kind]), self.proposal.model, ", ".join(counts))
        )

    def detail(self, row: int) -> list[Entry]:
        """One item in full: problems, the difference that it makes, evidence. May take a moment."""
        item = self.items[row]
        entries = [Entry("work", 0, (Piece("! ", "bad"), Piece(told))) for told in item.checked]
        entries += [Entry("work", 0, (Piece("· ", "muted"), Piece(told))) for told in item.remarks]
        entries += self._difference(item)
        after = item.after
        if item.evidence and not (isinstance(after, dict) and after.get("note") == item.evidence):
            body = (Paragraph(item.evidence, "plain", 2),)
            entries.append(Entry("work", 0, (Piece(_("Evidence"), "strong"),), body))
        if item.links:
            lines = tuple(Paragraph(" → ".join(link), "plain", 2) for link in item.links)
            entries.append(Entry("work", 0, (Piece(_("Triples that answer it"), "strong"),), lines))
        if item.why:
            body = (Paragraph(item.why, "plain", 2),)
            entries.append(Entry("work", 0, (Piece(_("The model's reason"), "strong"),), body))
        return entries

    def _difference(self, item: ProposedItem) -> list[Entry]:
        if self.proposal.kind == "translation":
            body, fold = two_texts(str(item.before), str(item.after))
            head = (Piece("± ", "strong"), Piece(item.place, "muted"))
            return [Entry("work", 0, head, body, fold)]
        edit = TaskEdit(self._data)
        before = edit.data
        if item.deed == "set" and (standing(edit, item) or "") != (item.before or ""):
            text = _("This was edited after the model saw it.")
            return [
                Entry("work", 0, (Piece("! ", "bad"), Piece(text))),
                *self._applied(edit, before, item),
            ]
        return self._applied(edit, before, item)

    def _applied(self, edit: TaskEdit, before: dict[str, Any], item: ProposedItem) -> list[Entry]:
        apply(edit, self.proposal, {item.id})
        entries = entries_of(changes_between(before, edit.data))
        if entries:
            return entries
        if item.deed == "remove":
            # The last of a list goes only where another one comes.
            text = _("Goes when something else is taken in its place.")
        else:
            text = _("The task says this already.")
        return [Entry("work", 0, (Piece(headline(item), "strong"),), (Paragraph(text, "muted"),))]


def headline(item: ProposedItem) -> str:
    """An item on one line; of a field, with what it would say."""
    if item.deed != "set" or item.label == item.after:
        return one_line(item.label, _LONG)
    after = item.after
    said = ", ".join(map(str, after)) if isinstance(after, list) else str(after)
    return one_line(f"{item.label}: {said}", _LONG)


def raw_entries(raw: Sequence[str]) -> list[Entry]:
    """What a model said that nothing could be read from."""
    return [
        Entry(
            "work",
            number,
            (Piece(_("Reply {n}").format(n=number), "strong"),),
            tuple(Paragraph(line, "plain", 2) for line in reply.splitlines()),
        )
        for number, reply in enumerate(raw, start=1)
    ]


def cost_of(spent: Spent, currency: str) -> str:
    """`2 calls, 1,830 tokens, 0.0042 USD`; the cost only where it is known."""
    tokens = spent.usage.prompt + spent.usage.completion
    parts = [
        ngettext("{n} call", "{n} calls", spent.calls).format(n=spent.calls),
        ngettext("{n} token", "{n} tokens", tokens).format(n=f"{tokens:,}"),
    ]
    if spent.cost is not None:
        amount = f"{spent.cost:.4f}" if spent.cost >= 0.0001 or not spent.cost else "< 0.0001"
        parts.append(f"{amount} {currency}")
    return ", ".join(parts)
