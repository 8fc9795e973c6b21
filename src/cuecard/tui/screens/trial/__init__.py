"""One trial, read: transcript, timeline, verdicts, measures."""
