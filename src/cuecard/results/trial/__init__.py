"""What happened in one trial, and why it scored as it did: pure functions of its course and a judgement."""
