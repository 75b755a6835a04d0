"""Agents: language models in a loop, as charts. Values and pure code; what acts is `runtime`."""
