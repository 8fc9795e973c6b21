"""A bridge for harnesses that only start MCP servers as programs: stdin and stdout to a web address.

`python -m cuecard.core.agents.mcp_stdio [URL]`; without the argument the address comes from the
environment, where other people of the machine cannot read it. Only the standard library: it is
started once a trial.
"""

import os
import sys
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

URL_VARIABLE = "CUECARD_WORLD_URL"
PARALLEL = 16

# Never through a proxy: the server is on this machine.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_WRITING = threading.Lock()


def _forward(url: str, line: bytes) -> None:
    request = urllib.request.Request(
        url, data=line, headers={"content-type": "application/json", "accept": "application/json"}
    )
    try:
        with _OPENER.open(request) as response:
            body = response.read().strip()
    except urllib.error.HTTPError as error:
        body = error.read().strip()
    except OSError as error:
        # The server is gone, and the trial with it.
        sys.stderr.write(f"{error}\n")
        os._exit(1)
    if body:
        with _WRITING:
            sys.stdout.buffer.write(body + b"\n")
            sys.stdout.buffer.flush()


def main() -> None:
    url = sys.argv[1] if len(sys.argv) > 1 else os.environ.get(URL_VARIABLE, "")
    if not url.startswith(("http://", "https://")):
        sys.exit(f"usage: python -m {__spec__.name if __spec__ else 'mcp_stdio'} URL")
    with ThreadPoolExecutor(PARALLEL) as pool:
        for line in sys.stdin.buffer:
            if line.strip():
                pool.submit(_forward, url, line.strip())


if __name__ == "__main__":
    main()
