"""Receipts: the fingerprint of exactly what a model was handed, and whether it still fits."""
