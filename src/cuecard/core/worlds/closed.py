"""A closed world: a search tool that knows a task's gold, one atomic statement at a time."""

from __future__ import annotations

from functools import cached_property

from cuecard.core.parts import (
    Hit,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    ToolSpec,
    WorldDesk,
)
from cuecard.core.tasks import CheckpointChain, Table, Task
from cuecard.core.worlds.finding import Finding, Index, Lead
from cuecard.core.worlds.forms import Form, say_list, say_statement
from cuecard.core.worlds.noise import Noise, digest, page
from cuecard.core.worlds.records import RecordIndex
from cuecard.core.worlds.refusals import search_refusal
from cuecard.core.worlds.secrets import Secrets
from cuecard.core.worlds.statements import Statement
from cuecard.core.worlds.steps import StepIndex

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

    An atomic query, one entity and one attribute, gets its statement among background pages. A
    vague one gets lists of headings, names or topics on record, and background. A compound one gets
    background only. The same query always gets the same answer.

    What is never said: in background, any value of any statement; in lists, any value that neither
    the query nor the task's public text names; anywhere, the final answer of a facts task. The final
    answer of a checkpoint task is only said to the exact query for the step whose target it is: one
    that asks for nothing else and names no other entity than the target of the step before.
    Row keys of a table are no values: a directory lists them, or nobody could begin.
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
        topics = () if isinstance(self._task.gold, CheckpointChain) else tuple(attributes)
        return Noise(self._task.language, self._secrets.guard, topics)

    @cached_property
    def _records(self) -> RecordIndex:
        keys: tuple[str, ...] = ()
        columns: tuple[str, ...] = ()
        if isinstance(self._task.gold, Table):
            keys, columns = self._task.gold.unique_columns, self._task.gold.column_names
        return RecordIndex(
            self.statements, self._secrets.guard, self._secrets.public, keys, columns
        )

    @cached_property
    def _index(self) -> Index:
        if isinstance(self._task.gold, CheckpointChain):
            return StepIndex(self.statements)
        return self._records

    async def answer(self, call: ToolCall, desk: WorldDesk | None = None) -> ToolAnswer:
        """Answer a call of `search`, without any help of `desk`; whatever is wrong with the call is said in the answer."""
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
        """Four entries. A statement's place among them follows from the query."""
        told: list[SearchEntry] = []
        leads = finding.leads
        known = self._secrets.public | self._secrets.guard.named_in(query)
        if finding.statement:
            entry = self._say(finding.statement)
            told.append(entry)
            known |= self._secrets.guard.named_in(entry.content)
            if self._index is self._records:
                leads = self._records.related(finding.statement)
        for lead in leads[: ENTRIES - 1]:
            if entry := self._list(lead, known):
                told.append(entry)
        seed = digest(query)
        entries = list(self._noise.entries(query, ENTRIES - len(told)))
        for number, entry in enumerate(told):
            entries.insert((seed >> 8 * number) % (len(entries) + 1), entry)
        return tuple(entries)

    def _say(self, statement: Statement) -> SearchEntry:
        # A step is told without the one before: whoever asks need not know its target.
        subject = "" if statement.step else statement.title
        if statement.step and statement.step.lists_readings:
            title, content = say_list(
                self._task.language, Form.READINGS, statement.attribute, statement.value_aliases
            )
        else:
            title, content = say_statement(
                self._task.language, subject, statement.attribute, statement.value
            )
        return page(title, content, self._noise.date(title + content))

    def _list(self, lead: Lead, known: frozenset[str]) -> SearchEntry | None:
        """A list as an entry, or None if its wording would give a value away."""
        if not lead.items:
            return None
        title, content = say_list(self._task.language, lead.form, lead.name, lead.items)
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
