"""Tests of the commands, run in this process unless a real one is the point."""
