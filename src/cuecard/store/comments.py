"""Comments put together from the entries that hold them."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.review import Answered, Commented, Contribution, Reviewed, comment_id
from cuecard.store.records import Answer, Comment


def comments_in(entries: Sequence[Contribution]) -> list[Comment]:
    """The comments that these entries hold, each with its answers; entries in their order."""
    answers: dict[str, list[Answer]] = {}
    for entry in entries:
        if isinstance(said := entry.body, Answered):
            answer = Answer(by=entry.by, text=said.text, turns=said.turns, at=entry.at)
            answers.setdefault(said.comment, []).append(answer)
    found: list[Comment] = []
    for entry in entries:
        match entry.body:
            case Reviewed(comments=comments):
                for index, pinned in enumerate(comments):
                    id = comment_id(entry.uid, index)
                    told = (pinned.place, pinned.text, pinned.dimension)
                    found.append(_comment(entry, id, told, answers))
            case Commented(place=place, text=text):
                found.append(_comment(entry, comment_id(entry.uid), (place, text, ""), answers))
            case _:
                pass
    return found


def _comment(
    entry: Contribution, id: str, told: tuple[str, str, str], answers: dict[str, list[Answer]]
) -> Comment:
    place, text, dimension = told
    return Comment(
        id=id,
        task_id=entry.task_id,
        revision=entry.revision,
        place=place,
        text=text,
        dimension=dimension,
        by=entry.by,
        at=entry.at,
        of_review=isinstance(entry.body, Reviewed),
        answers=tuple(answers.get(id, ())),
    )
