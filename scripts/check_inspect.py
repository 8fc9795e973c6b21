"""Reads logs that `cuecard export --run … --format inspect` wrote, with the real inspect_ai.

It is no dependency of Cuecard, so it lives in an environment of its own:

    python3.11 -m venv /tmp/insp/venv && /tmp/insp/venv/bin/pip install inspect-ai
    cuecard export --run 2 --format inspect -o /tmp/logs
    /tmp/insp/venv/bin/python scripts/check_inspect.py /tmp/logs

Prints a line for each log, and what is wrong on stderr; exit code 1 if anything is. `inspect view --log-dir /tmp/logs`
shows the same logs.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from inspect_ai.event import ModelEvent, ScoreEvent, ToolEvent
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, read_eval_log_sample_summaries


def troubles_of(log: EvalLog) -> list[str]:
    """What a reader of this log would miss."""
    found: list[str] = []
    samples = log.samples or []
    if log.status != "success" or log.results is None:
        found.append("no results")
    if len({(s.id, s.epoch) for s in samples}) != len(samples):
        found.append("a sample stands there twice")
    if max((s.epoch for s in samples), default=0) != log.eval.config.epochs:
        found.append("epochs do not fit the samples")
    for sample in samples:
        where = f"{sample.id} #{sample.epoch}"
        roles = Counter(message.role for message in sample.messages)
        if not roles["user"]:
            found.append(f"{where}: nothing was said")
        if not sample.target:
            found.append(f"{where}: no target")
        known = {
            call.id for m in sample.messages if m.role == "assistant" for call in m.tool_calls or ()
        }
        found += [
            f"{where}: the answer to {m.tool_call_id} belongs to no call"
            for m in sample.messages
            if m.role == "tool" and m.tool_call_id not in known
        ]
        kinds = Counter(type(event) for event in sample.events)
        if roles["tool"] > kinds[ToolEvent]:
            found.append(f"{where}: tools without events")
        if sample.scores and kinds[ScoreEvent] != len(sample.scores):
            found.append(f"{where}: scores without events")
        if sample.scores and not next(iter(sample.scores.values())).explanation:
            found.append(f"{where}: an unexplained score")
        calls = [e for e in sample.events if isinstance(e, ModelEvent)]
        if bool(calls) != bool(sample.model_usage):
            found.append(f"{where}: model usage does not fit the calls")
        own = [e for e in calls if e.role in ("agent", "conclusion") and e.input]
        if any(e.input[0].role == "assistant" for e in own):
            found.append(f"{where}: a call that begins with a reply")
    return found


def main(folder: Path) -> int:
    listed = list_eval_logs(str(folder))
    files = list(folder.rglob("*.json")) + list(folder.rglob("*.eval"))
    bad = 0
    if len(listed) != len(files) or not listed:
        print(f"{len(listed)} of {len(files)} logs are listed", file=sys.stderr)
        bad += 1
    for info in listed:
        read_eval_log(info.name, header_only=True)
        summaries = read_eval_log_sample_summaries(info.name)
        log = read_eval_log(info.name, resolve_attachments=True)
        samples = log.samples or []
        events = Counter(event.event for sample in samples for event in sample.events)
        shown = ", ".join(f"{kind} {n}" for kind, n in sorted(events.items()))
        print(f"{log.eval.task!r}, {log.eval.solver!r}: {len(samples)} samples; {shown}")
        found = troubles_of(log)
        if len(summaries) != len(samples):
            found.append(f"{len(summaries)} summaries of {len(samples)} samples")
        for trouble in found:
            print(f"{Path(info.name).name}: {trouble}", file=sys.stderr)
        bad += len(found)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
