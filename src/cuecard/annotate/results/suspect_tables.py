"""Suspect gold, items and tasks as tables and data, and the words with which a suspect goes to review."""

from collections.abc import Iterator, Sequence
from typing import Any

from cuecard.annotate.estimation.item_analysis import ItemFigures
from cuecard.annotate.estimation.task_analysis import analyse_tasks, smallest_subset
from cuecard.annotate.results.suspects import SeenPage, Survey, SurveyedTask, Suspect
from cuecard.core.i18n import _, joined, listed, ngettext
from cuecard.core.tables.table import Cell, Statistic, Table, figure
from cuecard.core.text import one_line
from cuecard.core.validation import format_place

_CUT = 60


def found_words(one: ItemFigures) -> str:
    """How many of the trials found it, such as `3/18`."""
    return f"{round((one.found or 0) * one.n)}/{one.n}"


def flag_words(one: ItemFigures) -> str:
    return listed(flag.label for flag in one.flags)


def suspect_tables(survey: Survey, most: int) -> list[Table]:
    """The first suspects of the queue, and what was found without search."""
    asked = (_("Item"), _("Gold"), _("Rival"), _("Said by"), _("Found"), _("Agents"), _("Why"))
    lines = [
        (
            f"{n}. {one_line(one.answer.asked, _CUT)}",
            one_line(one.gold, _CUT),
            one_line(one.rival, _CUT) or None,
            one.figures.rival.agents if one.figures.rival and one.rival else None,
            found_words(one.figures),
            f"{one.figures.found_by}/{one.figures.agents}",
            flag_words(one.figures),
            one.of.task.id,
        )
        for n, one in enumerate(survey.suspects[:most], 1)
    ]
    notes = [_("A flag is a reason to look, never a change of score.")]
    if not survey.suspects and survey.trials:
        none = ngettext(
            "Nothing in {n} judged trial speaks against gold.",
            "Nothing in {n} judged trials speaks against gold.",
            survey.trials,
        )
        notes = [none.format(n=f"{survey.trials:,}")]
    if (more := len(survey.suspects) - most) > 0:
        notes.append(ngettext("{n} more suspect.", "{n} more suspects.", more).format(n=more))
    tables = [Table.of(_("Suspect gold"), (*asked, _("Task")), lines, [*notes, *remarks(survey)])]
    if survey.given_away:
        known = [
            (
                one_line(one.answer.asked, _CUT),
                one_line(one.gold, _CUT),
                one.figures.closed,
                found_words(one.figures),
                one.of.task.id,
            )
            for one in survey.given_away[:most]
        ]
        headings = (_("Item"), _("Gold"), _("Agents"), _("Found"), _("Task"))
        note = _("No error of gold: at least 2 agents found it in trials without a call of a tool.")
        tables.append(Table.of(_("Found without search"), headings, known, [note]))
    return tables


def remarks(survey: Survey) -> list[str]:
    """What the list does not stand on."""
    notes: list[str] = []
    if survey.unread:
        notes.append(
            ngettext(
                "Pages were not looked at for {n} task: name fewer runs or tasks.",
                "Pages were not looked at for {n} tasks: name fewer runs or tasks.",
                survey.unread,
            ).format(n=survey.unread)
        )
    if survey.hidden:
        notes.append(
            ngettext(
                "{n} suspect is left out: you are still to label its verdicts.",
                "{n} suspects are left out: you are still to label their verdicts.",
                survey.hidden,
            ).format(n=survey.hidden)
        )
    return notes


def page_table(found: Sequence[tuple[Suspect, SeenPage]]) -> Table:
    """The pages that name the rival of suspects, or the gold that was opened and not found."""
    lines = [
        (
            one_line(one.answer.asked, _CUT),
            one_line(page.url or page.title, _CUT),
            Cell(page.passage(values_of(one)), trials=(page.trial,)),
            page.trial,
            one.of.task.id,
        )
        for one, page in found
    ]
    headings = (_("Item"), _("Page"), _("Passage"), _("Trial"), _("Task"))
    return Table.of(_("Pages that agents were given"), headings, lines)


def values_of(one: Suspect) -> tuple[str, ...]:
    """What its pages name: the rival, or else the gold."""
    return (one.rival,) if one.rival else one.answer.values


def task_tables(survey: Survey) -> list[Table]:
    """Tasks, and the fewest that keep the order of agents."""
    return [_tasks(survey), *subset_tables(survey)]


def extreme_words(extreme: str) -> str:
    return {"floor": _("floor"), "ceiling": _("ceiling")}.get(extreme, "")


def same_words(of: SurveyedTask, item: ItemFigures) -> str:
    """The item that this one is found together with."""
    return "" if item.same_as is None else of.answers[item.same_as].asked


def items_table(tasks: Sequence[SurveyedTask], most: int | None = None) -> Table:
    """Every item, or of more than `most` those that tell agents apart least, or the wrong way round."""
    items = [(of, item) for of in tasks for item in of.items]
    if more := most is not None and len(items) > most:
        items.sort(key=lambda one: (not (d := one[1].discrimination).defined, d.value or 0.0))
    lines = [
        (
            one_line(of.answers[item.at].asked, _CUT),
            found_words(item),
            f"{item.found_by}/{item.agents}",
            _number(item.difficulty),
            item.discrimination,
            extreme_words(item.extreme) or None,
            one_line(same_words(of, item), _CUT) or None,
            of.task.id,
        )
        for of, item in items[:most]
    ]
    headings = (
        _("Item"), _("Found"), _("Agents"), _("Difficulty"), _("Discrimination"), _("Extreme"), _("As"), _("Task"),
    )  # fmt: skip
    notes = (
        _("Difficulty: 1 - the share of trials that found it. Discrimination: the correlation with the trial's share of the task's other items, from 6 trials on."),
        _("Floor, ceiling: found by nobody, by everybody. As: the item with which it is found in the same trials (correlation of found-vectors from .95, 12 trials or more)."),
    )  # fmt: skip
    if more:
        told = _(
            "Of {n} items these have the lowest discrimination. --first lists more, --csv and --json list all."
        )
        notes = (told.format(n=f"{len(items):,}"), *notes)
    return Table.of(_("Items"), headings, lines, notes)


