"""The families of tasks: what gold is, how offline play, judging and scores of each work."""
