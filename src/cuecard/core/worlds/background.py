"""Background pages of a closed world, which look plausible and state nothing, and the check that they leak no gold."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from cuecard.core.engine.messages import SearchEntry
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import normalise, occurrences, without_terms
from cuecard.core.worlds.statements import Statement, compile_statements, final_answers, public_text

OMITTED = "…"


class ValueGuard:
    """Finds fact values in texts. Built once for a world; results are cached.

    `terms`: every value, alias and final answer. A text contains a term if `text.contains_term` finds it.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._written: dict[str, str] = {}
        for term in terms:
            if normalised := normalise(term):
                self._written.setdefault(normalised, term)
        self._seen: dict[str, frozenset[str]] = {}

    def terms_in(self, text: str) -> frozenset[str]:
        """The terms in a text, normalised."""
        found = self._seen.get(text)
        if found is None:
            found = self.named_in(text)
            self._seen[text] = found
        return found

    def named_in(self, text: str) -> frozenset[str]:
        """`terms_in` without the cache, for a text that will hardly come again, such as a query."""
        haystack = normalise(text)
        return frozenset(
            term
            for term in self._written
            if term in haystack and next(iter(occurrences(haystack, term)), None)
        )

    def clean(self, text: str, allowed: Collection[str] = ()) -> bool:
        """Whether a text contains no terms except `allowed` ones."""
        return all(term in allowed for term in self.terms_in(text))

    def redacted(self, text: str, allowed: Collection[str]) -> str:
        """`text` with its terms left out; empty if that is not possible or nothing remains."""
        banned = [term for term in self.terms_in(text) if term not in allowed]
        if not banned:
            return text
        cut = without_terms(text, (*banned, *(self._written[t] for t in banned)), OMITTED)
        kept = cut.replace(OMITTED, " ").strip()
        return cut if kept and self.clean(cut, allowed) else ""


_TITLES: dict[TaskLanguage, tuple[str, ...]] = {
    "en": (
        "Reader's questions: {topic}",
        "About our sources on {topic}",
        "{topic}: a forum thread",
        "Background to {topic}",
        "Workshop notes on {topic}",
        "Call for contributions: {topic}",
        "What people ask about {topic}",
        "{topic}, a short survey of the literature",
        "From the archive: {topic}",
        "Podcast episode on {topic}",
        "Glossary entry: {topic}",
        "How we checked {topic}",
    ),
    "zh": (
        "读者来信：{topic}",
        "{topic}资料综述",
        "论坛讨论：{topic}",
        "{topic}背景介绍",
        "讲座预告：{topic}",
        "征稿启事：{topic}",
        "{topic}常见疑问",
        "档案馆藏简介：{topic}",
        "播客节目：{topic}",
        "{topic}的考证方法",
        "术语浅释：{topic}",
        "{topic}阅读书目",
    ),
}
_SENTENCES: dict[TaskLanguage, tuple[str, ...]] = {
    "en": (
        "The page gathers opinions from readers; the editors have not verified them.",
        "Several commenters disagree, and the thread was closed before anyone gave a source.",
        "The author explains why earlier summaries contradict each other and promises a sequel.",
        "Access to the full article requires a subscription.",
        "This overview deals with methods rather than results.",
        "The recording is available to members; a transcript has been announced.",
        "Please send corrections to the editorial office before the next update.",
        "Most of the text discusses how archives describe their holdings.",
        "The list of references was removed while the page was being revised.",
        "A short introduction for newcomers, without figures.",
        "The museum shop sells a booklet that covers the subject at greater depth.",
        "Visitors are advised to book early; details follow by newsletter.",
        "The discussion stays general and quotes other summaries at length.",
        "This entry is a stub. Volunteers are welcome to extend it.",
        "The lecture compares how different reference works treat the question.",
        "The old version of this page has moved, and the redirect leads to the front page.",
    ),
    "zh": (
        "本页汇集读者看法，编辑部尚未核实。",
        "帖子里意见不同，楼主还没给出处便关闭了讨论。",
        "作者解释早先的摘要为何彼此矛盾，并预告续篇。",
        "全文仅对订阅者开放。",
        "文章谈的主要是考证方法，而非结论。",
        "录音供会员收听，文字稿另行通知。",
        "欢迎来信指正，以便下次更新。",
        "正文多半在讨论档案如何编目。",
        "页面修订期间，参考文献暂时移除。",
        "写给初学者的简短导读，不含数据。",
        "馆内商店出售相关小册子，内容更为详尽。",
        "参观者请提前预约，详情见通讯。",
        "讨论较为宽泛，大段引用别处的摘要。",
        "此条目尚待扩充，欢迎志愿者补写。",
        "讲座比较不同工具书对该问题的处理。",
        "旧版页面已搬迁，链接会转到首页。",
    ),
}
_TOPICS: dict[TaskLanguage, tuple[str, ...]] = {
    "en": (
        "further reading",
        "method",
        "sources",
        "local history",
        "open questions",
        "reference works",
    ),
    "zh": ("延伸阅读", "考证", "资料来源", "地方史话", "待解疑问", "工具书"),
}
_FILLER = SearchEntry(id="-", title=OMITTED, content=OMITTED)
_TRIES = 60


