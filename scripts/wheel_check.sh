#!/usr/bin/env bash
# A wheel must carry samples, prompts, styles and catalogues, whether it is built from the tree or from the source
# distribution: the two must hold the same files. Then install it alone, elsewhere, and use it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() { "$root/.venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-deps --no-cache-dir -w "$1" "$2"; }
build "$work/tree" "$root"
# The source distribution, by the build's own entry point, in an environment of its own.
"$root/.venv/bin/python" -m venv "$work/hatch"
"$work/hatch/bin/python" -m pip install -q --disable-pip-version-check "hatchling>=1.26"
(cd "$root" && "$work/hatch/bin/python" -c "
from hatchling.build import build_sdist
build_sdist('$work')")
build "$work/sdist" "$work"/cuecard-*.tar.gz
"$root/.venv/bin/python" - "$work/tree" "$work/sdist" <<'PY'
import sys
from pathlib import Path
from zipfile import ZipFile

tree, sdist = ({f.filename: f.CRC for f in ZipFile(next(Path(folder).glob("*.whl"))).filelist} for folder in sys.argv[1:])
differ = sorted(name for name in tree | sdist if tree.get(name) != sdist.get(name))
if differ:
    sys.exit("The wheels of the tree and of the source distribution differ:\n" + "\n".join(differ))
samples = sum("/sample_tasks/" in name for name in tree)
print(f"Both wheels hold the same {len(tree)} files, {samples} of them samples.")
PY
"$root/.venv/bin/python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q --disable-pip-version-check "$work"/sdist/cuecard-*.whl
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
