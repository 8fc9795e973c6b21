"""The terminal interface: the Textual app with its screens and widgets, and the command line."""

import os

# How many times a second Textual looks whether there is something to paint. It reads this when it is first
# imported, which is after this package. At its own 60 a key waits for up to 33 ms behind a frame of a stream.
os.environ.setdefault("TEXTUAL_FPS", "240")
