"""Examples for a judge's prompt, made of what people corrected of it on tasks that never measure it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.annotate.labelling.comparison_inputs import Case, ComparisonInputs
from cuecard.annotate.labelling.workshop import NO, YES, is_held_out, truth_of
from cuecard.core.config import Config, Prompt, find_prompt
from cuecard.core.config_players import ModelJudgeConfig
from cuecard.core.engine.trial import prediction_of
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.items import closest_items, gold_item
from cuecard.core.families.registry import CORE, family_of
from cuecard.core.i18n import _
from cuecard.core.system import write_text
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


MOST = 6
_LINE = 300
_HEADS: dict[TaskLanguage, tuple[str, str, str]] = {
    "en": (
        "Examples that people decided, of other tasks. Decide in the same way.",
        "covered",
        "not covered",
    ),
    "zh": ("以下是人判断过的例子，取自其他任务。请按同样的方式判断。", "已覆盖", "未覆盖"),
}


class Example(Frozen):
    """An item on which people corrected a judge. `handed_in`: the likest that was handed in; `decision`: of people."""

    task: str
    family: str
    language: TaskLanguage
    gold: str
    handed_in: tuple[str, ...]
    decision: str
    reason: str = ""

    @property
    def line(self) -> str:
        """As it stands in a prompt."""
        _head, yes, no = _HEADS[self.language]
        told = yes if self.decision == YES else no
        reason = f" ({self.reason})" if self.reason else ""
        return (
            f"- gold: {self.gold} | handed in: {' / '.join(self.handed_in) or '–'} | {told}{reason}"
        )


def corrections(inputs: ComparisonInputs, judge: str) -> list[Case]:
    """The items of tuning tasks on which people decided otherwise than the judge, one of each task first. No item of a
    held-out task is among them.
    """
    wrong = [
        case
        for case in inputs.cases
        if not is_held_out(case.task)
        and {truth_of(case), case.decisions.get(judge, "")} == {YES, NO}
    ]
    turn: dict[str, int] = {}
    ranks: list[tuple[int, int, Case]] = []
    for at, case in enumerate(wrong):
        ranks.append((turn.get(case.task, 0), at, case))
        turn[case.task] = turn.get(case.task, 0) + 1
    return [case for _turn, _at, case in sorted(ranks, key=lambda each: each[:2])]


def examples_of(workspace: Workspace, cases: Sequence[Case]) -> Iterator[Example]:
    """The texts of these cases. Reads a log each."""
    comments = _comments(workspace, cases)
    for case in cases:
        task = workspace.tasks.revision(case.task, case.revision).task
        prediction = prediction_of(workspace.runs.events(case.trial_id))
        yield Example(
            task=case.task,
            family=task.family,
            language=task.language,
            gold=one_line(gold_item(task, case.item).text, _LINE),
            handed_in=tuple(
                one_line(near.cell or near.text, _LINE)
                for near in closest_items(task, case.item, prediction, 2)
            ),
            decision=truth_of(case),
            reason=one_line(comments.get(case.key, ""), _LINE),
        )


def _comments(workspace: Workspace, cases: Sequence[Case]) -> dict[tuple[int, str], str]:
    """What people wrote beside the decision that counts."""
    trials = {case.trial_id for case in cases}
    wanted = {case.key: truth_of(case) for case in cases}
    found: dict[tuple[int, str], str] = {}
    for label in workspace.verdicts.item_labels(trials):
        key = label.trial_id, label.item_key
        if label.comment and wanted.get(key) == label.value.value:
            found.setdefault(key, label.comment)
    for decided in workspace.adjudications.newest(trials):
        if decided.comment and (decided.trial_id, decided.item_key) in wanted:
            found[decided.trial_id, decided.item_key] = decided.comment
    return found


def prompts_of(judge: str, config: Config) -> dict[tuple[str, TaskLanguage], Prompt]:
    """The prompts of a model judge by name and language; none of another kind of judge. Raises `ConfigError`."""
    found = config.judge(judge)
    if not isinstance(found, ModelJudgeConfig):
        return {}
    names = dict.fromkeys(name for family in CORE.values() for name in family.judge_prompts)
    languages: tuple[TaskLanguage, ...] = ("en", "zh")
    return {
        (name, language): find_prompt(name, language, config, found.prompts)
        for name in names
        for language in languages
    }


def write_examples(
    workspace: Workspace,
    inputs: ComparisonInputs,
    judge: str,
    config: Config,
    folder: Path,
    *,
    most: int = MOST,
) -> tuple[list[Path], Collection[Example]]:
    """New versions of the judge's prompts with at most so many examples each, as files in `folder`, which a judge of
    `cuecard.yaml` can name; and the examples. Raises `CuecardError` where there is nothing to learn from, and
    `ConfigError`.
    """
    cases = corrections(inputs, judge)
    prompts = prompts_of(judge, config)
    if not prompts:
        raise CuecardError(
            _("This judge has no prompt"),
            _("{judge} decides without a model.").format(judge=judge),
            _("Name a judge of kind model."),
        )
    by_prompt: dict[tuple[str, TaskLanguage], list[Example]] = {}
    for example in examples_of(workspace, cases):
        # Decisions of code have no prompt to learn; a family's last prompt is the one that decides on items.
        task = workspace.tasks.revision(example.task).task
        key = family_of(task).judge_prompts[-1], example.language
        if len(chosen := by_prompt.setdefault(key, [])) < most:
            chosen.append(example)
    if not by_prompt:
        raise CuecardError(
            _("There is nothing to learn from yet"),
            _("People corrected {judge} on no labelled item of a tuning task.").format(judge=judge),
            _("Label more items; about two of five tasks are for tuning."),
        )
    files = [
        write_text(folder / f"{name}.{language}.md", _with(prompts[name, language], chosen))
        for (name, language), chosen in by_prompt.items()
    ]
    return files, [example for chosen in by_prompt.values() for example in chosen]


def _with(prompt: Prompt, examples: Sequence[Example]) -> str:
    """The prompt with examples before its material."""
    head = _HEADS[examples[0].language][0]
    block = "\n".join([head, "", *(example.line for example in examples)])
    # What looks like a variable in a text of somebody else's is none.
    block = block.replace("{{", "{ {")
    text = prompt.text
    place = text.find("<material>")
    at = text.rfind("\n\n", 0, place) if place > 0 else len(text)
    body = f"{text[:at].rstrip()}\n\n{block}\n\n{text[at:].lstrip()}"
    names = ", ".join(prompt.variables)
    version = f"{prompt.version or '1'}+{len(examples)}"
    return (
        f'---\npurpose: {prompt.purpose}\nversion: "{version}"\nvariables: [{names}]\n---\n{body}\n'
    )


def texts_of(workspace: Workspace, cases: Sequence[Case]) -> Mapping[str, str]:
    """The gold of cases as a line, by the case's name."""
    tasks = {
        unit: workspace.tasks.revision(*unit).task for unit in {(c.task, c.revision) for c in cases}
    }
    return {case.name: gold_item(tasks[case.task, case.revision], case.item).text for case in cases}
