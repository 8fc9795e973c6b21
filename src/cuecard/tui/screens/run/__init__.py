"""The Runs screen, the Run screen with trials and scores, and starting a run."""
