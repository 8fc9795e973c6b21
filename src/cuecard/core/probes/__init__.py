"""Quality probes of a task: what is asked of models, and how their answers count."""
