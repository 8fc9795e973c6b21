"""What reviewers judge: five dimensions for each family."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.core.i18n import N_
from cuecard.core.tasks import Family


@dataclass(frozen=True)
class Dimension:
    """`key` is stored with reviews and never changes; translate `label` and `help` when shown."""

    key: str
    label: str
    help: str


DIMENSIONS: dict[Family, tuple[Dimension, ...]] = {
    "graph": (
        Dimension(
            key="scenario",
            label=N_("Scenario is realistic"),
            help=N_("A person like this one could really want to know this, for this reason."),
        ),
        Dimension(
            key="interaction",
            label=N_("Interaction is natural"),
            help=N_("The lines sound like somebody who talks, and each follows from the reply."),
        ),
        Dimension(
            key="disclosure",
            label=N_("Disclosure is reasonable"),
            help=N_("Every cue can be met by a good agent, and no line gives away what it seeks."),
        ),
        Dimension(
            key="gold",
            label=N_("Gold is correct"),
            help=N_("The triples are true, complete and supported by their sources."),
        ),
        Dimension(
            key="consistency",
            label=N_("Persona and gold agree"),
            help=N_(
                "Every stage is answered by triples, and every triple is asked for by a stage."
            ),
        ),
    ),
    "table": (
        Dimension(
            key="question",
            label=N_("Question is unambiguous"),
            help=N_("It says which rows belong to the table and what goes into each column."),
        ),
        Dimension(
            key="completeness",
            label=N_("Table is complete"),
            help=N_("Every row that belongs is there, and none that does not."),
        ),
        Dimension(
            key="gold",
            label=N_("Cells are correct"),
            help=N_("The values are true and supported by the sources."),
        ),
        Dimension(
            key="stability",
            label=N_("Table is stable over time"),
            help=N_("Nothing in it changes next year, or the question fixes the date."),
        ),
        Dimension(
            key="comparison",
            label=N_("Comparison is fair"),
            help=N_(
                "Keys tell rows apart; each column's metric accepts every right way to write it."
            ),
        ),
    ),
    "checkpoints": (
        Dimension(
            key="uniqueness",
            label=N_("Question constrains the answer"),
            help=N_("With all clues given, only one answer fits the question."),
        ),
        Dimension(
            key="ambiguity",
            label=N_("Ambiguity can be noticed"),
            help=N_("Who searches will come across the candidates and can tell that they differ."),
        ),
        Dimension(
            key="clue",
            label=N_("Clues are natural and sufficient"),
            help=N_("Each clue sounds like an answer, decides between the candidates, names none."),
        ),
        Dimension(
            key="chain",
            label=N_("Steps lead to the answer"),
            help=N_("Each step needs the one before, and the last gives the final answer."),
        ),
        Dimension(
            key="gold",
            label=N_("Targets are correct"),
            help=N_("Targets, aliases and candidates are true and supported by the sources."),
        ),
    ),
    "facts": (
        Dimension(
            key="laws",
            label=N_("Facts and rules are consistent"),
            help=N_("No fact contradicts another, and the rules say how to combine them."),
        ),
        Dimension(
            key="sufficiency",
            label=N_("Facts and rules suffice"),
            help=N_("The answer follows from them, and each one that it needs is there."),
        ),
        Dimension(
            key="uniqueness",
            label=N_("Answer is unique"),
            help=N_("Nobody who knows all facts could reach another answer with good reason."),
        ),
        Dimension(
            key="atomicity",
            label=N_("Facts are atomic"),
            help=N_("One search finds one fact; no fact is the answer or half of the reasoning."),
        ),
        Dimension(
            key="novelty",
            label=N_("Memory does not help"),
            help=N_("What the world says cannot be known beforehand, and the question is clear."),
        ),
    ),
}
