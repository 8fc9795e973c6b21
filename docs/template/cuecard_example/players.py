"""An agent, a user, a world and a judge. Each trial has an object of its own of each of them."""

import re

from cuecard.core.engine.messages import ToolCall
from cuecard.core.families.registry import family_of
from cuecard.core.predictions import answer_of
from cuecard.core.verdicts import Decision


class FirstHit:
    """An agent that searches for what the user said and repeats what it found."""

    source = "rules"  # A baseline; leave it out where a model or a program of yours is behind it.
    version = "1"  # Recorded with every trial; raise it when it plays otherwise.

    def __init__(self, task, searches=1):
        self.task = task  # Family, language, instructions; never the gold.
        self.searches = searches

    def reply(self, dialogue, context):
        wanted = re.split(r"(?<=[.?!])\s+", dialogue.last("user").text)
        found = []
        for query in wanted[: self.searches]:
            call = ToolCall(name=context.tools[0].name, arguments={"query": query})
            found.append(context.call_tool(call).text)
        print("searched", len(found), "times")  # Goes into the trial's log.
        return "\n".join(found)

    def conclude(self, dialogue, context):
        amounts = re.findall(r"\d[\d.,]*\s+\w+", dialogue.last("agent").text)
        return f"Final answer: {amounts[-1] if amounts else 'unknown'}"


class Patient:
    """A user that asks, thanks and leaves. Methods may be coroutines, too."""

    source = "rules"

    def __init__(self, task):
        self.task = task  # All of it, the gold included.

    async def open(self, context):
        return self.task.query

    async def reply(self, dialogue, context):
        return {"text": "Thank you.", "done": True}


class Pages:
    """A world that answers with the page that has most words of the query."""

    source = "rules"
    tools = (
        {
            "name": "search",
            "description": "Find a page.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
        },
    )

    def __init__(self, task, pages=()):
        self.pages = pages

    def answer(self, call, context):
        query = call.arguments.get("query")
        if call.name != "search" or not isinstance(query, str):
            return {"text": "Search with a query.", "ok": False}
        words = set(query.lower().split())
        best = max(
            self.pages, key=lambda p: len(words & set(p.lower().split())), default="Nothing."
        )
        return {"text": best}


class SameWords:
    """A judge of final answers that wants the same words in the same order."""

    source = "rules"

    def judge(self, task, prediction, context):
        verdicts, _table = family_of(task).refuse(task.gold, "other words")
        given = answer_of(prediction)
        if given is None:
            return verdicts
        right = any(_words(given) == _words(answer) for answer in task.gold.answers)
        same = {"decision": Decision.YES, "rationale": "the same words"}
        return [one.model_copy(update=same) if right else one for one in verdicts]


def _words(text):
    return re.findall(r"\w+", text.lower())
