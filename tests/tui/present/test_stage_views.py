from __future__ import annotations

from datetime import UTC, datetime

from cuecard.annotate.authoring.rehearsal import rehearse
from cuecard.annotate.authoring.stages import stage_counts
from cuecard.core.engine.messages import UserReply
from cuecard.core.records import EffortEntry, EffortTotals
from cuecard.tui.outside_programs import browser_command, open_page
from cuecard.tui.present.task_editor import effort_lines, last_page, log_lines
from cuecard.tui.present.task_trials import count_lines, decision, evidence, others, said, verdict


def stage(kind: str, *terms: str, line: str = "Which one? And when? And where?") -> dict:
    cue = {"kind": kind, "text": "x", "terms": list(terms)}
    return {"title": "T", "cue": cue, "line": line, "not_met": "Go on."}


DATA = {
    "persona": {
        "initial_query": "Hello",
        "stages": [stage("start"), stage("mentions", "Moriondo"), stage("mentions", "Bezzera")],
    },
    "gold": {"family": "graph", "triples": [{"stage": 2}]},
}


def text_of(lines) -> str:
    return "\n".join("".join(piece.text for piece in line) for line in lines)


def test_what_is_out_of_its_band_is_toned() -> None:
    counts = stage_counts(DATA)
    lines = count_lines(counts, 1, "en")
    assert text_of(lines).startswith("3 stages of 8–20")
    assert "mentions 2 67%" in text_of(lines)
    assert "asks: 20%–40%" in text_of(lines)
    bad = [piece.text for line in lines for piece in line if piece.tone == "bad"]
    assert "asks for 3 things" in bad
    assert "1 triple" in text_of(lines)
    assert "0 triples" in text_of(count_lines(counts, 0, "zh"))
    assert len(count_lines(stage_counts({}), -1, "en")) == 2


def test_the_rehearsal_reads_as_met_or_not_with_the_term_marked() -> None:
    heard = rehearse(DATA, "First. It was Moriondo.", 1)
    assert verdict(heard)[0].tone == "good"
    assert text_of(evidence(heard)).strip() == "It was ▸Moriondo◂."
    assert said(heard)[1].text.startswith("Which one?")
    assert [line.text.split()[0] for line in others(heard)[1:]] == ["–", "✓", "·"]
    missed = rehearse(DATA, "Let me see.", 1)
    assert verdict(missed)[0].tone == "bad"
    assert evidence(missed) == []
    assert verdict(rehearse(DATA, "Thanks.", 3))[0].tone == "muted"


def test_a_models_decision_reads_with_its_name_and_reason() -> None:
    met = decision(UserReply(text="Well?", cue_met=True, reason="It names him."), "ana (tiny)")
    assert [paragraph.text for paragraph in met] == [
        "ana (tiny)",
        "✓ cue met: It names him.",
        "Well?",
    ]
    assert decision(UserReply(text="Bye", done=True), "m")[1].text == "ends here"


def test_the_log_tells_what_was_searched_and_read() -> None:
    at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    logged = [
        EffortEntry(task_id="t", person=who, kind=kind, amount=1, text=text, at=at)
        for who, kind, text in [
            ("Ana", "page", "https://a.org"),
            ("Ben", "page", "https://b.org"),
            ("Ana", "query", ""),
            ("Ana", "query", "who\nwas it"),
            ("Ana", "time", ""),
        ]
    ]
    assert last_page(logged, "Ana") == "https://a.org"
    assert last_page(logged, "Chen") == ""
    assert [line.text.split(" · ")[-1] for line in log_lines(logged)] == [
        "who was it",
        "https://b.org",
        "https://a.org",
    ]
    mine = EffortTotals(seconds=95, queries=1, pages=2)
    assert text_of(effort_lines(mine, mine)) == "Your work: 2 minutes · 1 query · 2 pages"
    assert len(effort_lines(mine, EffortTotals(pages=9))) == 2


def test_only_pages_are_opened_and_only_in_a_window(tmp_path) -> None:
    fake = tmp_path / "firefox"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    (tmp_path / "lynx").symlink_to(fake)
    path = str(tmp_path)
    assert browser_command({"PATH": path}, "linux") is None
    assert browser_command({"PATH": path, "BROWSER": "lynx"}, "linux") is None
    assert browser_command({"PATH": path, "BROWSER": "firefox %s"}, "linux") == ["firefox"]
    assert browser_command({"PATH": path, "DISPLAY": ":0"}, "linux") == ["firefox"]
    assert browser_command({}, "darwin") == ["open"]
    assert not open_page("file:///etc/passwd")
    assert not open_page("javascript:alert(1)")
