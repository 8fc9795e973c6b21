"""What a person is asked before a model drafts: which kinds there are, what each needs, what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cuecard.annotate.assist.checkpoints import FromQuestion
from cuecard.annotate.assist.drafting import ForTranslation, Inputs, kinds_for
from cuecard.annotate.assist.facts import FromPairs, pairs_in
from cuecard.annotate.assist.outline import (
    dicts_at,
    language_of,
    other_language,
    stages_of,
    text_at,
    texts_at,
    triples_of,
)
from cuecard.annotate.assist.persona import ForPersona
from cuecard.annotate.assist.texts import slots_of
from cuecard.annotate.assist.translation import translated_id
from cuecard.annotate.assist.triples import FromSource
from cuecard.core.config_models import Config
from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks import Family, OriginKind
from cuecard.core.text import one_line

MAX_SOURCE = 400_000
"""More characters than this of one source are a mistake rather than a page."""


@dataclass(frozen=True)
class Wanted:
    """What the model is to draft. `task_id`: of a translation, the new task's."""

    inputs: Inputs
    model: str
    task_id: str = ""


class Asking:
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
                queries, triples = len(texts_at(data, "sub_queries")), len(triples_of(data))
                rows = len(data["gold"].get("rows", ()))
                gold = ngettext("{n} triple", "{n} triples", triples).format(n=triples)
                if self._family == "table":
                    gold = ngettext("{n} row", "{n} rows", rows).format(n=rows)
                return text.format(
                    queries=ngettext("{n} sub-query", "{n} sub-queries", queries).format(n=queries),
                    gold=gold,
                )
            case "checkpoints":
                steps = sum(bool(s.get("question")) for s in dicts_at(data, "gold", "steps"))
                text = _("A question with exactly one answer becomes a chain with ambiguous steps.")
                if steps:
                    text += " " + _("The present steps are proposed to go.")
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

    def wanted(self, kind: OriginKind, model: str, said: Mapping[str, str]) -> Wanted | str:
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
                inputs = ForPersona(anew=said.get("anew") == "yes")
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
                return Wanted(ForTranslation(), model, said.get("id", "").strip() or self.new_id)
        return Wanted(inputs, model)

    def _label(self, name: str) -> str:
        served = self._config.models[name].model
        return one_line(name if served == name else f"{name} · {served}", 60)