class Noise:
    """Makes background entries for one world; none of them contains any of its values.

    `topics`: the world's attributes, used as topics of pages; those that contain a value are not used.
    """

    def __init__(self, language: TaskLanguage, guard: ValueGuard, topics: Sequence[str]) -> None:
        self._guard = guard
        self._sentences = tuple(s for s in _SENTENCES[language] if guard.clean(s))
        self._titles = tuple(t for t in _TITLES[language] if guard.clean(t.format(topic="")))
        clean = (t for t in (*topics, *_TOPICS[language]) if len(t) <= 60 and guard.clean(t))
        self._topics = tuple(dict.fromkeys(clean))
        self._blank = "" if language == "zh" else " "

    def entries(self, query: str, count: int) -> tuple[SearchEntry, ...]:
        """`count` different entries, always the same for the same query."""
        found: dict[str, SearchEntry] = {}
        for entry in self._candidates(digest(query)):
            if len(found) == count:
                break
            found.setdefault(entry.title, entry)
        return (*found.values(), *[_FILLER] * (count - len(found)))

    def date(self, text: str) -> str:
        """A made-up date for a page, always the same for the same text; empty if every one tried
        contains a value of the world.
        """
        seed = digest(text)
        for step in range(12):
            number = seed + step * 7919
            date = f"{2009 + number % 16}-{1 + number // 16 % 12:02}-{1 + number // 192 % 28:02}"
            if self._guard.clean(date):
                return date
        return ""

    def _candidates(self, seed: int) -> Iterator[SearchEntry]:
        if not (self._titles and self._topics and len(self._sentences) > 1):
            return
        for step in range(_TRIES):
            number = seed // 7 + step * 104_729
            title = _pick(self._titles, number).format(topic=_pick(self._topics, number // 13))
            one = _pick(self._sentences, number // 5)
            # The second is 1 to length - 1 places after the first, so that they always differ.
            shift = 1 + number // 3 % (len(self._sentences) - 1)
            other = _pick(self._sentences, number // 5 + shift)
            content = f"{one}{self._blank}{other}"
            title = title[:1].upper() + title[1:]
            if self._guard.clean(title) and self._guard.clean(content):
                yield page(title, content, self.date(title + content))


def page(title: str, content: str, date: str) -> SearchEntry:
    """An entry whose id is a hash of its contents."""
    return SearchEntry(
        id=f"p{digest(title + content) % 16**8:08x}", title=title, content=content, date=date
    )


def digest(text: str) -> int:
    """A hash of the text as a number, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=12).digest())


def _pick(options: Sequence[str], number: int) -> str:
    return options[number % len(options)]


class Secrets:
    """A task's statements and the values that must not leak from them. Built on first use."""

    def __init__(self, task: Task) -> None:
        self._task = task

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return compile_statements(self._task)

    @cached_property
    def guard(self) -> ValueGuard:
        """The guard of all values: those of statements, final answers, and all entities of a graph."""
        from cuecard.core.families.registry import family_of

        terms = [value for statement in self.statements for value in statement.values]
        terms.extend(final_answers(self._task))
        if family_of(self._task).entities:
            terms.extend(n for s in self.statements for part in s.subject for n in part)
        return ValueGuard(terms)

    @cached_property
    def public(self) -> frozenset[str]:
        """The guarded terms that the task's public text names, without the final answers."""
        finals = {normalise(answer) for answer in final_answers(self._task)}
        return self.guard.named_in(public_text(self._task)) - finals
