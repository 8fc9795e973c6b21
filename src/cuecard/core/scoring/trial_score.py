"""All numbers of one trial."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.events import Event
from cuecard.core.prediction import Prediction
from cuecard.core.scoring.checkpoints import score_checkpoints
from cuecard.core.scoring.facts import score_facts
from cuecard.core.scoring.graph import score_graph
from cuecard.core.scoring.interaction import score_interaction
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.table import score_table
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Judgement


def score_trial(task: Task, events: Sequence[Event], judgement: Judgement) -> tuple[Measure, ...]:
    """The family's measures, then `unjudged`, then the interaction's; every name occurs once.

    What was handed in is read from the log. For an output without a log see `score_prediction`.
    """
    family = _score_family(task, prediction_of(events), events, judgement)
    return (*family, *score_interaction(task, events))


def score_prediction(
    task: Task, prediction: Prediction, judgement: Judgement
) -> tuple[Measure, ...]:
    """The family's measures and `unjudged` for an output that was produced elsewhere.

    Without a log there is nothing to say of turns, tools and tokens; a facts task's FCR and hit
    rate and a checkpoint task's steps, which live in the log, are undefined or left out.
    """
    measures = _score_family(task, prediction, (), judgement)
    needs_log = ("fcr", "hit_rate", "premature_stop")
    return tuple(measure for measure in measures if measure.name not in needs_log)


def _score_family(
    task: Task, prediction: Prediction, events: Sequence[Event], judgement: Judgement
) -> tuple[Measure, ...]:
    match task.gold:
        case Graph() as graph:
            return score_graph(graph, prediction, judgement.verdicts)
        case Table() as table:
            return score_table(table, judgement)
        case CheckpointChain() as chain:
            return score_checkpoints(chain, events, judgement)
        case FactWorld() as world:
            return score_facts(world, events, judgement)
