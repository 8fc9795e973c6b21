"""Dual review: the workflow's rules, the dimensions rated in each family, and two reviewers who are blind to the author
and to each other.
"""
