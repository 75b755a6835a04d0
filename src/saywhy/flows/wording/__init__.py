"""What the library itself says and understands: one file for each language it speaks."""
