"""A harness that answers exactly as one from npm did, without a login: `recorded_harness.py NAME ARGUMENT...`, of
`recorded_harnesses.json`. Where a key changes its answers it answers so once it was asked to log in with that key.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_suffix("").with_name("recorded_harnesses.json").read_text("utf-8")
)


def main(name: str) -> None:
    found = RECORDED[name]
    if log := os.environ.get("HARNESS_DIR"):
        (Path(log) / "pid").write_text(str(os.getpid()))
    key = next((entry for entry in found if entry.startswith("with ")), "with ")
    keyed: dict[str, Any] = found[key] if os.environ.get(key.removeprefix("with ")) else {}
    logged_in = False
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        for told in found["stderr"].get(method, ()):
            print(told, file=sys.stderr, flush=True)
        logged_in = logged_in or method == "authenticate"
        answer = found["answers"].get(method)
        if logged_in:
            answer = keyed.get(method, answer)
        if answer is not None:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
