"""What an installation brings: number and size of packages in environments that hold one program each.

    python3.11 -m venv /tmp/ours && /tmp/ours/bin/pip install .
    python3.11 -m venv /tmp/theirs && /tmp/theirs/bin/pip install inspect-ai
    python bench/dependencies.py cuecard=/tmp/ours inspect_ai=/tmp/theirs

Counts what each package says that it installed, without compiled files, pip and setuptools.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path


def size_of(package: Distribution) -> int:
    paths = [Path(str(file.locate())) for file in package.files or () if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.exists())


def main() -> None:
    print(
        "| | packages besides itself | their size | its own | the largest |\n| --- | --- | --- | --- | --- |"
    )
    for name, _equals, environment in (word.partition("=") for word in sys.argv[1:]):
        folders = [str(path) for path in Path(environment).glob("lib/python3*/site-packages")]
        found = {each.name: size_of(each) for each in distributions(path=folders)}
        own = found.pop(name) / 1e6
        sizes = {each: n / 1e6 for each, n in found.items() if each not in ("pip", "setuptools")}
        largest = sorted(sizes, key=lambda each: -sizes[each])[:4]
        told = ", ".join(f"{each} {sizes[each]:.0f}" for each in largest)
        print(f"| {name} | {len(sizes)} | {sum(sizes.values()):.0f} MB | {own:.1f} MB | {told} |")


if __name__ == "__main__":
    main()
