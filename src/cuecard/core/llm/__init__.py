"""Calling models: one client for OpenAI-compatible servers, with limits, retries and structured answers."""
