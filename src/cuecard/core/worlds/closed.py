"""The closed world, which answers searches from a task's gold, and the specifications of tools that worlds offer."""

from collections.abc import Iterable
from functools import cached_property

from pydantic import JsonValue

from cuecard.core.engine.messages import Hit, PlayerRef, SearchEntry, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.step_context import WorldContext
from cuecard.core.families.registry import family_of
from cuecard.core.players import kind_of
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.worlds.background import Noise, Secrets, digest, page
from cuecard.core.worlds.finding import Finding, Index, Lead
from cuecard.core.worlds.statements import Form, Statement, list_text, statement_text

MAX_QUERY = 2000
_REFUSALS: dict[TaskLanguage, dict[str, str]] = {
    "en": {
        "tool": "There is no tool named {name}. The only tool is: search.",
        "query": "The argument `query` is missing. It must be a text that is not empty.",
        "long": "The argument `query` is too long. Give at most {most} characters.",
        "topn": "The argument `topn` must be a whole number from 1.",
    },
    "zh": {
        "tool": "没有名为 {name} 的工具。唯一的工具是 search。",
        "query": "缺少参数 `query`，它必须是非空文本。",
        "long": "参数 `query` 太长，最多 {most} 个字符。",
        "topn": "参数 `topn` 必须是不小于 1 的整数。",
    },
}


def search_refusal(call: ToolCall, language: TaskLanguage) -> str:
    """Why a world with the one tool `search(query, topn)` cannot answer a call; empty if it can."""
    wording = _REFUSALS[language]
    if call.name != "search":
        return wording["tool"].format(name=call.name[:80])
    query, topn = call.arguments.get("query"), call.arguments.get("topn")
    if not isinstance(query, str) or not query.strip():
        return wording["query"]
    if len(query) > MAX_QUERY:
        return wording["long"].format(most=MAX_QUERY)
    whole = isinstance(topn, int) and not isinstance(topn, bool) and topn >= 1
    return "" if topn is None or whole else wording["topn"]


ENTRIES = 4
SEARCH = ToolSpec(
    name="search",
    description=(
        "Search the reference collection. Ask for one thing at a time: one entity and one of its"
        " attributes. A query that names only an entity gives the headings under which it is"
        " described. Every answer has four results, and most of them may be beside the point."
    ),
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "One entity and one attribute."},
            "topn": {
                "type": "integer",
                "minimum": 1,
                "description": "Accepted for compatibility; there are always four results.",
            },
        },
        "required": ["query"],
    },
)


