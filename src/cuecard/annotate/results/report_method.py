"""The method section of a report: how trials were made, judged and counted, and agreement with people."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from cuecard import __version__
from cuecard.annotate.agreement.intervals import FEWEST_GROUPS, RESAMPLES
from cuecard.annotate.agreement.report import agreement_table
from cuecard.annotate.agreement.tables import AgreementTable
from cuecard.annotate.fidelity import decisions as agreeing
from cuecard.annotate.fidelity import inputs as material
from cuecard.annotate.fidelity.report import gather as gather_turns
from cuecard.annotate.fidelity.tables import SUBJECT_WORDS as TURN_WORDS
from cuecard.annotate.labelling.comparison_inputs import Scope, Subject, gather, if_few
from cuecard.annotate.labelling.comparison_model import (
    SUBJECT_WORDS,
    Rater,
    columns_of,
    references_of,
    statistic_word,
)
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.pool import Pool
from cuecard.annotate.results.report_formats import (
    HUMAN,
    LANGUAGE,
    Term,
    TermsBlock,
    listed,
    player_word,
    settings_lines,
)
from cuecard.annotate.results.score_tables import one_each, several_revisions
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.evaluation.plans import PlayerConfigs, settings_of
from cuecard.core.i18n import _, ngettext, plural
from cuecard.core.scoring.measures import pooled_notes
from cuecard.core.tables.table import Shown, Statistic, Table
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


SEED = 0


def tasks_table(pool: Pool) -> Table:
    """How many tasks of each family, by language and difficulty."""
    known = {(row.trial.task_id, row.traits.hash): row.traits for row in pool.rows}
    languages = sorted({traits.language for traits in known.values()})
    difficulties = [
        level
        for level in ("easy", "medium", "hard", None)
        if any(traits.difficulty == level for traits in known.values())
    ]
    lines: list[Sequence[Shown]] = []
    for family, word in FAMILY_WORDS.items():
        mine = [
            (task, traits) for (task, _hash), traits in known.items() if traits.family == family
        ]
        if not mine:
            continue
        numbers = (
            len({task for task, _traits in mine}),
            len(mine),
            *(sum(t.language == each for _task, t in mine) for each in languages),
            *(sum(t.difficulty == each for _task, t in mine) for each in difficulties),
        )
        lines.append((_(word), *(f"{n:,}" for n in numbers)))
    words = {
        "easy": _("easy"),
        "medium": _("medium"),
        "hard": _("hard"),
        None: _("difficulty unknown"),
    }
    return Table.of(
        title=_("Tasks"),
        headings=(
            _("Family"),
            _("tasks"),
            _("revisions"),
            *(_(LANGUAGE[each]) for each in languages),
            *(words[each] for each in difficulties),
        ),
        lines=lines,
        notes=(
            _("SHA-256 over the ids and content hashes of all revisions: {digest}").format(
                digest=tasks_digest(pool)
            ),
        ),
    )


def tasks_digest(pool: Pool) -> str:
    """A hash of the set of revisions that was played: SHA-256 over `id`, newline, content hash, newline, in their
    order, as a datasheet identifies a release.
    """
    revisions = sorted({(row.trial.task_id, row.traits.hash) for row in pool.rows})
    lines = (f"{task}\n{digest}\n" for task, digest in revisions)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def revisions_table(pool: Pool) -> Table:
    families: dict[tuple[str, str], Family] = {
        (row.trial.task_id, row.traits.hash): row.family for row in pool.rows
    }
    return Table.of(
        title=_("Revisions of tasks that were played"),
        headings=(_("Task"), _("family"), _("content hash (SHA-256)")),
        lines=[
            (task, _(FAMILY_WORDS[family]), digest)
            for (task, digest), family in sorted(families.items())
        ],
        notes=(_("A revision is named by its content; its number is another in every workspace."),),
    )


def people_in(pool: Pool) -> int:
    """How many people played the user."""
    return len({row.trial.user.name for row in pool.rows if row.trial.user.kind == HUMAN})


def players(pool: Pool, people: int) -> Iterator[TermsBlock]:
    """Agents, users, worlds and judges as recorded, with their configuration when the run was entered. `people`: how
    many of them played the user.
    """
    players = [settings_of(run).roster for run in pool.runs]
    agents = [row.trial.agent for row in pool.rows]
    users = [row.trial.user for row in pool.rows if row.trial.user.kind != HUMAN]
    yield TermsBlock(_("Agents"), tuple(_described(agents, "agents", players)))
    persons = plural("{n} person at the keyboard", "{n} people at the keyboard", people)
    yield TermsBlock(
        _("Who played the user"),
        (
            *_described(users, "users", players),
            *((Term(persons, (_("People are not named in reports."),)),) if people else ()),
        ),
    )
    worlds = [row.trial.world for row in pool.rows]
    yield TermsBlock(
        _("Worlds: what answered the tools"), tuple(_described(worlds, "worlds", players))
    )
    judges = [row.judge for row in pool.rows if row.judge]
    told = tuple(_described(judges, "judges", players))
    yield TermsBlock(_("Judges"), told or (Term(_("none"), (_("Nothing has been judged."),)),))


def _described(
    refs: Iterable[PlayerRef], section: str, players: Iterable[PlayerConfigs]
) -> Iterator[Term]:
    """Each player once, by name; players of one name that differ are listed one after the other."""
    known = {ref.model_dump_json(): ref for ref in refs}
    recorded = list(players)
    for _key, ref in sorted(known.items(), key=lambda item: (item[1].name, item[0])):
        lines = dict.fromkeys(
            line
            for configs in recorded
            if f"{section}/{ref.name}" in configs
            for line in _lines(section, ref.name, configs)
        )
        nothing = (
            _("Embedded in Cuecard; works without a model.")
            if ref.baseline
            else _("The run recorded nothing else of it.")
        )
        yield Term(player_word(ref), tuple(lines) or (nothing,))


def _lines(section: str, name: str, configs: PlayerConfigs) -> Iterator[str]:
    described = configs[f"{section}/{name}"]
    told = {key: value for key, value in described.items() if key not in ("kind", "model")}
    yield from settings_lines(told)
    model = described.get("model")
    if isinstance(model, str) and (sampling := configs.get(f"models/{model}")):
        yield _("sampling: {settings}").format(settings=listed(settings_lines(sampling)))


def course_terms(pool: Pool) -> TermsBlock:
    """How trials were made: samples, seeds, limits."""
    rows = one_each(pool)
    samples = Counter(run.samples for run in pool.runs)
    seeds = sorted({row.trial.seed for row in rows})
    limits = dict.fromkeys(
        _("{turns} agent turns a trial, {calls} tool calls a turn").format(
            turns=run.limits.max_turns, calls=run.limits.max_tool_calls_per_turn
        )
        for run in pool.runs
    )
    return TermsBlock(
        _("Trials"),
        (
            Term(_("Samples of each task"), (listed(str(n) for n in sorted(samples)),)),
            Term(_("Seeds"), (_spans(seeds),)),
            Term(_("Limits"), tuple(limits)),
        ),
    )


def counting_terms(pool: Pool, examined: int) -> TermsBlock:
    """How results were computed, and what is left out. `examined`: trials that only examined tasks."""
    return TermsBlock(
        _("Figures"),
        (
            Term(
                _("Values"),
                (
                    _(
                        "Means over tasks of the value of each task over its samples: the mean (avg), the sample with the"
                        " highest triplet F1 (best), the highest (max), or whether any passed (pass)."
                    ),
                    *pooled_notes(pool.measures),
                ),
            ),
            Term(
                _("Intervals"),
                (
                    _(
                        "95% percentile bootstrap, resampling tasks with all of their samples together ({resamples}"
                        " resamples, seed {seed}), widened for few tasks by Student's t; Wilson's where a share is the"
                        " same in every task; none with fewer than {fewest} tasks."
                    ).format(resamples=f"{RESAMPLES:,}", seed=SEED, fewest=FEWEST_GROUPS),
                ),
            ),
            Term(
                _("Comparisons"),
                (
                    _(
                        "Paired by task and revision: each difference is between values of the same task, and intervals"
                        " resample tasks. They are not adjusted for how many there are."
                    ),
                ),
            ),
            Term(_("Not in the figures"), tuple(_excluded(pool, examined))),
            Term(_("Program"), (_("Cuecard {version}").format(version=__version__),)),
        ),
    )


def _excluded(pool: Pool, examined: int) -> Iterator[str]:
    rows = one_each(pool)
    open_ = sum(row.trial.termination is None for row in rows)
    if open_:
        yield ngettext(
            "{n} trial that has not ended.", "{n} trials that have not ended.", open_
        ).format(n=f"{open_:,}")
    for judge in sorted(pool.values("judge")):
        unjudged = sum(
            row.trial.termination is not None and row.figures is None
            for row in pool.rows
            if row.judged_by == judge
        )
        if unjudged:
            yield ngettext(
                "{n} trial that {judge} has not judged.",
                "{n} trials that {judge} has not judged.",
                unjudged,
            ).format(n=f"{unjudged:,}", judge=judge)
    if examined:
        yield ngettext(
            "{n} examination of a task, which is no attempt at it.",
            "{n} examinations of tasks, which are no attempts at them.",
            examined,
        ).format(n=f"{examined:,}")
    several = several_revisions(pool)
    for task, hashes in several:
        yield _(
            "{task} was played in revisions {hashes}: means take them together, paired comparisons keep them apart."
        ).format(task=one_line(task, 80), hashes=listed(each[:8] for each in hashes))
    if not (open_ or examined or several) and all(
        row.figures or row.trial.termination is None for row in pool.rows
    ):
        yield _("Nothing: every trial of the runs has ended and is judged.")


def baselines_line(pool: Pool) -> str:
    """Which players are offline baselines; "" if none."""
    parts = (
        (_("agent"), [row.trial.agent for row in pool.rows]),
        (_("user"), [row.trial.user for row in pool.rows]),
        (_("world"), [row.trial.world for row in pool.rows]),
        (_("judge"), [row.judge for row in pool.rows if row.judge]),
    )
    found = dict.fromkeys(
        f"{part} {one_line(ref.name, 40)}" for part, refs in parts for ref in refs if ref.baseline
    )
    if not found:
        return ""
    return _("Offline baselines, not results of models: {players}.").format(players=listed(found))


def _spans(numbers: list[int]) -> str:
    """Consecutive numbers as spans: `0–2, 7`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return listed(str(low) if low == high else f"{low}–{high}" for low, high in spans)


