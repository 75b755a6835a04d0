"""Recorders that ship: figures of runs, told live or read from records afterwards."""
