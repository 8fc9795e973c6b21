"""How far judges and people agree: labels and verdicts are read, compared, and laid out as tables."""
