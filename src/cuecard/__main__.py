"""`cuecard`: alone it opens the app; with a verb it is a command."""

from __future__ import annotations

import sys

try:
    from cuecard.core.interrupts import EXIT_INTERRUPTED, leave_quietly
except KeyboardInterrupt:
    sys.exit(130)


def main() -> int:
    """The console script. Opening the app skips the command line's imports."""
    leave_quietly()
    try:
        if len(sys.argv) == 1:
            from cuecard.tui.launch import launch

            return launch()
        from cuecard.cli.main import run

        return run()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    finally:
        leave_quietly()


if __name__ == "__main__":
    sys.exit(main())
