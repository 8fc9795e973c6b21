"""How people's labels change a benchmark's results: scores, and the ranking of agents."""