class ClosedWorld:
    """Answers `search` from a task's gold (Mind-ParaWorld's closed world, made deterministic).

    An atomic query (one entity and one attribute) gets its statement among background pages. A vague query gets lists
    of the headings, names or topics on record, and background; a compound one gets background only. The same query
    always gets the same answer.

    Never said are: in background, the value of any statement; in lists, a value that neither the query nor the task's
    public text names; anywhere, the final answer of a facts task. The final answer of a checkpoint task is only said to
    the exact query for the step whose target it is, which asks for nothing else and names no other entity than the
    target of the step before. Row keys of a table are no secret values: a directory lists them, since agents could not
    begin otherwise.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._secrets = Secrets(task)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="closed", kind="closed", baseline=True)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return (SEARCH,)

    @property
    def statements(self) -> tuple[Statement, ...]:
        return self._secrets.statements

    @cached_property
    def _noise(self) -> Noise:
        attributes = dict.fromkeys(s.attribute for s in self.statements)
        topics = tuple(attributes) if family_of(self._task).topics else ()
        return Noise(self._task.language, self._secrets.guard, topics)

    @cached_property
    def _index(self) -> Index:
        return family_of(self._task).index(self._task.gold, self._secrets)

    async def answer(self, call: ToolCall, context: WorldContext | None = None) -> ToolAnswer:
        """Answer a call of `search`; an unusable call gets an answer that says why. `context` is not used."""
        refusal = search_refusal(call, self._task.language)
        if refusal:
            return ToolAnswer(text=refusal, ok=False)
        query = str(call.arguments["query"]).strip()
        finding = self._index.find(query)
        entries = self._entries(query, finding)
        statement = finding.statement
        hit = Hit(
            is_compound=finding.is_compound,
            hit=statement is not None,
            matched_fact_keys=(statement.key,) if statement else (),
            reason=finding.reason,
        )
        return ToolAnswer(text=as_text(entries), entries=entries, hit=hit)

    def _entries(self, query: str, finding: Finding) -> tuple[SearchEntry, ...]:
        """Four entries. The place of a statement among them is a hash of the query."""
        told: list[SearchEntry] = []
        leads = finding.leads
        known = self._secrets.public | self._secrets.guard.named_in(query)
        if finding.statement:
            entry = self._say(finding.statement)
            told.append(entry)
            known |= self._secrets.guard.named_in(entry.content)
            leads = self._index.related(finding.statement, leads)
        for lead in leads[: ENTRIES - 1]:
            if entry := self._list(lead, known):
                told.append(entry)
        seed = digest(query)
        entries = list(self._noise.entries(query, ENTRIES - len(told)))
        for number, entry in enumerate(told):
            entries.insert((seed >> 8 * number) % (len(entries) + 1), entry)
        return tuple(entries)

    def _say(self, statement: Statement) -> SearchEntry:
        # A step is stated without its predecessor, whose target the agent may not know yet.
        subject = "" if statement.step else statement.title
        if statement.step and statement.step.lists_readings:
            title, content = list_text(
                self._task.language, Form.READINGS, statement.attribute, statement.value_aliases
            )
        else:
            title, content = statement_text(
                self._task.language, subject, statement.attribute, statement.value
            )
        return page(title, content, self._noise.date(title + content))

    def _list(self, lead: Lead, known: frozenset[str]) -> SearchEntry | None:
        """A list as an entry, or None if its wording would give a value away."""
        if not lead.items:
            return None
        title, content = list_text(self._task.language, lead.form, lead.name, lead.items)
        if not (
            self._secrets.guard.clean(title, known) and self._secrets.guard.clean(content, known)
        ):
            return None
        return page(title, content, self._noise.date(title + content))


def as_text(entries: tuple[SearchEntry, ...]) -> str:
    """The entries as an agent reads them."""
    shown = (
        f"[{number}] {e.title}" + (f" ({e.date})" if e.date else "") + f"\n{e.content}"
        for number, e in enumerate(entries, 1)
    )
    return "\n\n".join(shown)


_QUERY: dict[str, JsonValue] = {"type": "string", "description": "What to look for."}
_TOPN: dict[str, JsonValue] = {
    "type": "integer",
    "minimum": 1,
    "description": "How many results at most.",
}
_SEARCHING: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"query": _QUERY, "topn": _TOPN},
    "required": ["query"],
}

SEARCH_WEB = ToolSpec(
    name="search",
    description=(
        "Search the web. Gives titles, addresses and short excerpts; read a page with `visit` where"
        " that tool is offered."
    ),
    parameters=_SEARCHING,
)
WEB_SEARCH = SEARCH_WEB.model_copy(update={"name": "web_search"})
SCHOLAR_SEARCH = ToolSpec(
    name="scholar_search",
    description="Search scholarly literature. Gives titles, addresses and short excerpts.",
    parameters=_SEARCHING,
)
VISIT = ToolSpec(
    name="visit",
    description="Read web pages with a goal in mind, and get what they say about it.",
    parameters={
        "type": "object",
        "properties": {
            "urls": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": "The addresses of the pages, starting with http:// or https://.",
            },
            "goal": {"type": "string", "description": "What you want to know from them."},
        },
        "required": ["urls", "goal"],
    },
)
PYTHON = ToolSpec(
    name="python",
    description=(
        "Run a Python program, which may use the standard library, and get what it prints. Nothing is"
        " kept from one call to the next; there is no network."
    ),
    parameters={
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The whole program; print what you want."}
        },
        "required": ["code"],
    },
)

_KNOWN = {spec.name: spec for spec in (SEARCH_WEB, WEB_SEARCH, SCHOLAR_SEARCH, VISIT, PYTHON)}


def spec_of(name: str, world: str, calls: Iterable[ToolCall]) -> ToolSpec:
    """The specification of tool `name` as a world of the kind `world` offers it; that of an unknown tool is derived
    from the arguments of its `calls`.
    """
    if name == SEARCH.name and kind_of("world", world).collection:
        return SEARCH
    if name in _KNOWN:
        return _KNOWN[name]
    seen = dict.fromkeys(argument for call in calls for argument in call.arguments)
    anything: dict[str, JsonValue] = {argument: {} for argument in seen}
    return ToolSpec(
        name=name,
        description="A tool of an earlier run.",
        parameters={"type": "object", "properties": anything},
    )


def make_world(
    _name: str, _settings: object, _config: object, _hub: object, task: Task, *_rest: object
) -> ClosedWorld:
    """The world for one trial of `task`; there is nothing to configure."""
    return ClosedWorld(task)
