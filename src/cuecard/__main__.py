"""`cuecard`: alone it opens the app; with a verb it is a command."""

from __future__ import annotations

import sys


def main() -> int:
    """The console script. Opening the app skips the command line's imports."""
    if len(sys.argv) == 1:
        from cuecard.tui.launch import launch

        return launch()
    from cuecard.cli.main import run

    return run()


if __name__ == "__main__":
    sys.exit(main())
