"""A record for other programs: files and spans."""
