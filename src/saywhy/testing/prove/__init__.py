"""Proofs that run real processes, disturb them and compare what is left with what should be."""
