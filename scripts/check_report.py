"""Look at a report as a browser shows it: wide, narrow and dark, as PNG files; and count what it logs and fetches.

python scripts/check_report.py report.html OUT [CHROMIUM]

Ends with 1 where the page asked for anything from elsewhere, an error was logged, or it is wider than the window.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

VIEWS = {"wide": (1200, 1600, ""), "narrow": (400, 1600, ""), "dark": (1200, 1600, "0")}
# Puts into the title how far the page overflows the window.
PROBE = "<script>document.title = document.documentElement.scrollWidth - innerWidth</script>"


def chromium(program: str, profile: str, *words: str) -> tuple[str, str]:
    done = subprocess.run(
        [
            program,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
            "--disable-sync",
            "--disable-background-networking",
            "--disable-component-update",
            "--enable-logging=stderr",
            f"--user-data-dir={profile}",
            *words,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout, done.stderr


def main(page: Path, out: Path, program: str) -> int:
    out.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as profile:
        for name, (width, height, scheme) in VIEWS.items():
            more = [f"--blink-settings=preferredColorScheme={scheme}"] if scheme else []
            size = f"--window-size={width},{height}"
            shot = f"--screenshot={out / name}.png"
            _text, log = chromium(program, profile, size, *more, shot, page.absolute().as_uri())
            problems += [line for line in log.splitlines() if "CONSOLE" in line]
            # The policy of the page forbids other scripts, so the probe goes into a copy without it.
            copy = Path(profile) / "copy.html"
            bare = re.sub(r"<meta http-equiv[^>]*>", "", page.read_text(encoding="utf-8"))
            copy.write_text(bare.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
            dom, _log = chromium(program, profile, size, "--dump-dom", copy.as_uri())
            found = re.search(r"<title>(-?\d+)</title>", dom)
            if not found or int(found[1]) > 0:
                problems.append(f"{name}: wider than the window by {found[1] if found else '?'}")
            print(f"{out / name}.png")
    print("\n".join(problems) or "no problem", file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit((__doc__ or "").split("\n\n")[1])
    chosen = sys.argv[3] if len(sys.argv) > 3 else "/usr/bin/chromium"
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), chosen))
