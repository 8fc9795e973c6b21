"""Agents: offline, on a model (ReAct, team), as another program (ACP) and behind a web address (HTTP)."""
