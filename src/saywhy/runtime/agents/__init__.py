"""Agents that run: conversations with a model in a loop, any number of them at once."""
