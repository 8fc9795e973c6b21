#!/usr/bin/env bash
# A wheel must carry samples, prompts, styles and catalogues: install it alone, elsewhere, and use it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/.venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-deps -w "$work" "$root"
"$root/.venv/bin/python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q --disable-pip-version-check "$work"/cuecard-*.whl
cd "$work"
mkdir home
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config
"$work/venv/bin/cuecard" --version
"$work/venv/bin/cuecard" demo > demo.txt || { cat demo.txt; exit 1; }
LANG=zh_CN.UTF-8 "$work/venv/bin/cuecard" --help > help.txt
"$work/venv/bin/python" - <<'PY'
from importlib import resources
from cuecard.core import i18n

root = resources.files("cuecard")
for name in ("prompts", "sample_tasks", "store/migrations", "tui/styles/app.tcss"):
    assert (root / name).is_dir() or (root / name).is_file(), name
i18n.set_language("zh")
assert i18n._("Home") != "Home", "the Chinese catalogue is missing from the wheel"
print("The wheel works on its own.")
PY
