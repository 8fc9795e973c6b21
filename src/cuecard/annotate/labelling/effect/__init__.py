"""What people's labels change of a benchmark's figures: scores, and the order of agents."""