def _number(value: float | None) -> Statistic | None:
    return None if value is None else Statistic(name="difficulty", value=value, n=1)


def _tasks(survey: Survey) -> Table:
    lines = [
        (
            one.task,
            one.trials,
            one.agents,
            _number(None if one.score is None else 1 - one.score),
            one.discrimination,
            extreme_words(one.extreme) or None,
        )
        for one in analyse_tasks(survey.scores)
    ]
    headings = (
        _("Task"), _("trials"), _("Agents"), _("Difficulty"), _("Discrimination"), _("Extreme"),
    )  # fmt: skip
    note = _(
        "Difficulty: 1 - the mean of its agents' means by the family's main measure. Discrimination: the correlation of agents' means with those on the other tasks, from 6 agents on."
    )
    return Table.of(_("Tasks"), headings, lines, [note])


def subset_tables(survey: Survey) -> list[Table]:
    """The fewest tasks that keep the order of agents, if there are several of both."""
    found = smallest_subset(survey.scores)
    if found is None:
        return []
    lines = [(task, at) for at, task in enumerate(found.tasks, 1)]
    notes = [
        _("{n} of {all} tasks put the agents into the order of all: {agents}.").format(
            n=len(found.tasks), all=found.of, agents=" > ".join(found.agents)
        ),
        _("They were chosen on the same trials, so that the order they keep is no proof."),
    ]
    if found.kept.value is None:
        notes.append(_("It could not be checked: {reason}.").format(reason=found.kept.reason))
    else:
        notes.append(
            _(
                "Chosen on one half of the trials, such a set keeps {share} of the pairs of agents in order on the other half; as many tasks by lot keep {lot}."
            ).format(share=f"{found.kept.value:.0%}", lot=f"{found.random or 0:.0%}")
        )
    return [Table.of(_("Fewest tasks"), (_("Task"), _("Chosen")), lines, notes)]


def page_words(page: SeenPage) -> str:
    """Which page, and in which trial it was given."""
    return _("{page}, trial {trial}:").format(page=page.url or page.title, trial=page.trial)


def review_words(one: Suspect, pages: Sequence[SeenPage]) -> str:
    """Why its reviewers and authors should look at it."""
    item = one.figures
    said = [
        _("Suspect gold: {why}.").format(why=flag_words(item)),
        _("{item}: {gold}; found in {found} trials, by {by} of {agents} agents.").format(
            item=one.answer.asked,
            gold=one.gold,
            found=found_words(item),
            by=item.found_by,
            agents=item.agents,
        ),
    ]
    if one.rival and item.rival:
        said.append(
            ngettext(
                "{n} agent says: {value}", "{n} agents say: {value}", item.rival.agents
            ).format(n=item.rival.agents, value=one.rival)
        )
    said += [joined((page_words(page), page.passage(values_of(one)))) for page in pages]
    return "\n".join(said)


def suspect_data(one: Suspect, pages: Sequence[SeenPage] = ()) -> dict[str, Any]:
    """A suspect for JSON."""
    item, rival = one.figures, one.figures.rival
    return {
        "task": one.of.task.id,
        "revision": one.of.revision,
        "item": one.answer.key,
        "place": format_place(one.answer.path),
        "asked": one.answer.asked,
        "gold": list(one.answer.values),
        "flags": [flag.value for flag in item.flags],
        **_figures(item),
        "found_by": list(one.found_by),
        "not_by": list(one.not_by),
        "rival": None
        if rival is None
        else {
            "value": one.of.spelled.get(rival.value, rival.value),
            "agents": rival.agents,
            "share": rival.share,
            "trials": [one.of.rows[n].trial.id for n in rival.trials],
        },
        "pages": [
            {
                "trial": page.trial,
                "event": page.seq,
                "title": page.title,
                "url": page.url,
                "passage": page.passage(values_of(one)),
            }
            for page in pages
        ],
    }


def _figures(item: ItemFigures) -> dict[str, Any]:
    return {
        "n": item.n,
        "agents": item.agents,
        "share_found": item.found,
        "agents_found": item.found_by,
        "discrimination": item.discrimination.model_dump(mode="json"),
        "agents_opened": item.opened,
        "agents_without_search": item.closed,
        "gold_wrong_labels": item.wrong,
        "split_trials": item.split[0],
        "voted_trials": item.split[1],
        "extreme": item.extreme or None,
    }


def items_data(survey: Survey) -> Iterator[dict[str, Any]]:
    """Every item for JSON."""
    return (
        {
            "task": of.task.id,
            "revision": of.revision,
            "item": item.key,
            **_figures(item),
            "same_as": None if item.same_as is None else of.answers[item.same_as].key,
        }
        for of in survey.tasks
        for item in of.items
    )


def discrimination_words(item: ItemFigures) -> str:
    return figure(item.discrimination)
