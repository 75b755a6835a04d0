"""Benchmarks. `python -m bench` runs them all; each module gives its figures from `run()`."""
