"""`cuecard`: alone it opens the app; with a verb it is a command."""

import gc
import os
import sys

try:
    from cuecard.core.system import EXIT_INTERRUPTED, end_on_interrupt
except KeyboardInterrupt:
    sys.exit(130)


def main() -> int:
    """The console script. Opening the app skips the command line's imports."""
    end_on_interrupt()
    # Numbers here are small: threads that wait for each other would take three times the processor time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        # A shell that asks for completions gives its words in the environment.
        if len(sys.argv) == 1 and "_CUECARD_COMPLETE" not in os.environ:
            from cuecard.tui.launch import launch

            return launch()
        # While modules load, a look for garbage after every 700 objects finds none.
        gc.set_threshold(100_000)
        from cuecard.tui.commands.main import run

        return run()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    finally:
        # The interpreter would look through all that is still held before it ends.
        gc.freeze()
        end_on_interrupt()


if __name__ == "__main__":
    sys.exit(main())
