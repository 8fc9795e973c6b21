"""What of a judgement still holds after the gold was corrected. Pure functions of two revisions of a task, what was
handed in, and what was decided.
"""
