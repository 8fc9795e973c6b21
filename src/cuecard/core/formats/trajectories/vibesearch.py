"""VibeSearchBench's trajectories and evaluations (FORMATS: vibesearch)."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from cuecard.core.formats.trajectories.messages import as_openai, chat_of
from cuecard.core.formats.trajectories.model import Judged, Trajectory
from cuecard.core.prediction import TriplesPrediction
from cuecard.core.scoring.decisions import Decisions
from cuecard.core.scoring.graph import GRAPH_MEASURES
from cuecard.core.tasks import Graph
from cuecard.core.verdicts import Decision, ItemKind

Line = dict[str, JsonValue]


def line_of(trajectory: Trajectory) -> Line:
    """A line of `{qid}.jsonl`."""
    messages = chat_of(trajectory.events, trajectory.prompts)
    return {
        "qid": trajectory.task.id,
        "sample_idx": trajectory.sample,
        "question": trajectory.task.opening,
        "messages": [as_openai(message) for message in messages],
        "response": trajectory.response,
        "termination": trajectory.termination.value,
    }


def evaluation_of(trajectory: Trajectory, judged: Judged) -> Line:
    """The evaluation of one sample. A triple that was not judged is `covered: null`, and like ours the measures
    leave it out; an undefined measure is null.
    """
    graph, prediction = trajectory.task.gold, trajectory.prediction
    if not isinstance(graph, Graph):
        raise TypeError(f"a {trajectory.family} task has no triples")
    decisions = Decisions.of(judged.judgement.verdicts)
    supporting: Mapping[int, tuple[int, ...]] = {
        v.item.index: v.supporting
        for v in judged.judgement.verdicts
        if v.item.kind is ItemKind.TRIPLE
    }
    covered = {Decision.YES: True, Decision.NO: False, Decision.UNJUDGED: None}
    states = [
        covered[decisions.decision(ItemKind.TRIPLE, index)] for index in range(len(graph.triples))
    ]
    triples = prediction.triples if isinstance(prediction, TriplesPrediction) else ()
    return {
        "qid": trajectory.task.id,
        "sample_idx": trajectory.sample,
        "num_pred_triples": len(triples),
        **{name: judged.value(name) for name in GRAPH_MEASURES},
        "coverage_details": {
            "total_gt_triples": len(graph.triples),
            "covered_count": states.count(True),
            "triplet_recall": judged.value("triplet_recall"),
            "per_gt_triple": [
                {
                    "gt_index": index,
                    "gt_triple": list(graph.named(triple)),
                    "covered": states[index],
                    "supporting_pred_indices": list(supporting.get(index, ())),
                }
                for index, triple in enumerate(graph.triples)
            ],
        },
    }
