"""Saywhy: conversations that must be right, and can say why."""
