"""The rules of `check`, one file for each thing they look at."""
