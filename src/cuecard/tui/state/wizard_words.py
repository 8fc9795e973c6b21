"""What a person who plays the agent is told, in plain words."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.lab.wizard_view import Briefing


def asked_of(briefing: Briefing) -> list[str]:
    """What the person is to do, in plain words, a paragraph each."""
    user = one_line(briefing.user, 40)
    match briefing.task.family:
        case "graph":
            task = _(
                "{user} wants to find something out and says more of it as you talk. Look things up, tell what you found, and ask back where a detail is missing."
            )
            end = _(
                "At the end you hand in all facts that belong to it as triples: head, relation, tail."
            )
        case "table":
            task = _(
                "{user} wants a table and says more of what is to be in it as you talk. Look things up, tell what you found, and ask back where a detail is missing."
            )
            end = _(
                "At the end you hand in one table with exactly the columns that were asked for."
            )
        case "checkpoints":
            task = _(
                "{user} leads you through a chain of questions; each answer is needed for the next. End every turn with the answer to the present question, or with a question of your own where it can mean several things."
            )
            end = _("At the end you hand in the answer to the last question.")
        case "facts":
            task = _(
                "{user} asks something that must be worked out from several facts. Look them up one by one: this world may differ from the one you know."
            )
            end = _("At the end you hand in the answer alone.")
    only = _("Use nothing but this window: what you know or find elsewhere spoils the comparison.")
    return [f"{task.format(user=user)} {end}", only]


def told_a_model(briefing: Briefing) -> str:
    """All that a model would get in this place: what it is told, its tools, what it is asked at the end."""
    tools = [f"{tool.name}: {tool.description}" for tool in briefing.tools]
    return "\n\n".join(
        [
            *asked_of(briefing),
            _("What a model is told in your place:"),
            briefing.role.strip(),
            _("The tools:"),
            *(tools or ["-"]),
            _("What it is asked at the end:"),
            briefing.closing.strip(),
        ]
    )


def hand_in_hint(briefing: Briefing) -> str:
    """What to type to hand in, shown where nothing is typed yet."""
    match briefing.task.family:
        case "graph":
            return _(
                "One triple a line: head | relation | tail. Pasted CSV, tables or JSON will do."
            )
        case "table":
            return _(
                "Paste or type a table: a line of column names, then the rows. CSV, Markdown or cells of a spreadsheet."
            )
        case "checkpoints":
            return _("The answer to the last question, in a few words.")
        case "facts":
            return _("The answer alone.")