OF_JUDGES: tuple[Subject, ...] = ("gold", "predicted", "row")
STATISTICS = ("percent", "cohen_kappa", "ac1")


class AgreementLine(Frozen):
    """Agreement of a judge or simulator `name` with people on `n` items of `tasks` tasks. `about`: what was decided, in
    words; `people`: how many of them decided.
    """

    name: str
    about: str
    people: int
    n: int
    tasks: int
    figures: tuple[Statistic | None, ...]


def judge_agreement(workspace: Workspace, pool: Pool) -> tuple[AgreementLine, ...]:
    """Each judge of the pool against the majority of blind labels (with one person: that person), on the labelled items
    of these runs.
    """
    runs = tuple(run.id for run in pool.runs)
    found: list[AgreementLine] = []
    trials = {row.trial.id for row in pool.rows}
    blind = workspace.verdicts.item_labels(if_few(trials))
    if not any(label.trial_id in trials for label in blind):
        return ()  # Without going through the runs' verdicts, of which there may be millions.
    known = gather(workspace, Scope(runs=runs, subject=OF_JUDGES[0]))
    for subject in OF_JUDGES:
        if not known.subjects.get(subject):
            continue
        labelled = (
            known
            if subject == known.subject
            else gather(workspace, Scope(runs=runs, subject=subject))
        )
        references = references_of(labelled)
        for judge in sorted(pool.values("judge")):
            if judge not in labelled.judges or not references:
                continue
            columns = columns_of(labelled, (Rater(role="judge", name=judge), references[0]))
            if columns.cases:
                table = agreement_table(columns.ratings, columns.groups, columns.weights)
                found.append(
                    AgreementLine(
                        name=judge,
                        about=_(SUBJECT_WORDS[subject]),
                        people=len({who for case in columns.cases for who in case.labels}),
                        n=table.paired,
                        tasks=table.groups or 0,
                        figures=tuple(_row(table, name) for name in STATISTICS),
                    )
                )
    return tuple(found)


