"""Holds a run until it is killed: `python hold_run.py URL RUN PERSON`. Prints its process id once it does."""

import json
import os
import signal
import sys

from cuecard.store.workspace import Workspace

if __name__ == "__main__":
    url, run, person = sys.argv[1:]
    with Workspace.open(url) as workspace:
        workspace.leases.take(int(run), person)
        print(json.dumps({"pid": os.getpid()}), flush=True)
        signal.pause()
