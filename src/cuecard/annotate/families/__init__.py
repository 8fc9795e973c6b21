"""What authors, reviewers and evaluators know of each family, and its register."""
