"""Write build/pictures/index.html and an SVG of each picture in tests/pictures, to be looked at in a browser.

Run through `make pictures`, which takes the pictures first. Pictures of scenes that are no more are removed. Scenes may be
named; then only theirs are drawn.
"""

from __future__ import annotations

import shutil
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from picture_scenes import WALKS  # noqa: E402
from picture_svg import svg  # noqa: E402
from picture_text import FOLDER, read  # noqa: E402

OUT = ROOT / "build" / "pictures"
HEAD = """<!doctype html>
<meta charset="utf-8">
<title>Cuecard: every screen</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 1rem 2rem; background: #fff; color: #222 }
header { position: sticky; top: 0; background: #fff; padding: .5rem 0; border-bottom: 1px solid #ccc }
section { margin: 2rem 0 }
figure { display: inline-block; margin: .5rem 1rem .5rem 0; vertical-align: top }
figcaption { color: #666; font-size: 12px }
img { border: 1px solid #ccc; max-width: 100% }
nav { columns: 6 12rem }
</style>
"""
CHOICES = """<header>
<label>Language <select id="language"><option>en<option>zh<option value="">all</select></label>
<label>Size <select id="size"><option>80x24<option>120x40<option value="">all</select></label>
<label>Theme <select id="theme"><option>dark<option>light<option value="">all</select></label>
<label>Scene <input id="scene" placeholder="a part of its name"></label>
</header>
<script>
addEventListener("load", () => {
  const fields = ["language", "size", "theme"].map(name => document.getElementById(name));
  const scene = document.getElementById("scene");
  const show = () => {
    for (const figure of document.querySelectorAll("figure"))
      figure.hidden = fields.some(field => field.value && figure.dataset[field.id] !== field.value);
    for (const section of document.querySelectorAll("section"))
      section.hidden = !section.id.includes(scene.value);
  };
  for (const field of [...fields, scene]) field.addEventListener("input", show);
  show();
});
</script>
<style>[hidden] { display: none }</style>
"""


def main() -> int:
    scenes = {scene.name for walk in WALKS for scene in walk.scenes}
    for path in [*FOLDER.glob("*.txt"), *FOLDER.glob("*.svg")]:
        if path.stem not in scenes:
            path.unlink()
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    wanted = set(sys.argv[1:])
    paths = sorted(path for path in FOLDER.glob("*.txt") if not wanted or path.stem in wanted)
    parts = [HEAD, CHOICES, "<nav>"]
    parts += [f'<a href="#{path.stem}">{path.stem}</a><br>' for path in paths]
    parts.append("</nav>")
    for path in paths:
        parts.append(f'<section id="{path.stem}"><h2>{escape(path.stem)}</h2>')
        for shot, picture in read(path.read_text(encoding="utf-8")).items():
            size = f"{shot.width}x{shot.height}"
            name = f"{path.stem}.{shot.language}.{size}.{shot.theme}.svg"
            (OUT / name).write_text(svg(picture), encoding="utf-8")
            parts.append(
                f'<figure data-language="{shot.language}" data-size="{size}" data-theme="{shot.theme}">'
                f'<img loading="lazy" src="{name}" alt="{path.stem}, {shot}"><figcaption>{shot}</figcaption></figure>'
            )
        parts.append("</section>")
    (OUT / "index.html").write_text("\n".join(parts), encoding="utf-8")
    print(f"{len(paths)} scenes: {(OUT / 'index.html').relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
