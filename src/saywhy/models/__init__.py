"""Talking to language models: one protocol, a host's own function, and those that we ship."""
