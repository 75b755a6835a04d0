"""Runners made of runners: one after the other, side by side, by choice, by a model's word."""
