"""Erasing a person, and proving by search that nothing of them is left."""
