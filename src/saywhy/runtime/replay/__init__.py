"""Running a recorded conversation again: from its record alone, as it was or with a piece less."""
