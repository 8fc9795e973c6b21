"""Reviewing tasks: submitting them, the queue, and one review."""
