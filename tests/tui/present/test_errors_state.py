"""Which trials the Errors screen looks at, which sections it has, and what lies behind a figure."""

from __future__ import annotations

from cuecard.annotate.results.pool import Pool
from cuecard.core.config_schema import ContaminationConfig
from cuecard.core.engine.events import Termination
from cuecard.tui.present.errors import ErrorsView, Filter, count, title_words
from cuecard.tui.present.files import Report, report_text
from cuecard.tui.present.trial_summary import cause_cell, details, ended, rows_with, score_word
from result_rows import pool, row

GOOD, BAD = (
    {"triplet_f1": 0.9},
    {"triplet_f1": 0.1, "triplet_recall": 0.1, "triplet_precision": 1.0},
)


def mixed() -> Pool:
    return pool(
        row("alpha", "g1", GOOD),
        row("alpha", "g2", BAD),
        row(
            "beta",
            "g1",
            {"triplet_f1": 0.0},
            handed_in="unusable",
            reason="no list in it",
            raw="I \x1b[31mdo not know",
        ),
        row("beta", "g2", None, termination=Termination.API_ERROR),
        row("beta", "f1", {"pass_at_1": 1.0}, family="facts", handed_in="answer"),
        row("beta", "f2", None, family="facts", termination=None),
    )


def counted(view: ErrorsView) -> ErrorsView:
    view.keep(view.filter, count(None, view.chosen, view.section, ContaminationConfig(), ""))
    return view


def test_the_title_counts_what_failed_and_what_is_not_known() -> None:
    view = ErrorsView(mixed())
    assert title_words(view, "main") == (
        "Errors · main · 6 trials, 3 failed (1 with an error), 1 still open"
    )
    view.take(Filter(agent="alpha", family="graph"))
    assert title_words(view, "main") == "Errors · main · alpha · Graph tasks · 2 trials, 1 failed"


def test_causes_lead_to_the_failed_trials_alone() -> None:
    found = mixed()
    view = counted(ErrorsView(found))
    table = view.table
    assert table is not None
    rows = {line[0].text.strip(): at for at, line in enumerate(table.lines)}
    failed = rows["failed"]
    assert rows_with(found.rows, view.trials(failed, 1)) == (found.rows[1],)
    assert set(view.trials(failed, 0)) == {row.trial.id for row in found.rows[1:4]}
    unread = rows["could not be read"]
    assert view.trials(unread, 1) == ()
    assert not view.opens(unread, 1)
    assert rows_with(found.rows, view.trials(unread, 2)) == (found.rows[2],)


def test_sections_are_those_of_the_families_and_one_report_fills_several() -> None:
    view = ErrorsView(mixed())
    assert "relations" in view.named
    assert "curves" in view.named
    assert not {"tables", "profiles"} & set(view.named)
    view.show("texts")
    assert "being counted" in view.why_empty()
    counted(view)
    assert view.of("texts")
    assert view.of("amount")
    assert "compaction" in view.uncounted
    assert "calls" in view.uncounted
    view.take(Filter(family="facts"))
    assert "relations" not in view.named
    assert counted(view).why_empty() == "all that was handed in could be read."


def test_families_go_round() -> None:
    view = ErrorsView(mixed())
    seen: list[str | None] = []
    for _time in range(3):
        view.take(Filter(family=view.next_family))
        seen.append(view.filter.family)
    assert seen == ["graph", "facts", None]


def test_tables_are_written_as_the_name_of_the_file_asks() -> None:
    view = counted(ErrorsView(mixed()))
    report = Report("errors", "a *title*", view.of("causes"))
    assert report_text(report, ".md").startswith("# a \\*title\\*\n")
    assert "\\begin{table}" in report_text(report, ".TEX")
    assert report_text(report, ".csv").splitlines()[0].startswith("\ufefftable,line,column")


def test_nothing_judged_is_nothing_to_tell() -> None:
    view = ErrorsView(pool(row("alpha", "g1", None)))
    assert not view.anything
    assert "judged" in counted(view).why_empty()


def test_a_listed_trial_says_what_became_of_it() -> None:
    rows = mixed().rows
    assert ended(rows[2]).text == "● user done"
    assert score_word(rows[2]) == "0.000"
    assert cause_cell(rows[2]).text == "could not be read"
    said = "\n".join(details(rows[2]))
    assert "no list in it" in said
    assert "\x1b" not in said
    assert "user scripted" in said
    assert score_word(rows[3]) == "–"
    assert score_word(rows[1], "triplet_precision") == "1.000"
    assert score_word(rows[4], "triplet_precision") == "1.000"
