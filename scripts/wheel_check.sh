#!/usr/bin/env bash
# A wheel must carry samples, prompts, styles and catalogues, whether it is built from the tree or from the source
# distribution: the two must hold the same files, and every module of the source once. Then install it alone, elsewhere,
# and use it; then the same, shortly, with every other Python from 3.11 to 3.13 that is here.
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
"$root/.venv/bin/python" - "$work" "$root/src" <<'PY'
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

work, source = map(Path, sys.argv[1:])


def held(folder: str) -> dict[str, int]:
    """The files of the one wheel in a folder, with their checksums."""
    files = ZipFile(next((work / folder).glob("*.whl"))).filelist
    names = [file.filename for file in files]
    if len(set(names)) < len(names):
        sys.exit(f"The wheel of the {folder} holds files twice.")
    return {file.filename: file.CRC for file in files}


def complain(title: str, names: set[str]) -> None:
    if names:
        sys.exit(f"{title}:\n" + "\n".join(sorted(names)))


tree, sdist = held("tree"), held("sdist")
differ = {name for name in tree | sdist if tree.get(name) != sdist.get(name)}
complain("The wheels of the tree and of the source distribution differ", differ)
modules = {name for name in tree if name.endswith(".py")}
written = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
complain("Modules that are not in both the source and the wheel", modules ^ written)
made = {name for name in tree if name.endswith(".mo")}
translated = {path.relative_to(source).with_suffix(".mo").as_posix() for path in source.rglob("*.po")}
complain("Catalogues that are not in both the source and, compiled, the wheel", made ^ translated)
strays = {name for name in tree if not name.startswith(("cuecard/", "cuecard-"))}
complain("Files beside the package", strays)
with tarfile.open(next(work.glob("cuecard-*.tar.gz"))) as archive:
    packed = [member.name.partition("/")[2] for member in archive if not member.isdir()]
complain("Twice in the source distribution", {name for name in packed if packed.count(name) > 1})
links = {path.name for path in source.parent.iterdir() if path.is_symlink()}
complain("Packed through a link", {name for name in packed if name.split("/")[0] in links})
samples = sum("/sample_tasks/" in name for name in tree)
print(f"Both wheels hold the same {len(tree)} files: {len(modules)} modules, {samples} samples, {len(made)} catalogues.")
PY
"$root/.venv/bin/python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q --disable-pip-version-check "$work"/sdist/cuecard-*.whl
cd "$work"
pyenv=${PYENV_ROOT:-$HOME/.pyenv}/versions
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

mine=$("$work/venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
for version in 3.11 3.12 3.13; do
	[ "$version" = "$mine" ] && continue
	for python in "python$version" "$pyenv/$version".*/bin/"python$version" ""; do
		[ -z "$python" ] || ! "$python" -c 'import ensurepip' 2> /dev/null || break
	done
	if [ -z "$python" ]; then
		echo "Python $version is not here; the wheel was not tried with it."
		continue
	fi
	"$python" -m venv "$work/$version"
	"$work/$version/bin/python" -m pip install -q --disable-pip-version-check --no-compile "$work"/sdist/cuecard-*.whl
	"$work/$version/bin/python" -m cuecard demo > demo.txt || { cat demo.txt; exit 1; }
	echo "The wheel works with Python $version."
done
