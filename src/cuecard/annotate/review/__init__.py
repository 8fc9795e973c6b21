"""Dual review: who may move a task where, five dimensions by family, two reviewers who are blind to
the author and to each other.
"""
