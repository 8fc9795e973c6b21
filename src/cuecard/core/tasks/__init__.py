"""Tasks, personas, what every family's gold has in common, and task files."""

SHIPPED = {
    "graph": "graph.gold:Graph",
    "table": "table.gold:Table",
    "checkpoints": "checkpoints.gold:CheckpointChain",
    "facts": "facts.gold:FactWorld",
}
"""The families that ship with us, with the modules of their gold below `core.families`, imported on first use."""
