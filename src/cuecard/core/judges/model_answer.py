"""Whether an answer says what the gold answer says, judged by a model."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.i18n import _
from cuecard.core.judges.material import block
from cuecard.core.judges.model_shapes import Equivalence
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.parts import CallDesk
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import storable
from cuecard.core.verdicts import Decision, Item, ItemKind, Verdict


async def judge_answer(
    client: ChatClient,
    question: str,
    names: Sequence[str],
    answer: str,
    desk: CallDesk,
    *,
    prompt: Prompt,
    language: TaskLanguage,
    attempts: int = 3,
) -> Verdict:
    """The verdict on `answer` against the gold answer and its aliases; see `equivalent`."""
    same, reason = await equivalent(
        client, question, names, answer, desk, prompt=prompt, language=language, attempts=attempts
    )
    return Verdict(item=Item(kind=ItemKind.ANSWER), decision=same, rationale=reason)


async def equivalent(
    client: ChatClient,
    question: str,
    names: Sequence[str],
    answer: str,
    desk: CallDesk,
    *,
    prompt: Prompt,
    language: TaskLanguage,
    attempts: int = 3,
) -> tuple[Decision, str]:
    """Whether `answer` answers `question` as any of `names` (the gold answer, then its aliases) does,
    and why. `prompt` is `judge_answer`. For final answers and for single checkpoints alike.

    Unjudged where no attempt gave a usable answer. Nothing answered is wrong without asking. Raises
    `ModelCallError` and `Halt`.
    """
    if not answer.strip():
        return Decision.NO, _("the answer is empty")
    gold, *aliases = names
    material = block(
        {"question": question, "gold": gold, "also_accepted": aliases, "answer": answer}
    )
    asked = await ask_structured(
        client,
        [wire.user(prompt.render(material=material))],
        Equivalence,
        desk,
        prompt=prompt,
        language=language,
        attempts=attempts,
    )
    if asked.value is None:
        return Decision.UNJUDGED, _("no usable answer of the model")
    decision = Decision.YES if asked.value.equivalent else Decision.NO
    return decision, storable(asked.value.reason.strip())
