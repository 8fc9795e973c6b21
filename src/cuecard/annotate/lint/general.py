"""Rules for every family: order of stages, cues that can be met, texts in the task's language, dates, sources."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from urllib.parse import urlsplit

from cuecard.annotate.lint.case import Case, TaskText, name_of, said_by
from cuecard.annotate.lint.codes import Finding, warning
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.table.gold import Metric, Preprocess
from cuecard.core.i18n import _, listed, plural
from cuecard.core.judges.quantities import parse_plain_date
from cuecard.core.tasks.models import Cue, CueKind, Task
from cuecard.core.text import parse_han

_NUMBERED = re.compile(
    r"^\s*(?:(?:stage|step|part|panel)\s*(\d{1,2})\b|第?\s*(\d{1,2}|[一二三四五六七八九十]{1,3})\s*(?:个?阶段|步|幕)"
    r"|阶段\s*(\d{1,2}|[一二三四五六七八九十]{1,3}))",
    re.IGNORECASE,
)


def lint_stages(case: Case) -> Iterator[Finding]:
    """Order and reach of stages: L001, L013, L014 and L015."""
    yield from _starts(case)
    yield from _empty(case)
    yield from _numbers(case)
    if case.graph is not None:
        yield from _order(case)
        yield from _reach(case)


def _starts(case: Case) -> Iterator[Finding]:
    for index, stage in enumerate(case.stages):
        is_start = stage.cue.kind is CueKind.START
        place = f"persona.stages[{index}].cue.kind"
        if index == 0 and not is_start:
            yield warning(
                "L001",
                place,
                _("the first stage waits for a cue, though nothing was said yet"),
                _("Give the first stage the cue 'start'."),
                name_of(stage),
            )
        elif index > 0 and is_start:
            yield warning(
                "L001",
                place,
                _("the conversation has long started at stage {n}").format(n=index + 1),
                _("Say what the agent must mention, ask or complete before this stage."),
                name_of(stage),
            )


def _empty(case: Case) -> Iterator[Finding]:
    for index, stage in enumerate(case.stages):
        # Nothing can keep the first line from being said.
        if not stage.not_met.strip() and stage.cue.kind is not CueKind.START:
            yield warning(
                "L013",
                f"persona.stages[{index}].not_met",
                _("nothing is written for a reply that does not meet the cue"),
                _("Write what the user says instead, without helping."),
                name_of(stage),
            )


def _numbers(case: Case) -> Iterator[Finding]:
    """Titles that carry numbers of their own count like the stages do."""
    for index, stage in enumerate(case.stages):
        found = _NUMBERED.match(stage.title)
        text = next(filter(None, found.groups()), "") if found else ""
        number = int(text) if text.isdecimal() else parse_han(text) if text else None
        if number is not None and number != index + 1:
            yield warning(
                "L014",
                f"persona.stages[{index}].title",
                _("is called number {said} and stands at {n}").format(said=number, n=index + 1),
                _("Move the stage, or leave the number out of its title."),
                stage.title,
            )


def _order(case: Case) -> Iterator[Finding]:
    """A stage may not ask about something that is first found later, unless the user names it."""
    graph, persona = case.graph, case.task.persona
    if graph is None or persona is None:
        return
    spoken = [persona.initial_query]
    named: set[str] = set()
    for index, stage in enumerate(persona.stages):
        spoken += [stage.line]
        for text in spoken:
            named.update(node for _name, nodes in case.node_names.find(text) for node in nodes)
        spoken.clear()
        for head in sorted(case.heads_of_stage.get(index + 1, ())):
            later = case.first_found.get(head, 0)
            if later > index + 1 and head not in named:
                yield warning(
                    "L014",
                    f"persona.stages[{index}]",
                    _("asks about “{name}”, which only stage {later} finds").format(
                        name=graph.name_of(head), later=later
                    ),
                    _("Put the stage behind that one, or let its line name what it is about."),
                    f"{name_of(stage)}: {graph.name_of(head)}",
                )


def _reach(case: Case) -> Iterator[Finding]:
    """A cue that waits only for things of its own or later stages cannot be met."""
    for index, stage in enumerate(case.stages):
        if stage.cue.kind is CueKind.START or index == 0:
            continue
        waited = list(_waited_for(case, stage.cue))
        if waited and all(_is_later(case, nodes, index + 1) for _name, nodes in waited):
            names = listed(dict.fromkeys(name for name, _nodes in waited))
            yield warning(
                "L015",
                f"persona.stages[{index}].cue",
                _("waits for “{names}”, which no earlier stage asks for").format(names=names),
                _("Wait for something that an earlier stage brings up."),
                name_of(stage),
            )


def _waited_for(case: Case, cue: Cue) -> Iterator[tuple[str, frozenset[str]]]:
    """What must be said to meet a cue, with the nodes of that name; none for other words."""
    for text in cue.terms:
        found = case.node_names.find(text)
        yield text, frozenset(node for _name, nodes in found for node in nodes)
    if not cue.terms and cue.kind is not CueKind.ASKS:
        for name, nodes in case.node_names.find(cue.text):
            yield name, frozenset(nodes)


def _is_later(case: Case, nodes: frozenset[str], stage: int) -> bool:
    return bool(nodes) and all(case.first_dealt_with.get(node, 0) >= stage for node in nodes)


_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN_CHAR = re.compile(f"[{_HAN}]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_SENTENCE_OF_WORDS = re.compile(r"(?<![A-Za-z’'])[A-Za-z’']+(?:[ ,]+[A-Za-z’']+){5}")
# Bounded, so that openings without an end cost no more than they are long.
_QUOTED = re.compile(
    '《[^》]{0,200}》|“[^”]{0,200}”|「[^」]{0,200}」|"[^"]{0,200}"|‘[^’]{0,200}’|\\([^)]{0,200}\\)|（[^）]{0,200}）'
)
# Full-width letters and digits, which look like plain ones and match none of them.
_WIDE = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u3000]")
_HALF_IN_CHINESE = re.compile(rf"[{_HAN}》”）][,;!?:](?![\d/])|[{_HAN}》”）]\.(?![\w.])")
_FULL_IN_ENGLISH = re.compile(rf"(?<![{_HAN}》”）])[，。；！？、：（）](?![{_HAN}《“（])")
_MOSTLY, _SOME = 0.3, 0.15


def lint_texts(case: Case) -> Iterator[Finding]:
    """The language and characters of texts: L042 and L043."""
    chinese = case.task.language == "zh"
    for written in case.texts():
        if _is_foreign(written.text, chinese):
            yield _mixed(written, chinese)
        elif mark := _odd_mark(written.text, chinese):
            yield _odd(written, mark)
    yield from _gold(case, chinese)


def _gold(case: Case, chinese: bool) -> Iterator[Finding]:
    """Names may be foreign, relations may not; neither may be of the wrong width."""
    if case.graph is None:
        return
    told: set[str] = set()
    for index, triple in case.triples:
        if triple.relation not in told:
            told.add(triple.relation)
            has_han = _HAN_CHAR.search(triple.relation) is not None
            words = _LATIN_WORD.search(triple.relation) is not None
            if (chinese and words and not has_han) or (not chinese and has_han):
                place = f"gold.triples[{index}].relation"
                yield _mixed(TaskText(place, triple.relation, triple.relation), chinese)
        for field, name in (("head", triple.head), ("tail", triple.tail)):
            if not name.isascii() and name not in told:
                told.add(name)
                if mark := _WIDE.search(name):
                    about = said_by(case.graph, triple)
                    yield _odd(TaskText(f"gold.triples[{index}].{field}", name, about), mark[0])


def _mixed(written: TaskText, chinese: bool) -> Finding:
    reason = _("is not in Chinese, the language of the task")
    if not chinese:
        reason = _("is not in English, the language of the task")
    return warning(
        "L042",
        written.place,
        reason,
        _("Translate it, or change the language of the task."),
        written.about,
    )


def _odd(written: TaskText, mark: str) -> Finding:
    return warning(
        "L043",
        written.place,
        _("“{mark}” has the width of another language").format(mark=mark),
        _("Write ，。？ between Chinese characters, and , . ? and plain digits elsewhere."),
        f"{written.about}: {mark}",
    )


@lru_cache(maxsize=4096)
def _is_foreign(text: str, chinese: bool) -> bool:
    """Whether a text is mostly in the other language. Quotations and names in it do not count."""
    own = _QUOTED.sub(" ", text)
    han = len(_HAN_CHAR.findall(own))
    words = len(_LATIN_WORD.findall(own))
    if not han and not words:
        return False
    # A Chinese word has about two characters.
    share = (han / 2) / (han / 2 + words)
    if chinese:
        return (share < _MOSTLY and words > 3) or _SENTENCE_OF_WORDS.search(own) is not None
    return share > _SOME


@lru_cache(maxsize=4096)
def _odd_mark(text: str, chinese: bool) -> str:
    """The first sign of the wrong width, with what stands before it; empty where there is none."""
    if found := _WIDE.search(text):
        return found[0]
    if chinese:
        found = _HALF_IN_CHINESE.search(text)
    else:
        found = _FULL_IN_ENGLISH.search(text)
    return found[0] if found else ""


_YEAR = re.compile(r"(?<![\d.,])([12]\d{3})(?![\d,]|\.\d)|([一二][〇零一二三四五六七八九]{3})\s*年")
_MAYBE_AHEAD = re.compile(r"[2-9]\d{3}|[二三][〇零一二三四五六七八九]{3}")
_IS_DATE = re.compile(
    r"\b(?:year|date|day|since|until)\b|\b\w+ed (?:in|on)$|^(?:born|built) (?:in|on)$|年|日期|时间"
)
_BARE = re.compile(r"[2-9]\d{3}")


def lint_dates(case: Case) -> Iterator[Finding]:
    """Dates and years: L040 and L041."""
    if case.world is not None:
        if case.task.query.strip() and not _lies_ahead(case, case.world):
            yield warning(
                "L040",
                "gold.facts",
                _("nothing in the query or the facts has a date that is still to come"),
                _("Set the world in a year after {year}.").format(year=case.today.year),
            )
        return
    for place, text, known, about in _values(case):
        if _is_ahead(text, known, case.today):
            yield warning(
                "L041",
                place,
                _("“{date}” is still to come").format(date=text),
                _("Check the date; only closed worlds are set in the future."),
                about,
            )


def _texts_of(task: Task, world: FactWorld) -> Iterator[str]:
    yield from (task.title, task.query, *task.sub_queries)
    if task.persona:
        yield task.persona.initial_query
        yield from (stage.line for stage in task.persona.stages)
    for fact in world.facts:
        yield from (fact.key, fact.value, fact.entity, fact.attribute)


def _lies_ahead(case: Case, world: FactWorld) -> bool:
    for text in _texts_of(case.task, world):
        for arabic, han in _YEAR.findall(unicodedata.normalize("NFKC", text)):
            year = int(arabic) if arabic else parse_han(han) or 0
            if year > case.today.year:
                return True
        moment = parse_plain_date(text)
        if moment is not None and moment.first_day > case.today:
            return True
    return False


def _values(case: Case) -> Iterator[tuple[str, str, bool, str]]:
    """Gold values with their place; whether a bare number among them is a year; and what they are."""
    if case.graph is not None:
        for index, triple in case.triples:
            name = case.graph.name_of(triple.tail)
            if _MAYBE_AHEAD.search(name):
                known = _IS_DATE.search(triple.relation.casefold()) is not None
                yield f"gold.triples[{index}].tail", name, known, said_by(case.graph, triple)
    if case.table is not None:
        days = [
            Metric.DATE_NEAR in c.metric or Preprocess.NORM_DATE in c.preprocess
            for c in case.table.columns
        ]
        for index, row in enumerate(case.table.rows):
            for at, cell in enumerate(row):
                if _MAYBE_AHEAD.search(cell):
                    about = " | ".join((*case.table.key_of(row), case.table.columns[at].name))
                    yield f"gold.rows[{index}][{at}]", cell, days[at], about
    if case.chain is not None:
        for index, step in enumerate(case.chain.steps):
            yield f"gold.steps[{index}].target", step.target, True, step.question
        yield "gold.final_answer", case.chain.final_answer, True, "final_answer"


def _is_ahead(text: str, known: bool, today: date) -> bool:
    plain = unicodedata.normalize("NFKC", text).strip()
    if _BARE.fullmatch(plain):
        return known and int(plain) > today.year
    moment = parse_plain_date(plain)
    return moment is not None and moment.first_day > today


LEAST_SHARE = 0.5

_CAUGHT = re.compile("[,;:'\"<>，。；：、！？.]$")
_CLOSING = {")": "(", "]": "[", "）": "（", "】": "【", "》": "《", "」": "「", "”": "“", "’": "‘"}
_TWICE = re.compile(r"^https?://https?[:/]", re.IGNORECASE)
_HOST = re.compile(r"[^\s/:@.]+(?:\.[^\s/:@.]+)+\.?|\[[0-9a-f:.]+\]", re.IGNORECASE)


def lint_sources(case: Case) -> Iterator[Finding]:
    """Sources and addresses: L010, L037, L038 and L039."""
    yield from _missing(case)
    for place, url in _addresses(case):
        if url and not _well_formed(url):
            yield warning(
                "L038",
                place,
                _("“{url}” cannot be opened as it stands").format(url=url),
                _("Copy the address again from the browser."),
                url,
            )
    seen: dict[str, int] = {}
    for index, source in enumerate(case.task.sources):
        key = source.url.strip().rstrip("/")
        if key and seen.setdefault(key, index) != index:
            yield warning(
                "L039",
                f"sources[{index}].url",
                _("is the page of source {n} too").format(n=seen[key] + 1),
                _("Put what you noted into one entry."),
                source.url,
            )


def _missing(case: Case) -> Iterator[Finding]:
    cited = any(source.url for source in case.task.sources)
    with_sources = sum(any(pages) for pages in case.task.gold.citations())
    if not cited and not with_sources:
        yield warning(
            "L010",
            "sources",
            _("nothing says where the gold answer comes from"),
            _("Add at least one page by which a reviewer can check it."),
        )
    elif case.triples and with_sources < LEAST_SHARE * len(case.triples):
        yield warning(
            "L037",
            "gold.triples",
            plural(
                "{n} of {count} triples has a source",
                "{n} of {count} triples have a source",
                with_sources,
                count=len(case.triples),
            ),
            _("Add the pages on which you found the others, to half of them at least."),
        )


def _addresses(case: Case) -> Iterator[tuple[str, str]]:
    for index, source in enumerate(case.task.sources):
        yield f"sources[{index}].url", source.url
    gold = case.task.gold
    for index, pages in enumerate(gold.citations()):
        for at, url in enumerate(pages):
            yield f"gold.{gold.field}[{index}].sources[{at}]", url


@lru_cache(maxsize=16384)
def _well_formed(url: str) -> bool:
    opening = _CLOSING.get(url[-1:])
    if _TWICE.match(url) or _CAUGHT.search(url) or (opening and opening not in url):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and _HOST.fullmatch(host) is not None
