"""What went wrong in trials, and how agents behaved in them: figures, and tables of them, from a pool.

`report.error_report`, `causes.cause_of`, `clusters.clusters` and `details` give figures; `error_sheets`,
`interaction_sheets`, `compaction_sheets`, `profile_sheets`, `tier_sheets`, `curve_sheets`, `tool_sheets` and
`cause_sheets`, each in the module of its name, lay them out.
"""
