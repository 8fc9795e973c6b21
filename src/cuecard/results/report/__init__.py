"""A report on one or more runs, in one file that can be sent: `gather_report(workspace, runs) -> Report`, then
`written(report, format)`.
"""
