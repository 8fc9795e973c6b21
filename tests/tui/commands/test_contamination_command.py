"""`cuecard contamination`: what pages gave away, and an exit code for pipelines."""

from __future__ import annotations

from apart import fresh
from web_trials import contaminated


def test_the_verb_tells_and_fails_where_it_is_asked_to(cuecard, tmp_path):
    with fresh(tmp_path / "cuecard.db") as workspace:
        run = str(contaminated(workspace))
    told = cuecard("contamination", run, "--json")
    assert told.code == 0
    levels = {trial["level"] for trial in told.data["trials"]}
    assert levels == {"answer", "metadata", "none", "question"}
    shown = cuecard("contamination", run)
    assert "holds the answer beside it" in shown.out
    assert cuecard("contamination", run, "--fail-if-any").code == 1
    report = cuecard("report", run, "--no-plots")
    assert "Contamination" in report.out
