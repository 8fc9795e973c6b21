"""The Trial screen: transcript, timeline, verdicts and measures of one trial."""
