"""A model's drafts for the screen: the questions before, the cost, and the proposal with its ticked items."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.annotate.assist.checkpoints import FromQuestion
from cuecard.annotate.assist.drafting import Inputs, TranslationInputs, kinds_for
from cuecard.annotate.assist.facts import FromPairs, pairs_in
from cuecard.annotate.assist.model_calls import (
    dicts_at,
    language_of,
    other_language,
    stages_of,
    text_at,
    texts_at,
)
from cuecard.annotate.assist.persona import PersonaInputs
from cuecard.annotate.assist.proposals import (
    Deed,
    Pending,
    ProposalCost,
    ProposedItem,
    apply,
    standing,
)
from cuecard.annotate.assist.translation import slots_of, translated_id
from cuecard.annotate.assist.triples import FromSource
from cuecard.annotate.authoring.changes import changes_between
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.config_schema import Config
from cuecard.core.i18n import N_, _, headed, listed, ngettext, spaced
from cuecard.core.tasks.base import OriginKind
from cuecard.core.tasks.models import Family
from cuecard.core.text import one_line
from cuecard.tui.families import TUI
from cuecard.tui.present.changes import entries_of, two_texts
from cuecard.tui.present.entries import Entry, Paragraph, Piece

MAX_SOURCE = 400_000
"""More characters than this of one source are a mistake rather than a page."""


@dataclass(frozen=True)
class Wanted:
    """What the model is to draft. `task_id`: of a translation, the new task's."""

    inputs: Inputs
    model: str
    task_id: str = ""


class ProposalForm:
    """The questions of one dialog over a task's `data`."""

    def __init__(self, data: Mapping[str, Any], family: Family, config: Config) -> None:
        self._data, self._config = data, config
        self._family: Family = family

    @property
    def kinds(self) -> tuple[OriginKind, ...]:
        return kinds_for(self._family)

    @property
    def models(self) -> list[tuple[str, str]]:
        """(label, name) of every model, the one that helps authors first."""
        first = self._config.author_model
        names = sorted(self._config.models, key=lambda name: name != first)
        return [(self._label(name), name) for name in names]

    def price(self, model: str) -> str:
        """What a model costs, in words."""
        price = self._config.model(model).price
        if price is None:
            return _("no price is set in cuecard.yaml")
        text = _("{prompt} in, {completion} out, {currency} per million tokens")
        return text.format(
            prompt=f"{price.prompt:g}",
            completion=f"{price.completion:g}",
            currency=self._config.currency,
        )

    @property
    def question(self) -> str:
        return text_at(self._data, "query")

    @property
    def answer(self) -> str:
        return text_at(self._data, "gold", "final_answer")

    @property
    def stages(self) -> int:
        return len(stages_of(self._data))

    @property
    def new_id(self) -> str:
        target = other_language(language_of(self._data))
        return translated_id(str(self._data.get("id") or ""), target)

    def about(self, kind: OriginKind) -> str:
        """What the model is given, and what comes of it."""
        data = self._data
        match kind:
            case "triples":
                return _(
                    "Paste a page. Each triple comes with the sentence that says it, and is checked"
                    " against the page; the address goes into its sources."
                )
            case "persona":
                text = _(
                    "From the query, {queries} and {gold}: 8 to 20 stages with cues and lines."
                )
                queries = len(texts_at(data, "sub_queries"))
                gold, *_rest = TUI[self._family].counts(
                    ANNOTATE[self._family].written(data["gold"])
                )
                return text.format(
                    queries=ngettext("{n} sub-query", "{n} sub-queries", queries).format(n=queries),
                    gold=gold,
                )
            case "checkpoints":
                steps = sum(bool(s.get("question")) for s in dicts_at(data, "gold", "steps"))
                text = _("A question with exactly one answer becomes a chain with ambiguous steps.")
                if steps:
                    text += spaced(text, _("The present steps are proposed to go."))
                return text
            case "facts":
                return _(
                    "Two entities to a line, as “A | B”. The facts lie in the future; the answer"
                    " follows from several of them. Check its arithmetic yourself."
                )
            case "translation":
                target = other_language(language_of(data))
                count = len(slots_of(data, target))
                text = _(
                    "{n} texts go into {language}, in a new task; this one stays as it is. Each"
                    " entity gets one name everywhere."
                )
                return text.format(
                    n=count, language=_("Chinese") if target == "zh" else _("English")
                )

    def wanted(self, kind: OriginKind, model: str, said: Mapping[str, Any]) -> Wanted | str:
        """What to draft, or what is missing. `said`: what was typed, by field."""
        inputs: Inputs
        match kind:
            case "triples":
                text = said.get("text", "")
                if not text.strip():
                    return _("Paste the text of a source first.")
                if len(text) > MAX_SOURCE:
                    return _("This is more than a page: {n} characters at most.").format(
                        n=f"{MAX_SOURCE:,}"
                    )
                url = said.get("url", "").strip()
                if url and not url.startswith(("http://", "https://")):
                    return _("The address must start with http:// or https://.")
                inputs = FromSource(text, url, said.get("wanted", ""))
            case "persona":
                if not (self.question or texts_at(self._data, "sub_queries")):
                    return _("Write the query or sub-queries first: the persona asks for them.")
                inputs = PersonaInputs(anew=bool(said.get("anew")))
            case "checkpoints":
                if not said.get("question", "").strip():
                    return _("Write the question first.")
                inputs = FromQuestion(
                    said["question"], said.get("answer", ""), said.get("remarks", "")
                )
            case "facts":
                if not any(len(pair) >= 2 for pair in pairs_in(said.get("pairs", ""))):
                    return _("Write two entities to a line, as “A | B”.")
                inputs = FromPairs(said["pairs"], said.get("topic", ""))
            case _:
                return Wanted(TranslationInputs(), model, said.get("id", "").strip() or self.new_id)
        return Wanted(inputs, model)

    def _label(self, name: str) -> str:
        served = self._config.models[name].model
        return one_line(name if served == name else f"{name} · {served}", 60)


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
            (_(KIND_LABEL[self.proposal.kind]), self.proposal.model, _(", ").join(counts))
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
    said = listed(map(str, after)) if isinstance(after, list) else str(after)
    return one_line(headed(item.label, said), _LONG)


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


def cost_of(spent: ProposalCost, currency: str) -> str:
    """`2 calls, 1,830 tokens, 0.0042 USD`; the cost only where it is known."""
    tokens = spent.usage.prompt + spent.usage.completion
    parts = [
        ngettext("{n} call", "{n} calls", spent.calls).format(n=spent.calls),
        ngettext("{n} token", "{n} tokens", tokens).format(n=f"{tokens:,}"),
    ]
    if spent.cost is not None:
        amount = f"{spent.cost:.4f}" if spent.cost >= 0.0001 or not spent.cost else "< 0.0001"
        parts.append(f"{amount} {currency}")
    return _(", ").join(parts)