def simulator_fidelity(workspace: Workspace, pool: Pool) -> tuple[AgreementLine, ...]:
    """Each simulator of the pool, in exactly the version that played, against people's decisions on the same turns of
    the pool's tasks, anywhere in the workspace.
    """
    players = [row.trial.user for row in pool.rows if row.trial.user.kind != HUMAN]
    if not players:
        return ()
    scope = material.Scope(
        tasks=tuple(sorted(set(pool.values("task")))),
        simulators=tuple(sorted({player.name for player in players})),
    )
    turns = gather_turns(workspace, scope)
    return tuple(
        AgreementLine(
            name=each.simulator.name,
            about=_(TURN_WORDS[each.subject]),
            people=len(turns.people),
            n=each.n,
            tasks=each.tasks,
            figures=(each.percent, each.cohen_kappa, each.ac1),
        )
        for each in agreeing.agreements(turns)
        if each.by is None and each.simulator in players
    )


def table_of_agreement(title: str, first: str, found: Sequence[AgreementLine]) -> Table:
    return Table.of(
        title,
        (first, _("decides on"), _("people"), _("n (tasks)"), *map(statistic_word, STATISTICS)),
        [
            (
                each.name,
                each.about,
                f"{each.people:,}",
                f"{each.n:,} ({each.tasks:,})",
                *each.figures,
            )
            for each in found
        ],
        (_("Against what most people said who decided blind; 95% intervals by task."),),
    )


def _row(table: AgreementTable, name: str) -> Statistic | None:
    row = table.row(name)
    return row.statistic if row else None
