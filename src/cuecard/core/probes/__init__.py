"""Quality probes of tasks: attempts and examinations by models, and what their results say about a task."""
