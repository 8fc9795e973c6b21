"""Reads spans that `cuecard export --run … --format otel` wrote, with the real opentelemetry-proto.

    python3.11 -m venv /tmp/otel && /tmp/otel/bin/pip install opentelemetry-proto
    /tmp/otel/bin/python scripts/check_otel.py FOLDER

OTLP's JSON writes ids in hex, where protobuf's own JSON has base64: they are changed before parsing, nothing else is.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path

from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

IDS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}


def parsed(line: str) -> TracesData:
    data = json.loads(line)
    for resource in data["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name, digits in IDS.items():
                    if name in span:
                        assert re.fullmatch(f"[0-9a-f]{{{digits}}}", span[name]), span[name]
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    return json_format.ParseDict(data, TracesData(), ignore_unknown_fields=False)


def main(folder: Path) -> int:
    spans = traces = 0
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            found = [s for r in parsed(line).resource_spans for p in r.scope_spans for s in p.spans]
            by_id = {span.span_id: span for span in found}
            assert len(by_id) == len(found), "two spans of one id"
            assert len({span.trace_id for span in found}) == 1
            roots = [span for span in found if not span.parent_span_id]
            assert len(roots) == 1, f"{len(roots)} roots"
            for span in found:
                assert span.start_time_unix_nano <= span.end_time_unix_nano
                if span.parent_span_id:
                    parent = by_id[span.parent_span_id]
                    assert parent.start_time_unix_nano <= span.start_time_unix_nano, span.name
                    assert span.end_time_unix_nano <= parent.end_time_unix_nano, span.name
            spans, traces = spans + len(found), traces + 1
    print(f"{traces} traces, {spans} spans")
    return 0 if traces else 1


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
